"""A configuration without pytest: shares never exceed the whole, and project.yaml sets the folder of the wiki."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_dvwiki.settings import SettingsError
from pytest_dvwiki.wiki.config import WikiConfig

SHARE = st.none() | st.integers(0, 3000)


@given(st.integers(0, 4000), SHARE, SHARE, SHARE, SHARE)
def test_shares_never_exceed_the_whole(
    whole: int, pattern: int | None, bug: int | None, coverage: int | None, summary: int | None
) -> None:
    try:
        config = WikiConfig(
            max_context_tokens=whole,
            pattern_context_tokens=pattern,
            bug_context_tokens=bug,
            coverage_context_tokens=coverage,
            summary_context_tokens=summary,
        )
    except SettingsError:
        assert sum(share or 0 for share in (pattern, bug, coverage, summary)) > whole
        return
    shares = (config.pattern_budget, config.bug_budget, config.coverage_budget, config.summary_budget)
    assert sum(shares) <= whole
    assert min(shares) >= 0


def test_the_defaults_are_those_of_the_specification() -> None:
    config = WikiConfig()
    assert (config.enabled, config.wiki_dir, config.max_context_tokens) == (False, Path(".agent/wiki"), 2000)
    assert (config.pattern_budget, config.summary_budget, config.search_backend) == (500, 500, "bm25")


@pytest.mark.parametrize("changes", [{"search_backend": "qmd"}, {"max_context_tokens": -1}, {"bug_context_tokens": -5}])
def test_what_cannot_be_used_is_refused(changes: dict[str, int]) -> None:
    with pytest.raises(SettingsError):
        WikiConfig(**changes)  # type: ignore[arg-type]


def test_a_project_says_where_its_wiki_stands(tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / "deep").mkdir()
    (tmp_path / ".agent" / "project.yaml").write_text("wiki:\n  wiki_dir: docs/wiki\n  max_context_tokens: 400\n")
    config = WikiConfig.from_project(tmp_path / "deep")
    assert (config.wiki_dir, config.bug_budget) == (tmp_path / "docs" / "wiki", 100)
    assert config.layout.tasks == tmp_path / "docs" / "tasks"


def test_a_relative_wiki_stands_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    assert WikiConfig().layout.wiki == tmp_path / ".agent" / "wiki"
    assert WikiConfig(wiki_dir=tmp_path / ".agent" / "wiki").layout == WikiConfig().layout
