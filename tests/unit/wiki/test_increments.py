"""After each archived run, pages, tables and indexes are the same as after a build of all records."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.model import OtherTest, PassedAgain, Vcs
from pytest_dvwiki.records import disk, proposals
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.wiki.index import FILES
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import archived, failed, fixed, layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.settings import Layout

CAUSES = [f"{number:012x}" for number in range(14)]
TESTS = [f"tests/test_fifo.py::test_fifo::t{number}" for number in range(6)]
KINDS = ("scoreboard_fail", "timeout", "x_propagation")
PATTERNS = ("uvm.scoreboard_mismatch", "sim.timeout", None)
COUNTED = ("tallies", "causes", "newest_tests", "fix_states", "fix_tests", "fix_commits", "proposals")


@pytest.fixture(autouse=True)
def _as_if_hours_lay_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache a folder without delay, and keep only three causes as last seen."""
    monkeypatch.setattr(disk, "_SETTLED_NS", -1)
    monkeypatch.setattr(proposals, "LAST_SEEN", 3)


def runs(dice: random.Random, count: int) -> Iterator[RunRecord]:
    """Return runs in which causes appear, pass, are fixed and return; five days are between two runs."""
    failing: dict[str, str] = {}
    for number in range(count):
        hour = number * 120
        causes = dice.sample(CAUSES, dice.choice((0, 0, 1, 1, 2)))
        tests = {cause: dice.sample(TESTS, dice.choice((1, 1, 2))) for cause in causes}
        again = [cause for cause in failing if cause not in causes and dice.random() < 0.5]
        yield record(
            hour,
            *(_occurrence(cause, tests[cause], dice) for cause in causes),
            vcs=Vcs(commit=f"{number:040x}", branch="main"),
            passed_again=tuple(_again(cause, failing[cause], dice) for cause in again),
            fixes=tuple(fixed(hour, cause, log=[f"{number:012x} fifo: rework"]) for cause in again),
            other=tuple(
                OtherTest(nodeid=name, outcome="skipped") for name in dice.sample(TESTS, dice.choice((0, 0, 1)))
            ),
        )
        failing |= {cause: names[0] for cause, names in tests.items()}
        for cause in again:
            del failing[cause]


def _occurrence(cause: str, tests: list[str], dice: random.Random) -> Any:
    kind = int(cause, 16) % 3 if dice.random() < 0.9 else dice.randrange(3)
    return occurrence(
        cause, tests=tuple(map(failed, tests)), failure_subtype=KINDS[kind], pattern=PATTERNS[int(cause, 16) % 3]
    )


def _again(cause: str, test: str, dice: random.Random) -> PassedAgain:
    seed = dice.choice(("42", "7"))
    return PassedAgain(
        nodeid=test, simulator="icarus", fingerprint=cause, seed=seed, changed="commit", failed_seed="42"
    )


def counted(db: sqlite3.Connection) -> dict[str, list[Any]]:
    return {table: sorted(db.execute(f"SELECT * FROM {table}")) for table in COUNTED}  # noqa: S608 (constants)


def cached(place: Layout) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(place.wiki / ".cache" / "records.sqlite")) as db:
        return counted(db)


def anew(place: Layout) -> dict[str, list[Any]]:
    with Archive(place.tasks, None) as fresh:
        fresh.refresh()
        return counted(fresh.db)


@pytest.mark.parametrize("seed", [0, *(pytest.param(each, marks=pytest.mark.further_mode) for each in (1, 2))])
def test_after_each_run_a_build_has_nothing_to_do(tmp_path: Path, seed: int) -> None:
    place, dice = layout(tmp_path), random.Random(seed)
    order = list(runs(dice, 40))
    for number in range(5, len(order), 9):
        # This one arrives late, as from another machine.
        order.insert(min(number + dice.randrange(1, 6), len(order)), order.pop(number))
    for run in order:
        archived(place, run, dice.choice((TESTS, TESTS, TESTS[:4], None)))
        found = build(place, check=True)
        assert (found.changed, found.refused, found.problems) == ([], [], []), run.task_id
    assert cached(place) == anew(place)


def test_what_is_taken_away_is_counted_out(tmp_path: Path) -> None:
    place, dice = layout(tmp_path), random.Random(4)
    for run in runs(dice, 30):
        archived(place, run, TESTS)
    for path in sorted(place.tasks.glob("20*/*/*.yaml"))[::3]:
        path.unlink()
    build(place)
    assert cached(place) == anew(place)


def test_the_first_build_leaves_nothing_to_the_second(tmp_path: Path) -> None:
    place, dice = layout(tmp_path), random.Random(5)
    for run in runs(dice, 40):
        archived(place, run, TESTS)
    for page in (place.wiki / "bugs").glob("*.md"):
        page.unlink()
    build(place, restore=True)
    assert build(place, check=True).changed == []


def some_pages(place: Layout) -> list[Path]:
    archive(place, record(1, *(occurrence(cause) for cause in CAUSES[:3])))
    archive(place, record(2, occurrence(CAUSES[0])))
    return sorted((place.wiki / "bugs").glob("RTL_*.md"))


def is_clean(place: Layout) -> bool:
    return build(place, check=True).changed == []


def test_what_people_wrote_on_the_page_of_a_cause_is_heeded(tmp_path: Path) -> None:
    place = layout(tmp_path)
    kept, other, _ = some_pages(place)
    other.write_bytes(other.read_bytes().replace(b"owner: null", f"owner: null\nsuperseded_by: {kept.stem}".encode()))
    cause = other.read_text().partition('fingerprint: "')[2][:12]
    archive(place, record(3, occurrence(cause)))
    assert f"merged into [{kept.stem}]" in other.read_text()
    assert is_clean(place)


def test_what_people_changed_in_the_keys_of_the_tool_is_put_right(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence(CAUSES[0], failure_subtype="timeout")))
    archive(place, record(2, occurrence(CAUSES[0])))
    former = place.wiki / "patterns" / "timeout.md"
    former.write_bytes(former.read_bytes().replace(b"hit_count: 1", b"hit_count: 77"))
    archive(place, record(3, occurrence(CAUSES[0])))
    assert b"hit_count: 1\n" in former.read_bytes()
    assert is_clean(place)


def test_a_page_that_came_or_went_is_seen(tmp_path: Path) -> None:
    place = layout(tmp_path)
    first, second, third = some_pages(place)
    moved = second.with_name("RTL_20200101_000001.md")
    second.rename(moved)
    third.unlink()
    archive(place, record(3, occurrence(CAUSES[0])))
    index = (place.wiki / "index.md").read_text()
    assert [page.stem in index for page in (first, second, third, moved)] == [True, False, False, True]


@pytest.mark.parametrize("name", FILES)
def test_an_index_that_somebody_changed_is_made_anew(tmp_path: Path, name: str) -> None:
    place = layout(tmp_path)
    some_pages(place)
    file = place.wiki / name
    file.write_bytes(file.read_bytes().replace(b"|\n", b"| \n") + b"\n| [mine](mine.md) |\n")
    archive(place, record(3, occurrence(CAUSES[0])))
    assert is_clean(place)


def test_names_that_begin_alike_keep_their_order(tmp_path: Path) -> None:
    place = layout(tmp_path)
    some_pages(place)
    names = ("a", "a-b", "a.b", "a0", "ab", "A", "a_")
    for number, name in enumerate(names):
        (place.wiki / "specs" / f"{name}.md").write_text("---\ntype: spec\n---\n# x\n")
        archive(place, record(3 + number, occurrence(CAUSES[0])))
        assert is_clean(place)
    for number, name in enumerate(names):
        (place.wiki / "specs" / f"{name}.md").unlink()
        archive(place, record(13 + number, occurrence(CAUSES[0])))
        assert is_clean(place)
