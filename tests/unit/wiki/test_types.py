"""The type of a page's cause is the tool's current verdict or a person's, and is the same in all outputs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.agent.query import WikiQueryService
from pytest_dvwiki.model import Origin
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import CAUSE, files, git, layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_dvwiki.model import OriginType
    from pytest_dvwiki.settings import Layout

CLAIMS: dict[OriginType, float] = {"RTL_BUG": 0.9, "TB_BUG": 0.9, "UNKNOWN": 0.0}


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    return layout(tmp_path)


def seen(place: Layout, number: int, kind: OriginType) -> None:
    origin = Origin(type=kind, confidence=CLAIMS[kind], reasons=("said so",))
    archive(place, record(number, occurrence(origin=origin)))


def bug(place: Layout) -> Path:
    (page,) = (place.wiki / "bugs").glob("[RTU]*.md")
    return page


def edit(place: Layout, old: str, new: str) -> None:
    text = bug(place).read_text()
    assert old in text
    bug(place).write_text(text.replace(old, new, 1))


def told(place: Layout) -> set[str]:
    """Return the type of the cause in index, history and prompt."""
    build(place)
    row = next(line for line in (place.wiki / "index.md").read_text().splitlines() if bug(place).stem in line)
    with WikiHistory(place) as history:
        known = history.cause(CAUSE)
    assert known is not None
    assert known.page is not None
    assert known.page.type is not None
    rtl = WikiQueryService(WikiConfig(enabled=True, wiki_dir=place.wiki)).get_known_rtl_bugs(status="confirmed")
    rtl += WikiQueryService(WikiConfig(enabled=True, wiki_dir=place.wiki)).get_known_rtl_bugs()
    assert ("RTL bug: UVM_ERROR" in rtl) == (known.page.type == "RTL_BUG")
    assert ("Failure of unknown origin: UVM_ERROR" in rtl) == (known.page.type == "UNKNOWN")
    assert "estbench bug: UVM_ERROR" not in rtl
    return {row.split(" | ")[1], known.page.type}


def keys(place: Layout) -> tuple[object, ...]:
    metadata = pages.read(bug(place).read_bytes()).metadata
    return metadata["type"], metadata["type_at_creation"], metadata["origin"]


def test_the_present_view_changes_and_the_type_that_was_written_once_does_not(place: Layout) -> None:
    seen(place, 1, "UNKNOWN")
    assert (keys(place), told(place)) == (("UNKNOWN", "UNKNOWN", "UNKNOWN"), {"UNKNOWN"})
    seen(place, 2, "RTL_BUG")
    assert (keys(place), told(place)) == (("UNKNOWN", "UNKNOWN", "RTL_BUG"), {"RTL_BUG"})
    seen(place, 3, "TB_BUG")
    assert (keys(place), told(place)) == (("UNKNOWN", "UNKNOWN", "TB_BUG"), {"TB_BUG"})
    assert "overrides this verdict" not in bug(place).read_text()


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("type: RTL_BUG", "type: TB_BUG", "TB_BUG"),
        ("type: RTL_BUG", "type: UNKNOWN", "UNKNOWN"),
        ("status: open", "status: confirmed", "RTL_BUG"),
        ("status: open", "status: wont_fix", "TB_BUG"),
        ("owner: null", "owner: me", "TB_BUG"),
    ],
)
def test_a_person_s_word_wins_over_the_present_view(place: Layout, old: str, new: str, wanted: str) -> None:
    seen(place, 1, "RTL_BUG")
    edit(place, old, new)
    seen(place, 2, "TB_BUG")
    assert told(place) == {wanted}
    assert keys(place)[1:] == ("RTL_BUG", "TB_BUG")
    assert ("which overrides this verdict" in bug(place).read_text()) is (wanted != "TB_BUG")


def test_a_page_that_says_unknown_is_confirmed_without_a_word_on_its_type(place: Layout) -> None:
    seen(place, 1, "UNKNOWN")
    edit(place, "status: open", "status: confirmed")
    seen(place, 2, "RTL_BUG")
    assert told(place) == {"RTL_BUG"}


def as_before(place: Layout) -> None:
    """Turn the page into one of a version without both keys."""
    bug(place).write_text(re.sub(r"(?m)^(?:type_at_creation|origin): .*\n", "", bug(place).read_text()))


def test_a_page_of_an_earlier_version_tells_by_its_name_what_it_was_made_as(place: Layout) -> None:
    seen(place, 1, "RTL_BUG")
    as_before(place)
    edit(place, "type: RTL_BUG", "type: TB_BUG")
    assert told(place) == {"TB_BUG"}
    assert keys(place) == ("TB_BUG", "RTL_BUG", "RTL_BUG")


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        (("type: UNKNOWN", "type: TB_BUG"),),
        (("status: open", "status: confirmed"), ("spec_section: null", "spec_section: none yet")),
        (("stale_reason: null\n", "stale_reason: null\nticket: FIFO-7\n"),),
    ],
)
def test_the_tool_and_a_person_change_a_page_on_two_branches(
    place: Layout, changes: tuple[tuple[str, str], ...], *, earlier: bool
) -> None:
    git(place.root, "init", "--quiet", "--initial-branch=main")
    seen(place, 1, "UNKNOWN")
    if earlier:
        as_before(place)

    def person() -> None:
        for old, new in changes:
            edit(place, old, new)

    def tool() -> None:
        seen(place, 2, "RTL_BUG")
        git(place.root, "add", "--all")

    def on(branch: str, change: Callable[[], None]) -> None:
        git(place.root, "checkout", "--quiet", "-B", branch, "main")
        change()
        git(place.root, "commit", "--quiet", "--all", "--message", branch)

    git(place.root, "add", "--all")
    git(place.root, "commit", "--quiet", "--message", "base")
    on("person", person)
    on("tool", tool)
    git(place.root, "merge", "--quiet", "--no-edit", "person")
    assert b"<<<<<<<" not in b"".join(files(place.agent).values())
    text = bug(place).read_text()
    assert all(new.strip() in text for _, new in changes)
    assert keys(place)[1:] == ("UNKNOWN", "RTL_BUG")
    assert told(place) == {"TB_BUG" if "type: TB_BUG" in text else "RTL_BUG"}
