"""A cause that did not occur for 90 days while its tests pass is marked as stale, from the records alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.agent.prompts import gather
from pytest_dvwiki.model import OtherTest
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.finding.search import Filters, WikiSearchIndex
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build, leave_out

from ..samples import CAUSE, TEST, archived, failed, fixed, layout, occurrence, passing, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

OTHER = "tests/test_regs.py::test_regs::reset"
SEEN = datetime.fromisoformat(record(1).finished)
REASON = "not seen since 2026-11-21; its tests passed at least 90 days later"


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    return place


def run(place: Layout, days: int, *occurrences: Any, suite: tuple[str, ...] = (TEST, OTHER), **changes: Any) -> None:
    """Archive a run some days after the cause, with the list of its tests."""
    finished = (SEEN + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = {"task_id": f"nightly_{days:04}", "started": finished, "finished": finished} | changes
    archived(place, record(days, *occurrences, **fields), suite)
    assert build(place, check=True).changed == []


def page(place: Layout) -> Path:
    (found,) = (page for page in (place.wiki / "bugs").glob("RTL_*.md") if CAUSE in page.read_text("utf-8"))
    return found


def mark(place: Layout) -> tuple[Any, Any]:
    found = pages.read(page(place).read_bytes()).metadata
    return found["stale"], found["stale_reason"]


def test_a_cause_that_is_long_unseen_while_its_test_passes_is_stale(place: Layout) -> None:
    run(place, 89)
    assert mark(place) == (False, None)
    run(place, 90)
    assert mark(place) == (True, REASON)
    run(place, 200)
    assert mark(place) == (True, REASON)


def test_it_is_told_no_more_until_it_comes_back(place: Layout) -> None:
    run(place, 90)
    assert "**RTL_" not in gather(place).text
    run(place, 91, occurrence())
    assert mark(place) == (False, None)
    assert "**RTL_" in gather(place).text


@pytest.mark.parametrize(
    "changes",
    [
        {"suite": (OTHER,)},
        {"suite": ()},
        {"other": (OtherTest(nodeid=TEST, outcome="skipped"),)},
        {"occurrences": (occurrence("b" * 12),)},
    ],
    ids=["the test is gone", "nothing ran", "it was skipped", "it fails with another cause"],
)
def test_without_a_pass_of_its_test_nothing_is_known(place: Layout, changes: dict[str, Any]) -> None:
    run(place, 100, **changes)
    assert mark(place) == (False, None)


def test_one_of_several_tests_that_still_fails_keeps_it(place: Layout) -> None:
    run(place, 1, occurrence(tests=(failed(), failed(OTHER))))
    run(place, 100, occurrence("b" * 12, tests=(failed(OTHER),)))
    assert mark(place) == (False, None)
    run(place, 101)
    assert mark(place) == (True, REASON.replace("11-21", "11-22"))


def test_a_pass_without_a_list_of_tests_counts_too(place: Layout) -> None:
    late = (SEEN + timedelta(days=95)).strftime("%Y-%m-%dT%H:%M:%SZ")
    archive(place, passing(5, changed="nothing", task_id="late", started=late, finished=late))
    assert mark(place) == (True, REASON)
    assert build(place, check=True).changed == []


def test_a_test_that_stands_for_those_inside_it_passes_with_them(tmp_path: Path) -> None:
    place = layout(tmp_path)
    runner = TEST.rpartition("::")[0]
    archive(place, record(1, occurrence(tests=(failed(runner),))))
    run(place, 90)
    assert mark(place) == (True, REASON)


def test_a_lesson_whose_fix_holds_stays(place: Layout) -> None:
    archive(place, record(2, fixes=(fixed(2, CAUSE, result="held"),)))
    run(place, 90)
    assert mark(place) == (False, None)


def test_a_fix_that_held_before_the_cause_returned_holds_no_more(place: Layout) -> None:
    archive(place, record(2, fixes=(fixed(2, CAUSE, result="held"),)))
    run(place, 1, occurrence())
    run(place, 91)
    assert mark(place)[0] is True


@pytest.mark.parametrize("status", ["closed", "confirmed", "wont_fix"])
def test_a_status_that_people_gave_makes_nothing_stale(place: Layout, status: str) -> None:
    page(place).write_text(page(place).read_text("utf-8").replace("status: open", f"status: {status}"), "utf-8")
    build(place)
    run(place, 90)
    assert mark(place) == (False, None)


def test_runs_that_arrive_out_of_order_come_to_the_same(tmp_path: Path) -> None:
    days = (0, 30, 90, 120, 300)
    for name, order in (("one", days), ("two", tuple(reversed(days))), ("three", (300, 0, 120, 30, 90))):
        place = layout(tmp_path / name)
        for day in order:
            run(place, day, *((occurrence(),) if day in {0, 120} else ()))
        assert mark(place) == (True, REASON.replace("2026-11-21", "2027-03-21"))


def test_a_page_that_has_been_stale_for_90_days_leaves_the_index_until_its_cause_comes_back(place: Layout) -> None:
    run(place, 95)
    run(place, 184)
    assert leave_out(place, 90) == []
    run(place, 185)
    before = page(place).read_text("utf-8")
    assert leave_out(place, 90) == [f"bugs/{page(place).name}", "bugs/_index.md", "index.md"]
    assert leave_out(place, 90) == []
    assert mark(place) == (True, f"{REASON}; left out of index and prompts")
    assert len(before.splitlines()) == len(page(place).read_text("utf-8").splitlines())
    index = (place.wiki / "index.md").read_text("utf-8")
    assert page(place).name not in index
    assert "Left out, because stale for a long time: 1 (" in index
    assert build(place, check=True).changed == []
    assert [each.kind for each in lint(place, "full") if "bugs/" in each.page] == []
    assert "RTL_" not in gather(place, test=TEST).text
    found = WikiSearchIndex.create("keyword", place.wiki).search("scoreboard", filters=Filters(status="stale"))
    assert [each.page_path for each in found] == [f"bugs/{page(place).name}"]
    run(place, 186)
    assert mark(place)[1] == f"{REASON}; left out of index and prompts"
    run(place, 187, occurrence())
    assert mark(place) == (False, None)
    assert page(place).name in (place.wiki / "index.md").read_text("utf-8")


def test_a_page_with_a_fix_that_once_held_stays_in_the_index(place: Layout) -> None:
    archive(place, record(2, fixes=(fixed(2, CAUSE, result="held"),)))
    run(place, 1, occurrence())
    for days in (91, 185, 300):
        run(place, days)
    assert mark(place)[0] is True
    assert leave_out(place, 90) == []
