"""The public names come from the package, load at first use, and need no pytest."""

from __future__ import annotations

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


def test_another_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'WikiManager'"):
        _ = pytest_dvwiki.WikiManager


def test_the_services_work_without_pytest_and_without_numpy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path / "wiki")], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
