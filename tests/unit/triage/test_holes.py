"""Only changes in coverage are news, with at most as many rows as a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.model import BinRow, CoverBin, KnownBin
from pytest_dvwiki.model.archive import ALL_BINS, MOST_OF_A_POINT
from pytest_dvwiki.triage.holes import MOST_OPEN, CoverageNews, coverage_news

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OPEN, FILLED = KnownBin(filled=False, hits=0), KnownBin(filled=True, hits=1)


def bins(**hits: int) -> list[CoverBin]:
    return [CoverBin(covergroup="fifo.level", bin=name, hits=count) for name, count in hits.items()]


def many(holes: int, covered: int = 0, point: str = "fifo.cross") -> list[CoverBin]:
    return [
        CoverBin(covergroup=point, bin=f"{number:04d}", hits=int(number >= holes)) for number in range(holes + covered)
    ]


def news(found: list[CoverBin], known: Mapping[str, KnownBin] | None = None, *, whole: bool = True) -> CoverageNews:
    on_record = {("fifo.level", name): state for name, state in (known or {}).items()}
    return coverage_news(found, on_record, whole=whole)


def names(rows: Iterable[BinRow]) -> list[str]:
    return [row.bin for row in rows]


def test_a_hole_is_news_once_and_a_covered_bin_never() -> None:
    found = news(bins(empty=3, full=0))
    assert names(found.rows) == names(found.found) == ["full"]
    assert (found.bins, found.covered) == (2, 1)
    assert found.rows[0] == BinRow(
        covergroup="fifo.level",
        bin="full",
        action_class="needs_investigation",
        feature="fifo",
        priority=1,
        scenario="",
        filled=False,
        hits=0,
        goal=1,
    )
    assert news(bins(empty=3, full=0), {"full": OPEN}).rows == ()


def test_a_hole_that_is_covered_is_filled_and_one_that_comes_back_is_open_again() -> None:
    found = news(bins(empty=0, full=2, half=1), {"full": OPEN, "empty": FILLED, "half": FILLED})
    assert (names(found.filled), names(found.again), found.found) == (["full"], ["empty"], ())
    assert [row.filled for row in found.rows] == [True, False]


def test_a_part_of_the_tests_can_fill_but_finds_no_holes() -> None:
    found = news(bins(empty=0, full=2, half=0), {"full": OPEN, "empty": FILLED}, whole=False)
    assert (names(found.rows), names(found.filled), found.whole) == (["full"], ["full"], False)


def test_what_weighs_more_comes_first_and_what_was_hit_comes_behind() -> None:
    found = coverage_news(
        [
            CoverBin(covergroup="a", bin="light", hits=0),
            CoverBin(covergroup="b", bin="nearly", hits=2, goal=3, weight=5),
            CoverBin(covergroup="b", bin="never", hits=0, goal=3, weight=5),
        ],
        {},
        whole=True,
    )
    assert [(row.bin, row.priority) for row in found.rows] == [("never", 1), ("nearly", 2), ("light", 3)]


def test_a_point_with_many_holes_is_one_row_until_few_are_left() -> None:
    assert len(coverage_news(many(MOST_OF_A_POINT), {}, whole=True).rows) == MOST_OF_A_POINT
    (row,) = coverage_news(many(3000, 1000), {}, whole=True).rows
    assert (row.bin, row.hits, row.goal, row.filled) == (ALL_BINS, 1000, 4000, False)
    assert row.scenario == "open: 0000; 0001; 0002; 0003; 0004; 0005 and 2994 more"
    known = {("fifo.cross", ALL_BINS): KnownBin(filled=False, hits=1000)}
    assert coverage_news(many(3000, 1000), known, whole=True).rows == ()
    (moved,) = coverage_news(many(2000, 2000), known, whole=True).moved
    assert moved.hits == 2000
    few = coverage_news(many(2, 3998), known, whole=True)
    assert (names(few.filled), names(few.found)) == ([ALL_BINS], ["0000", "0001"])


def test_a_bin_with_a_page_is_still_filled_where_its_point_has_many_holes() -> None:
    found = coverage_news(many(100, 1), {("fifo.cross", "0100"): OPEN}, whole=True)
    assert (names(found.filled), names(found.found)) == (["0100"], [ALL_BINS])


def test_no_more_holes_are_open_at_a_time_than_somebody_can_look_at() -> None:
    points = [bin_ for number in range(100) for bin_ in many(20, point=f"p{number:03d}")]
    found = coverage_news(points, {}, whole=True)
    assert (len(found.found), found.left_out) == (MOST_OPEN, 2000 - MOST_OPEN)
    known = {(row.covergroup, row.bin): OPEN for row in found.rows}
    again = coverage_news(points, known, whole=True)
    assert (again.rows, again.left_out) == ((), 2000 - MOST_OPEN)


def test_where_the_most_are_open_a_bin_that_comes_back_and_one_that_is_filled_are_still_news() -> None:
    known = {("p", f"{number:04d}"): OPEN for number in range(MOST_OPEN)} | {("fifo.level", "full"): FILLED}
    found = coverage_news([*many(0, 2, point="p"), *bins(full=0)], known, whole=True)
    assert (names(found.filled), names(found.again)) == (["0000", "0001"], ["full"])


@pytest.mark.parametrize("secret", ["ghp_" + "a1B2" * 9, "password=hunter22"])
def test_a_secret_in_a_name_goes_on_no_record(secret: str) -> None:
    found = coverage_news([CoverBin(covergroup=f"g.{secret}", bin=secret, hits=0)], {}, whole=True)
    assert secret not in str(found.rows)
