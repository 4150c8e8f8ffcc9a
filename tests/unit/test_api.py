"""The public names come from the package, load at first use, and need no pytest."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import pytest_dvwiki

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
import asyncio, sys
from pathlib import Path
import pytest_dvwiki
light = set(sys.modules)
assert not [name for name in light if name.startswith("pytest_dvwiki.")], light
from pytest_dvwiki import PromptLoader, WikiConfig, WikiIngestService, WikiQueryService, WikiSearchIndex
config = WikiConfig(enabled=True, wiki_dir=Path(sys.argv[1]), search_backend="keyword")
ingest = WikiIngestService(config)
asyncio.run(ingest.ingest_pattern("missing_timescale", "compile_error", ["`timescale"], None, False, "task_1"))
assert "**missing_timescale** (hit_count: 1, " in WikiQueryService(config).get_known_error_patterns()
assert "missing_timescale" in PromptLoader(config).render("{{KNOWN_ERROR_PATTERNS}}")
assert WikiSearchIndex.create("keyword", config.wiki_dir).search("timescale")
heavy = {"pytest", "_pytest", "bm25s", "numpy", "cocotb"} & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.parametrize("name", pytest_dvwiki.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(pytest_dvwiki, name) is not None
    assert name in dir(pytest_dvwiki)


SIGNATURES = {
    "WikiIngestService": "wiki_config llm",
    "WikiIngestService.ingest_session": (
        "self session_report failure_summary classification coverage_summary task_id transcript"
    ),
    "WikiIngestService.ingest_pattern": ("self failure_subtype error_class context_lines fix_applied success task_id"),
    "WikiIngestService.ingest_bug": "self classification_result evidence task_id log_path",
    "WikiIngestService.ingest_coverage_hole": "self covergroup bin_name action_class scenario filled task_id",
    "WikiIngestResult": (
        "task_id pages_created pages_updated log_entry index_updated search_index_updated lessons problem"
    ),
    "WikiQueryService": "wiki_config followed",
    "WikiQueryService.get_known_error_patterns": "self error_class failure_subtype top_k",
    "WikiQueryService.get_known_rtl_bugs": "self ip_type status top_k",
    "WikiQueryService.get_coverage_history": "self covergroup top_k",
    "WikiQueryService.get_pattern_summary": "self",
    "WikiQueryService.get_pattern_page": "self failure_subtype",
    "WikiQueryService.search": "self query category top_k filters",
    "WikiSearchIndex.create": "backend wiki_dir",
    "WikiSearchIndex.build": "self wiki_dir",
    "WikiSearchIndex.update": "self page_path content",
    "SearchResult": "page_path score excerpt frontmatter snippet title unreviewed",
    "WikiConfig": (
        "enabled wiki_dir max_context_tokens auto_ingest search_backend lint_on_startup lint_interval_sessions "
        "pattern_context_tokens bug_context_tokens coverage_context_tokens summary_context_tokens tokenizer ip_types"
    ),
}
"""Names that agent systems call; further parameters must follow and be optional."""


@pytest.mark.parametrize("path", SIGNATURES)
def test_the_parameters_are_those_that_agent_systems_give(path: str) -> None:
    name, _, method = path.partition(".")
    value = getattr(pytest_dvwiki, name)
    assert list(inspect.signature(getattr(value, method) if method else value).parameters) == SIGNATURES[path].split()


def test_another_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'WikiManager'"):
        _ = pytest_dvwiki.WikiManager


def test_the_services_work_without_pytest_and_without_numpy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path / "wiki")], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
