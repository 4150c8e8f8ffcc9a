"""The documentation agrees with its sources, and its links work."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from markdown_it import MarkdownIt

from pytest_dvwiki.model import archive, failure
from pytest_dvwiki.patterns.registry import load_subtypes
from pytest_dvwiki.patterns.schema import Pattern, check_pattern
from pytest_dvwiki.records import verdicts
from pytest_dvwiki.simulators.tool import Tool
from pytest_dvwiki.triage import waivers
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.kinds.owned import OWNED

if TYPE_CHECKING:
    from collections.abc import Callable

    from msgspec import Struct

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})


def links(page: Path) -> list[str]:
    """Return the targets of a page's links, without anchors."""
    inline = (token for token in MARKDOWN.parse(page.read_text(encoding="utf-8")) if token.type == "inline")
    targets = [child.attrs["href"] for token in inline for child in token.children or () if child.type == "link_open"]
    return [path for target in targets if (path := str(target).partition("#")[0])]


@pytest.fixture(scope="module")
def generated() -> dict[Path, str]:
    made: Callable[[], dict[Path, str]] = runpy.run_path(str(DOCS / "generate.py"))["generated"]
    return made()


@pytest.mark.parametrize(
    "name",
    [
        "ARCHITECTURE.md",
        "docs/agents.md",
        "docs/ci.md",
        "docs/outcomes.md",
        "docs/reference/commands.md",
        "docs/reference/settings.md",
        "docs/store.md",
    ],
)
def test_what_is_generated_is_what_make_docs_writes(generated: dict[Path, str], name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == generated[ROOT / name]


def test_nothing_else_is_generated(generated: dict[Path, str]) -> None:
    made = {path.relative_to(ROOT).as_posix() for path in generated}
    assert {path for path in made if not path.startswith("docs/patterns/")} == {
        "ARCHITECTURE.md",
        "docs/agents.md",
        "docs/ci.md",
        "docs/outcomes.md",
        "docs/patterns.md",
        "docs/reference/commands.md",
        "docs/reference/settings.md",
        "docs/store.md",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    targets = [target for target in links(page) if "://" not in target]
    assert not [target for target in targets if not (page.parent / target).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_rows_of_tables_are_whole(page: Path) -> None:
    broken = []
    cells, in_code = 0, False
    for line in page.read_text(encoding="utf-8").split("\n"):
        in_code ^= line.lstrip().startswith("```")
        if line.startswith("|") and not in_code:
            found = re.sub(r"\\\||`[^`]*`", "", line).count("|")
            broken += [line] * (not line.endswith("|") or found != (cells or found))
            cells = found
        elif cells and line and not line.startswith("<!--"):
            broken.append(line)  # the rest of a row that was wrapped
        else:
            cells = 0
    assert not broken


def test_every_page_is_reached_from_the_index() -> None:
    reached = set[Path]()
    new = {DOCS / "index.md"}
    while new:
        reached |= new
        new = {(page.parent / target).resolve() for page in new for target in links(page)} & set(PAGES) - reached
    assert set(DOCS.rglob("*.md")) <= reached


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_are_named_for_maintainers_are_there(name: str) -> None:
    named = re.findall(r"`([a-z_/]+/(?:[a-z_]+\.py)?)[`*]", (ROOT / name).read_text(encoding="utf-8"))
    assert len(named) > 10
    assert not [path for path in named if not any((top / path).exists() for top in (ROOT, ROOT / "pytest_dvwiki"))]


def fields(*types: type[Struct]) -> set[str]:
    return {name for each in types for name in each.__struct_fields__}


@pytest.mark.parametrize(
    "keys",
    [
        fields(archive.RunRecord, archive.Vcs, archive.Simulator, archive.RunId, archive.Suite, archive.Axes),
        fields(archive.Totals, archive.OtherTest, failure.Attempt, archive.Waived, archive.PassedAgain),
        fields(archive.FirstBad, archive.SinceFix, archive.Gate, archive.Gated),
        fields(archive.Occurrence, archive.FailedTest, failure.Origin, failure.LogReference, failure.Command),
        fields(failure.Place),
        fields(archive.FixRow, archive.BinRow, archive.SourceRow),
        fields(verdicts.Rulings, verdicts.Ruling, verdicts.Merge, verdicts.Member, verdicts.Apart),
        {*waivers.MATCHES, *waivers._KEYS},
        set(Pattern.__struct_fields__),
        {*bug.PEOPLE, *(key for keys in OWNED.values() for key in keys)},
    ],
)
def test_every_key_on_disk_is_described(keys: set[str]) -> None:
    text = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    code = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
    assert keys - set(re.findall(r"\w+", " ".join(code))) == set()


def test_the_examples_for_contributors_can_be_used() -> None:
    fences = [token for token in MARKDOWN.parse((ROOT / "CONTRIBUTING.md").read_text("utf-8")) if token.type == "fence"]
    (pattern,) = (token.content for token in fences if token.info == "yaml")
    (tool,) = (token.content for token in fences if token.info == "python")
    check_pattern(yaml.safe_load(pattern)[0], name="icarus.yaml", position=1, subtypes=load_subtypes())
    names: dict[str, object] = {}
    exec(tool, names)  # noqa: S102  # text of this project
    assert isinstance(names["TOOL"], Tool)
