"""Only pages with nearly the same content are proposed for a merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.likeness import words
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build, merge

from ..samples import CAUSE, PRIMARY, failed, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

OTHER = "a" * 12
LONG = "UVM_ERROR sb.sv(210) @ 1250ns: reporter [SCBD] the burst of the write channel ended before its last beat"


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    return place


def page_of(place: Layout, fingerprint: str) -> str:
    for page in sorted((place.wiki / "bugs").glob("[RU]*.md")):
        if pages.read(page.read_bytes()).metadata["fingerprint"] == fingerprint:
            return page.stem
    raise AssertionError(fingerprint)


def proposals(place: Layout) -> list[str]:
    return [each.text for each in lint(place, "full") if each.kind == "near_duplicate"]


@pytest.mark.parametrize(
    ("primary", "told"),
    [
        (PRIMARY, {"reporter", "scbd", "expected", "got"}),
        ("UVM_FATAL sb.sv(1) @ 0: reporter [SCBD] got 0x7, expected 0x8", {"reporter", "scbd", "expected", "got"}),
        ("AssertionError: assert 3 == 4", set()),
        ("packet PKT_17 of u_dut3 dropped by the arbiter", {"packet", "of", "dropped", "by", "the", "arbiter"}),
    ],
)
def test_words_that_tell_a_cause_from_others(primary: str, told: set[str]) -> None:
    assert words(primary) == told


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (PRIMARY, PRIMARY.replace("sb.sv(210)", "scoreboard.sv(33)")),
        (PRIMARY, PRIMARY.replace("UVM_ERROR", "UVM_FATAL")),
        ("packet PKT_17 dropped by the arbiter", "packet PKT_18 dropped by the arbiter"),
        (LONG, LONG.replace("ended", "stopped")),
    ],
    ids=["file renamed", "severity raised", "another instance", "a word of many"],
)
def test_one_cause_in_other_words_is_proposed(tmp_path: Path, before: str, after: str) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence(primary=before)))
    done = archive(place, record(2, occurrence(OTHER, primary=after)))
    kept, other = page_of(place, CAUSE), page_of(place, OTHER)
    assert done.like == {OTHER: (kept, other)}
    assert proposals(place) == [f"says nearly the same thing as bugs/{kept}.md: `dvwiki merge {kept} {other}`"]
    assert f"bugs/{other}.md created, like {kept}" in (place.wiki / "log.md").read_text("utf-8")
    assert build(place, check=True).changed == []


@pytest.mark.parametrize(
    "changes",
    [
        {"failure_subtype": "timeout"},
        {"pattern": "uvm.other"},
        {"tests": (failed("tests/test_regs.py::test_regs::reset"),)},
        {"primary": PRIMARY.replace("expected", "wanted")},
        {"primary": "AssertionError: count is 3"},
    ],
    ids=["another label", "another pattern", "other tests", "a word of few", "too few words"],
)
def test_other_causes_are_not(place: Layout, changes: dict[str, Any]) -> None:
    assert archive(place, record(2, occurrence(OTHER, **changes))).like == {}
    assert proposals(place) == []


def test_the_page_that_was_there_first_is_kept_whatever_its_name(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence(OTHER)))
    archive(place, record(2, occurrence()))
    assert page_of(place, CAUSE) < page_of(place, OTHER)
    assert proposals(place)[0].endswith(f"`dvwiki merge {page_of(place, OTHER)} {page_of(place, CAUSE)}`")


def test_two_checks_that_fail_in_one_run_are_two(place: Layout) -> None:
    archive(place, record(2, occurrence(OTHER)))
    assert len(proposals(place)) == 1
    archive(place, record(3, occurrence(), occurrence(OTHER)))
    assert proposals(place) == []


def test_a_cause_that_names_no_test_is_compared_with_all_of_its_subtype(place: Layout) -> None:
    done = archive(place, record(2, occurrence(OTHER, tests=())))
    assert done.like == {OTHER: (page_of(place, CAUSE), page_of(place, OTHER))}


def test_what_people_say_is_another_cause_is_not_proposed(place: Layout) -> None:
    archive(place, record(2, occurrence(OTHER)))
    page = place.wiki / "bugs" / f"{page_of(place, CAUSE)}.md"
    page.write_text(
        page.read_text("utf-8").replace("owner: null", f"owner: null\ndistinct_from: {page_of(place, OTHER)}"), "utf-8"
    )
    assert proposals(place) == []


def test_pages_that_were_merged_are_proposed_no_more_and_a_third_to_the_one_that_stands(place: Layout) -> None:
    archive(place, record(2, occurrence(OTHER)))
    kept, other = page_of(place, CAUSE), page_of(place, OTHER)
    merge(place, f"bugs/{kept}.md", f"bugs/{other}.md")
    assert proposals(place) == []
    done = archive(place, record(3, occurrence("c" * 12)))
    assert done.like == {"c" * 12: (kept, page_of(place, "c" * 12))}
