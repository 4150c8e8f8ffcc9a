"""Search backends are found by name; packages can add some, and the error for an unknown name lists all."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki import backends
from pytest_dvwiki.cli import main
from pytest_dvwiki.settings import SettingsError, resolve
from pytest_dvwiki.wiki.finding.search import KeywordIndex, NoIndex, WikiSearchIndex

from .packages import install

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODULE = """
from pytest_dvwiki import WikiSearchIndex

class First(WikiSearchIndex):
    def ranking(self, query):
        return [(path, 1.0) for path in sorted(self.present())]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package with the search backends `first` and `broken`."""
    site = tmp_path / "site"
    entries = "first = dvwiki_first:First\nbroken = dvwiki_first:Missing\nbm25 = dvwiki_first:First"
    install(site, f"[dvwiki.search]\n{entries}\n", dvwiki_first=MODULE)
    monkeypatch.syspath_prepend(str(site))
    yield
    sys.modules.pop("dvwiki_first", None)


def project(root: Path, backend: str) -> Path:
    (root / ".agent" / "wiki" / "specs").mkdir(parents=True)
    (root / ".agent" / "wiki" / "specs" / "reset.md").write_text("# Reset\n")
    (root / ".agent" / "project.yaml").write_text(f"wiki:\n  search_backend: {backend}\n")
    return root


@pytest.mark.parametrize(("name", "kind"), [("keyword", KeywordIndex), ("none", NoIndex)])
def test_a_way_to_search_is_found_by_its_name(tmp_path: Path, name: str, kind: type[WikiSearchIndex]) -> None:
    assert type(WikiSearchIndex.create(name, tmp_path)) is kind


def test_an_unknown_one_names_file_key_and_what_there_is(tmp_path: Path) -> None:
    project(tmp_path, "qmd")
    place = tmp_path / ".agent" / "project.yaml"
    with pytest.raises(SettingsError) as raised:
        resolve(tmp_path, environ={})
    assert str(raised.value) == f"{place}: wiki.search_backend: expected one of bm25, keyword, none, got 'qmd'"


def test_another_package_adds_one(tmp_path: Path, package: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert backends.names() == ["bm25", "keyword", "none", "broken", "first"]
    assert resolve(project(tmp_path, "first"), environ={}).search_backend == "first"
    assert main(["search", "whatever", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "Reset\n  specs/reset.md  score 1.00\n  # Reset\n"


def test_no_package_replaces_one_of_the_projects_own(tmp_path: Path, package: None) -> None:
    assert type(WikiSearchIndex.create("bm25", tmp_path)).__module__ == "pytest_dvwiki.wiki.finding.indexed"


def test_one_that_cannot_be_loaded_is_a_mistake_of_who_searches(
    tmp_path: Path, package: None, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path, "broken")
    for command in ("search", "context"):
        assert main([command, "reset", "--root", str(tmp_path)]) == 2
        said = capsys.readouterr().err
        assert "search_backend: 'broken', entry point dvwiki.search: dvwiki_first:Missing, cannot be loaded: " in said
