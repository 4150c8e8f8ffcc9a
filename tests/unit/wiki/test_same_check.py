"""A check that was fixed and fails again: the same cause, or another fault with its own page."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pytest_dvwiki import pipeline
from pytest_dvwiki.cli import main
from pytest_dvwiki.model import FirstBad, Origin, PassedAgain, SinceFix, Undone, Waived
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.store import write_record
from pytest_dvwiki.settings import resolve
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import archive, build, merge

from ..samples import CAUSE, failed, files, fixed, git, layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.model.archive import Change, PassSeed

READ, WRITE, BURST = (f"tests/test_fifo.py::test_fifo::{name}" for name in ("reads", "writes", "bursts"))


def failing(number: int, *tests: str, seed: str | None, **changes: Any) -> RunRecord:
    return record(number, occurrence(tests=tuple(failed(test, seed) for test in tests)), schema=2, **changes)


def failing_apart(number: int, *parts: Sequence[str], seed: str | None, **changes: Any) -> RunRecord:
    """A run whose failures of the check have several causes."""
    first = failing(number, *parts[0], seed=seed, **changes)
    further = (
        occurrence(f"{CAUSE}/{first.task_id}/{part}", tests=tuple(failed(test, seed) for test in tests))
        for part, tests in enumerate(parts[1:], 2)
    )
    return replace(first, occurrences=(*first.occurrences, *further))


def mended(number: int, test: str, seed: str, *sources: str, cause: str = CAUSE) -> RunRecord:
    """Return a run in which a test passes with the failing seed, after a change of some sources."""
    again = PassedAgain(
        nodeid=test, fingerprint=cause, seed=seed, changed="commit", failed_seed=seed, simulator="icarus"
    )
    row = fixed(number, cause, files=list(sources), file_count=len(sources))
    return record(number, passed_again=(again,), fixes=(row,), schema=2)


def since(run: RunRecord, *sources: str, passed: Iterable[str] = (READ,)) -> tuple[SinceFix, ...]:
    return (
        SinceFix(
            fingerprint=CAUSE, since=run.task_id, files=sources, file_count=len(sources), passed=tuple(sorted(passed))
        ),
    )


FIRST = failing(1, READ, seed="1")
FIX = mended(2, READ, "1", "rtl/read.sv")
SECOND = failing(3, WRITE, seed="3", since_fix=since(FIX, "rtl/write.sv"))
FOUND = f"{CAUSE}/{SECOND.task_id}"


def archived(root: Path, *records: RunRecord) -> None:
    for each in records:
        archive(layout(root), each)


def keys(root: Path) -> dict[str, dict[str, Any]]:
    """Return the keys of the bug pages by the name of their causes, without pages that only link to others."""
    found = {}
    for path in sorted((layout(root).wiki / "bugs").glob("[!_]*.md")):
        metadata = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
        if metadata["hit_count"]:
            assert metadata["cause"] not in found
            found[metadata["cause"]] = metadata
    return found


def page(root: Path, cause: str) -> str:
    with WikiHistory(layout(root)) as history:
        return (layout(root).wiki / history.bug_pages(cause)[0].path).read_text(encoding="utf-8")


def test_another_fault_at_a_check_has_its_own_page_and_the_fix_stays_good(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX, SECOND)
    found = keys(tmp_path)
    assert {cause: each["hit_count"] for cause, each in found.items()} == {CAUSE: 1, FOUND: 1}
    assert {each["fingerprint"] for each in found.values()} == {CAUSE}
    assert found[CAUSE]["passes_since"]
    assert found[CAUSE]["regressed"] is None
    with WikiHistory(layout(tmp_path)) as history:
        (state,) = history.archive.fix_states((CAUSE,))
        assert (state.returned, state.fix.result) == (None, "open")
        assert history.archive.fix_states((FOUND,)) == []
    old, new = found[CAUSE]["id"], found[FOUND]["id"]
    assert f"[{new}]({new}.md): treated as a different fault, reported by the same check later" in page(tmp_path, CAUSE)
    assert f"[{old}]({old}.md): treated as a different fault, reported by the same check before" in page(
        tmp_path, FOUND
    )
    assert build(layout(tmp_path), check=True).changed == []


@pytest.mark.parametrize(
    "returns",
    [
        pytest.param(failing(3, READ, seed="3", since_fix=since(FIX, "rtl/write.sv")), id="the same test"),
        pytest.param(failing(3, WRITE, READ, seed="3", since_fix=since(FIX, "rtl/write.sv")), id="it, too"),
        pytest.param(failing(3, f"{READ}[8]", seed="3", since_fix=since(FIX, "rtl/write.sv")), id="parameters"),
        pytest.param(failing(3, WRITE, seed="1", since_fix=since(FIX, "rtl/write.sv")), id="the same seed"),
        pytest.param(failing(3, WRITE, seed=None, since_fix=since(FIX, "rtl/write.sv")), id="no seed"),
        pytest.param(failing(3, WRITE, seed="3"), id="no evidence"),
        pytest.param(failing(3, WRITE, seed="3", since_fix=since(FIX)), id="nothing changed"),
        pytest.param(
            failing(3, WRITE, seed="3", since_fix=since(FIX, "rtl/write.sv", "rtl/read.sv")), id="what was mended"
        ),
        pytest.param(failing(3, WRITE, seed="3", since_fix=since(FIX, "rtl/write.sv", passed=())), id="not run"),
        pytest.param(
            failing(3, WRITE, seed="3", since_fix=tuple(replace(row, file_count=9) for row in SECOND.since_fix)),
            id="not all files",
        ),
    ],
)
def test_without_evidence_of_another_fault_it_is_one_cause(tmp_path: Path, returns: RunRecord) -> None:
    archived(tmp_path, FIRST, FIX, returns)
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {CAUSE: 2}
    with WikiHistory(layout(tmp_path)) as history:
        (state,) = history.archive.fix_states((CAUSE,))
    # Only a test that the fix made pass shows that the fault is back.
    failing_again = {test.nodeid.partition("[")[0] for item in returns.occurrences for test in item.tests}
    assert (state.returned is not None) == (READ in failing_again)


def kept_since(run: RunRecord, *sources: str) -> tuple[SinceFix, ...]:
    return tuple(replace(row, in_place=True, passed=()) for row in since(run, *sources))


def test_other_changes_in_the_files_of_a_fix_in_place_do_not_bring_its_fault_back(tmp_path: Path) -> None:
    rows = tuple(replace(row, passed=(READ,)) for row in kept_since(FIX, "rtl/read.sv", "rtl/write.sv"))
    archived(tmp_path, FIRST, FIX, failing(3, WRITE, seed="3", since_fix=rows))
    assert len(keys(tmp_path)) == 2


def test_a_fixed_test_whose_fix_is_undone_fails_as_before_and_not_with_an_open_cause_of_others(tmp_path: Path) -> None:
    rows = tuple(replace(row, in_place=False, passed=()) for row in since(FIX, "rtl/read.sv"))
    archived(tmp_path, FIRST, FIX, SECOND, failing(4, READ, seed="8", since_fix=rows))
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {CAUSE: 2, FOUND: 1}
    with WikiHistory(layout(tmp_path)) as history:
        (state,) = history.archive.fix_states((CAUSE,))
    assert state.returned is not None


def test_a_cause_whose_fix_is_undone_goes_before_an_open_one_with_the_same_seed(tmp_path: Path) -> None:
    other = failing(3, READ, seed="1", undone=(Undone(fingerprint=CAUSE, task_id=FIRST.task_id),))
    rows = tuple(replace(row, in_place=False, passed=()) for row in since(FIX, "rtl/read.sv"))
    archived(tmp_path, FIRST, FIX, other, failing(4, READ, seed="1", since_fix=rows))
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {
        CAUSE: 2,
        f"{CAUSE}/{other.task_id}": 1,
    }


def test_other_tests_that_passed_with_the_seed_while_a_cause_failed_have_another_fault(tmp_path: Path) -> None:
    passed = PassedAgain(nodeid=WRITE, fingerprint="0123456789ab", seed="1", changed="commit", simulator="icarus")
    back = failing(3, WRITE, seed="1", since_fix=since(FIX, "rtl/write.sv"))
    archived(tmp_path, replace(FIRST, passed_again=(passed,)), FIX, back)
    assert set(keys(tmp_path)) == {CAUSE, f"{CAUSE}/{back.task_id}"}
    assert build(layout(tmp_path), check=True).changed == []


def nights(seeds: Iterable[str], first: int) -> list[RunRecord]:
    """Return runs that pass the test with one seed each."""
    again = PassedAgain(nodeid=READ, fingerprint=CAUSE, changed="commit", simulator="icarus", failed_seed="1")
    passes = [replace(again, seed=seed) for seed in seeds]
    return [record(number, passed_again=(each,), schema=2) for number, each in enumerate(passes, first)]


HELD = [failing(1, READ, seed="1"), failing(2, READ, seed="2"), mended(3, READ, "2", "rtl/read.sv")]
HELD[2:] = [replace(HELD[2], passed_again=nights(["3"], 3)[0].passed_again), *nights("456", 4)]


CERTAIN = [failing(1, READ, seed="1"), mended(2, READ, "1", "rtl/read.sv"), *nights("345", 3)]


def failing_again(*tests: str, seed: str | None, seed_unknown: bool = False, config: str | None = None) -> RunRecord:
    """Return a failing run with the fix still in the sources, and another source changed."""
    run = failing(9, *tests, seed=seed, since_fix=kept_since(FIX, "rtl/write.sv"))
    (found,) = run.occurrences
    told = tuple(replace(test, seed_unknown=seed_unknown, config=config) for test in found.tests)
    return replace(run, occurrences=(replace(found, tests=told),))


@pytest.mark.parametrize(
    ("back", "causes"),
    [
        pytest.param(failing_again(READ, seed="1"), 2, id="the seed that passed with the fix"),
        pytest.param(failing_again(READ, seed="1", config="c" * 12), 2, id="it, in another configuration"),
        pytest.param(failing_again(READ, seed="6"), 1, id="another seed"),
        pytest.param(failing_again(READ, seed=None, seed_unknown=True), 1, id="unknown"),
    ],
)
def test_after_a_fix_that_one_seed_proved_only_that_seed_shows_another_fault(
    tmp_path: Path, back: RunRecord, causes: int
) -> None:
    archived(tmp_path, *CERTAIN, back)
    with WikiHistory(layout(tmp_path)) as history:
        assert history.archive.fix_states((CAUSE,))[0].fix.passes == 4
    assert len(keys(tmp_path)) == causes


PROVEN = [failing(1, READ, seed="1"), mended(2, READ, "1", "rtl/read.sv"), *nights("3", 3)]
"""The fix is proven by the failing seed, but does not hold yet."""


@pytest.mark.parametrize(
    ("tests", "seed", "same_stimulus", "causes"),
    [
        pytest.param([READ], "1", True, 2, id="the seed that passed with the fix"),
        pytest.param([READ, WRITE], "1", True, 2, id="beside a new one"),
        pytest.param([READ], "1", False, 1, id="which may draw other values now"),
        pytest.param([READ], "3", True, 2, id="a seed that had not failed, and passed with the fix"),
        pytest.param([READ], "4", True, 1, id="a seed that never passed"),
        pytest.param([WRITE], "1", True, 1, id="another test"),
    ],
)
def test_a_seed_that_a_fix_in_place_repaired_shows_another_fault_before_the_fix_holds(
    tmp_path: Path, tests: list[str], seed: str, same_stimulus: bool, causes: int
) -> None:
    rows = tuple(replace(row, same_stimulus=same_stimulus) for row in kept_since(FIX, "rtl/write.sv"))
    back = failing(9, *tests, seed=seed, since_fix=rows)
    archived(tmp_path, *PROVEN, back)
    assert len(keys(tmp_path)) == causes
    with WikiHistory(layout(tmp_path)) as history:
        (state,) = history.archive.fix_states((CAUSE,))
    assert (state.returned is None) == (causes == 2 or READ not in tests)
    assert build(layout(tmp_path), check=True).changed == []


@pytest.mark.parametrize(
    ("note", "changed", "causes"),
    [
        pytest.param("", "commit", 2, id="of files that were not read"),
        pytest.param("uncommitted changes in rtl/burst.sv", "commit", 1, id="that may be the fix"),
        pytest.param("", "uncommitted", 1, id="that are the fix"),
    ],
)
def test_a_seed_that_passed_with_a_fix_beside_uncommitted_changes(
    tmp_path: Path, note: str, changed: Change, causes: int
) -> None:
    """It shows another fault if, according to the record, these changes are no part of the fix."""
    (row,), (again,) = FIX.fixes, FIX.passed_again
    beside = replace(
        FIX,
        vcs=replace(FIX.vcs, dirty=True, changes="0" * 16, edited=("rtl/burst.sv",)),
        fixes=(replace(row, note=note),),
        passed_again=(replace(again, seed="5", changed=changed),),
    )
    rows = tuple(replace(each, same_stimulus=True) for each in kept_since(FIX, "rtl/write.sv"))
    archived(tmp_path, FIRST, beside, *nights("1", 3), failing(9, READ, seed="5", since_fix=rows))
    assert len(keys(tmp_path)) == causes
    assert build(layout(tmp_path), check=True).changed == []


@pytest.mark.parametrize(
    ("seed", "same_stimulus", "causes"),
    [
        pytest.param("9", False, 2, id="a new seed"),
        pytest.param("9", True, 2, id="a new seed, and nothing draws other values"),
        pytest.param("1", False, 1, id="a seed that has not passed since"),
        pytest.param("3", True, 2, id="a seed that passed with the fix"),
    ],
)
@pytest.mark.parametrize("passes", ["34", "345"])
def test_failures_in_every_run_before_a_fix_in_place_and_in_none_since_are_another_fault(
    tmp_path: Path, passes: str, seed: str, same_stimulus: bool, causes: int
) -> None:
    """Each night has other seeds."""
    rows = tuple(replace(row, same_stimulus=same_stimulus) for row in kept_since(HELD[2], "rtl/write.sv"))
    archived(tmp_path, *HELD[: 2 + len(passes)], failing(9, READ, seed=seed, since_fix=rows))
    with WikiHistory(layout(tmp_path)) as history:
        (state,) = history.archive.fix_states((CAUSE,))
    assert (len(keys(tmp_path)), state.fix.passes, state.fix.result) == (causes, len(passes), "open")
    assert build(layout(tmp_path), check=True).changed == []


@pytest.mark.parametrize("again", [READ, [READ, WRITE]], ids=["alone", "beside a new one"])
def test_a_test_that_fails_with_a_fix_in_place_that_held_has_another_fault(
    tmp_path: Path, again: str | list[str]
) -> None:
    tests = [again] if isinstance(again, str) else again
    back = failing(9, *tests, seed="9", since_fix=kept_since(HELD[2], "rtl/write.sv"))
    found = f"{CAUSE}/{back.task_id}"
    archived(tmp_path, *HELD, back, failing(10, READ, seed="10", since_fix=back.since_fix))
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {CAUSE: 2, found: 2}
    assert keys(tmp_path)[found]["regressed"] is None
    with WikiHistory(layout(tmp_path)) as history:
        (state,) = history.archive.fix_states((CAUSE,))
        assert (state.returned, state.fix.result) == (None, "held")
    assert build(layout(tmp_path), check=True).changed == []


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([*HELD, failing(9, READ, seed="9", since_fix=since(HELD[2], "rtl/write.sv"))], id="unknown"),
        pytest.param([*HELD, failing(9, READ, seed="9")], id="nothing changed"),
        pytest.param(
            [*HELD, failing(9, READ, seed="1", since_fix=kept_since(HELD[2], "rtl/write.sv"))],
            id="a seed that never passed",
        ),
        pytest.param(
            [*HELD[:3], failing(9, READ, seed="9", since_fix=kept_since(HELD[2], "rtl/write.sv"))], id="a single pass"
        ),
        pytest.param(
            [*HELD[1:], *nights("78", 7), failing(9, READ, seed="9", since_fix=kept_since(HELD[2], "rtl/write.sv"))],
            id="a single failure",
        ),
    ],
)
def test_a_fix_that_may_have_made_the_failure_rarer_is_no_evidence_of_another_fault(
    tmp_path: Path, runs: list[RunRecord]
) -> None:
    archived(tmp_path, *runs)
    assert set(keys(tmp_path)) == {CAUSE}


TB = Origin(type="TB_BUG", confidence=0.88, reasons=("among its sources, only testbench files changed",))
DECIDED = Origin(type="TB_BUG", confidence=0.95, reasons=("a person changed the type on its page: TB_BUG",))


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        pytest.param(TB, "UNKNOWN", id="the other side"),
        pytest.param(FIRST.occurrences[0].origin, "RTL_BUG", id="the same side"),
        pytest.param(Origin(type="UNKNOWN", confidence=0.0), "UNKNOWN", id="unknown"),
        pytest.param(DECIDED, "TB_BUG", id="a person says it"),
    ],
)
def test_a_page_whose_failures_before_and_after_a_fix_point_to_both_sides_names_none(
    tmp_path: Path, origin: Origin, told: str
) -> None:
    """They may be two faults."""
    back = failing(3, READ, seed="3")
    archived(tmp_path, FIRST, FIX, replace(back, occurrences=(replace(back.occurrences[0], origin=origin),)))
    assert [each["origin"] for each in keys(tmp_path).values()] == [told]
    both = "before the fix of 2026-11-21 pointed to the design, its last ones to the testbench: maybe two faults"
    assert (both in page(tmp_path, CAUSE)) == (origin is TB)
    assert build(layout(tmp_path), check=True).changed == []


@pytest.mark.parametrize(
    ("passed_with", "origin", "told"),
    [("same", TB, "UNKNOWN"), ("other", TB, "TB_BUG"), ("same", FIRST.occurrences[0].origin, "RTL_BUG")],
)
def test_a_page_whose_failures_came_with_changes_of_both_sides_names_none(
    tmp_path: Path, passed_with: PassSeed, origin: Origin, told: str
) -> None:
    """Also if no pass between them is on record: they may be two faults."""

    def came(number: int) -> FirstBad:
        good, bad = (f"{each:040x}" for each in (number - 1, number))
        return FirstBad(fingerprint=CAUSE, nodeid=READ, passed_with=passed_with, good=good, bad=bad, log_count=1)

    first, back = failing(2, READ, seed="1", first_bad=(came(2),)), failing(4, WRITE, seed="3", first_bad=(came(4),))
    archived(tmp_path, first, replace(back, occurrences=(replace(back.occurrences[0], origin=origin),)))
    assert [each["origin"] for each in keys(tmp_path).values()] == [told]
    both = "its failures from 0000000 on pointed to the design, its last ones to the testbench: maybe two faults"
    assert (both in page(tmp_path, CAUSE)) == (told == "UNKNOWN")
    assert build(layout(tmp_path), check=True).changed == []


@pytest.mark.parametrize("again", ["tests/test_fifo.py::test_fifo[9]", "tests/test_fifo.py::test_fifo[9]::fills"])
def test_a_cause_is_back_in_the_test_that_was_fixed_with_other_parameters(tmp_path: Path, again: str) -> None:
    """Also if tests inside a runner fail that failed as a whole before."""
    runner = "tests/test_fifo.py::test_fifo[8]"
    fix = mended(2, runner, "1", "rtl/read.sv")
    archived(tmp_path, failing(1, runner, seed="1"), fix, failing(3, again, seed="3"))
    with WikiHistory(layout(tmp_path)) as history:
        (state,) = history.archive.fix_states((CAUSE,))
    assert state.returned is not None


def test_a_record_of_elsewhere_has_the_cause_of_its_check_that_it_gets_here(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX)
    with Services(resolve(tmp_path), note=pytest.fail) as services:
        (cause,) = pipeline.causes_of_record(SECOND, services)
        assert (cause.name, cause.news, cause.page_to_read) == (FOUND, "NEW", None)
    archived(tmp_path, SECOND)
    with Services(resolve(tmp_path), note=pytest.fail) as services:
        for test, seed, name in ((WRITE, "3", FOUND), (READ, "1", CAUSE)):
            (cause,) = pipeline.causes_of_record(failing(4, test, seed=seed), services)
            assert (cause.name, cause.news) == (name, "KNOWN")
            assert cause.page_to_read == f".agent/wiki/bugs/{keys(tmp_path)[name]['id']}.md"


def test_what_was_never_fixed_is_one_cause(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, SECOND)
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {CAUSE: 2}


def test_later_failures_go_to_the_cause_of_their_tests(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX, SECOND, failing(4, WRITE, BURST, seed="4"), failing(5, READ, seed="1"))
    found = keys(tmp_path)
    assert {cause: each["hit_count"] for cause, each in found.items()} == {CAUSE: 2, FOUND: 2}
    with WikiHistory(layout(tmp_path)) as history:
        assert history.archive.fix_states((CAUSE,))[0].returned is not None


def test_a_third_fault_needs_evidence_against_both(tmp_path: Path) -> None:
    fix = mended(4, WRITE, "3", "rtl/write.sv", cause=FOUND)
    third = failing(
        5,
        BURST,
        seed="5",
        since_fix=since(FIX, "rtl/write.sv", "rtl/burst.sv") + since(fix, "rtl/burst.sv", passed=(READ, WRITE)),
    )
    archived(tmp_path, FIRST, FIX, SECOND, fix, third)
    assert set(keys(tmp_path)) == {CAUSE, FOUND, f"{CAUSE}/{third.task_id}"}
    assert all("passes_since" in each for each in keys(tmp_path).values())
    with WikiHistory(layout(tmp_path)) as history:
        assert [history.archive.fix_states((cause,))[0].returned for cause in (CAUSE, FOUND)] == [None, None]


def test_a_late_record_moves_an_occurrence_and_the_page_that_loses_it_leads_on(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX, SECOND)
    mine = layout(tmp_path).wiki / "bugs" / f"{keys(tmp_path)[FOUND]['id']}.md"
    mine.write_text(mine.read_text().replace(" has a workaround", " has a workaround: Said by a person."))
    # The failing test had failed before, on another branch.
    archived(tmp_path, failing(0, WRITE, seed="9"))
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {CAUSE: 3}
    text = mine.read_text()
    assert "Said by a person." in text
    keeper = keys(tmp_path)[CAUSE]["id"]
    assert f"This cause is on record at [{keeper}]({keeper}.md)" in text
    assert build(layout(tmp_path), check=True).changed == []


def test_a_late_record_tells_causes_apart_that_were_one(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, SECOND)
    archived(tmp_path, FIX)
    assert set(keys(tmp_path)) == {CAUSE, FOUND}
    assert build(layout(tmp_path), check=True).changed == []


def test_people_merge_the_two_pages_and_the_fix_of_one_is_stated(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX, SECOND)
    found = keys(tmp_path)
    merge(layout(tmp_path), *(f"bugs/{found[cause]['id']}.md" for cause in (FOUND, CAUSE)))
    assert {cause: each["hit_count"] for cause, each in keys(tmp_path).items()} == {FOUND: 2}
    assert build(layout(tmp_path), check=True).changed == []


def test_what_people_say_of_a_fix_stays_with_the_cause_that_they_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archived(tmp_path, FIRST, FIX, SECOND)
    found = keys(tmp_path)
    said = ["--text", "writes: ack later", "--root", str(tmp_path)]
    assert main(["fix", CAUSE, *said]) == 2
    assert "several fingerprints begin with this" in capsys.readouterr().err
    assert main(["fix", found[FOUND]["id"], *said]) == 0
    assert "writes: ack later" in page(tmp_path, FOUND)
    assert "writes: ack later" not in page(tmp_path, CAUSE)
    assert main(["fix", found[CAUSE]["id"], "--text", "reads: wait", "--root", str(tmp_path)]) == 0
    assert "reads: wait" in page(tmp_path, CAUSE)
    assert "reads: wait" not in page(tmp_path, FOUND)
    assert main(["fix", found[FOUND]["id"], "--take-back", "--root", str(tmp_path)]) == 0
    assert "writes: ack later" not in page(tmp_path, FOUND)
    assert build(layout(tmp_path), check=True).changed == []


def test_lint_finds_no_second_page_of_one_cause(tmp_path: Path) -> None:
    archived(tmp_path, FIRST, FIX, SECOND)
    assert [each for each in lint(layout(tmp_path), "full") if each.kind in {"duplicate_cause", "like"}] == []


# Order of archiving, and branches

DAY = [
    FIRST,
    FIX,
    SECOND,
    failing(4, WRITE, BURST, seed="4"),
    mended(5, WRITE, "4", "rtl/write.sv", cause=FOUND),
    failing(6, READ, seed="1"),
    mended(7, READ, "1", "rtl/read.sv", cause=f"{CAUSE}/{FIRST.task_id}"),
    failing_apart(8, [WRITE], [READ], seed="1"),
    failing_apart(9, [READ], [WRITE, BURST], seed="1"),
]


def kept(root: Path) -> dict[str, bytes]:
    """Return the bug and pattern pages, without pages that only link to others and without lines about those."""
    found = files(layout(root).wiki)
    pages = {name: data for name, data in found.items() if name.startswith(("bugs/", "patterns/"))}
    return {
        name: b"\n".join(
            line
            for line in data.split(b"\n")
            if b"has the same cause; what people" not in line and not line.startswith(b"aliases:")
        )
        for name, data in pages.items()
        if b'stale_reason: "same fingerprint"' not in data and not name.endswith("_index.md")
    }


def from_nothing(root: Path, records: Sequence[RunRecord]) -> dict[str, bytes]:
    """Return the pages that `build` makes from record files alone."""
    for each in records:
        write_record(layout(root).tasks, each)
    build(layout(root))
    return kept(root)


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    root = tmp_path_factory.mktemp("order")
    archived(root, *DAY)
    found = kept(root)
    assert build(layout(root), check=True).changed == []
    assert set(keys(root)) == {CAUSE, FOUND}
    return found


def test_pages_made_from_nothing_are_those_of_runs_archived_one_by_one(
    tmp_path: Path, in_order: dict[str, bytes]
) -> None:
    assert from_nothing(tmp_path, DAY) == in_order


def shuffled(seed: int) -> list[RunRecord]:
    return random.Random(seed).sample(DAY, len(DAY))


def assert_same_pages(root: Path, order: Sequence[RunRecord], expected: dict[str, bytes]) -> None:
    archived(root, *order)
    assert kept(root) == expected
    assert build(layout(root), check=True).changed == []


@pytest.mark.parametrize("seed", range(2))
def test_every_order_of_the_records_ends_in_the_same_pages(
    tmp_path: Path, in_order: dict[str, bytes], seed: int
) -> None:
    assert_same_pages(tmp_path, shuffled(seed), in_order)


def assert_same_pages_of_branches(
    root: Path, order: Sequence[RunRecord], ours: int, in_order: dict[str, bytes]
) -> None:
    """Check that merging two branches gives the pages of all records."""
    git(root, "init", "--quiet", "--initial-branch=main")
    (root / "README").write_text("a project\n", encoding="utf-8")
    commit(root)
    git(root, "checkout", "--quiet", "-b", "theirs")
    archived(root, *order[ours:])
    commit(root)
    git(root, "checkout", "--quiet", "main")
    archived(root, *order[:ours])
    commit(root)
    git(root, "merge", "theirs", check=False)
    assert build(layout(root)).refused == []
    assert kept(root) == in_order
    assert build(layout(root), check=True).changed == []


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "more")


@pytest.mark.parametrize(("seed", "ours"), [(1, 3), (2, 5), (3, 1)])
def test_every_partition_over_two_branches_ends_in_the_same_pages(
    tmp_path: Path, in_order: dict[str, bytes], seed: int, ours: int
) -> None:
    assert_same_pages_of_branches(tmp_path, shuffled(seed), ours, in_order)


@pytest.mark.further_mode
@pytest.mark.parametrize("seed", range(200))
def test_two_hundred_orders_and_partitions_end_in_the_same_pages(
    tmp_path: Path, in_order: dict[str, bytes], seed: int
) -> None:
    assert_same_pages(tmp_path / "order", shuffled(seed), in_order)
    (tmp_path / "branches").mkdir()
    assert_same_pages_of_branches(tmp_path / "branches", shuffled(seed), 1 + seed % (len(DAY) - 1), in_order)


# Tables after any order of records


_SAYS = {
    "occurrences": "fingerprint, moment, tests, regressed",
    "failed": "fingerprint, moment, nodeid, seed",
    "passed_again": "fingerprint, moment, nodeid",
    "fix_rows": "fingerprint, moment, number",
    "fix_states": "fingerprint, held, failed, newest, states",
    "fix_tests": "fingerprint, nodeid",
    "fix_commits": "fingerprint, name",
    "causes": "fingerprint, newest, pattern",
    "details": "fingerprint, moment",
    "newest_tests": "fingerprint, nodeid",
    "tallies": "subtype, kind, name, runs, tests",
    "proposals": "fingerprint, source, moment",
    "further": "fingerprint",
}


def told(archive_: Archive) -> dict[str, list[tuple[Any, ...]]]:
    return {
        table: sorted(archive_.db.execute(f"SELECT {columns} FROM {table}"), key=repr)  # noqa: S608 (constants)
        for table, columns in _SAYS.items()
    }


def taken_in(root: Path, *steps: Sequence[RunRecord]) -> dict[str, list[tuple[Any, ...]]]:
    """Return the tables after records arrived in several steps."""
    with Archive(layout(root).tasks, None) as one:
        for records in steps:
            for each in records:
                write_record(layout(root).tasks, each)
            one.refresh(verify=True)
        return told(one)


TESTS = (READ, WRITE, BURST)
SOURCES = ("rtl/read.sv", "rtl/write.sv", "rtl/burst.sv")


@st.composite
def histories(draw: st.DrawFn) -> list[RunRecord]:
    """Strategy for runs in which a check fails in some tests and passes in others, with or without evidence."""
    runs: list[RunRecord] = []
    for number in range(1, draw(st.integers(3, 8))):
        tests = draw(st.lists(st.sampled_from(TESTS), min_size=1, max_size=2, unique=True))
        seed = draw(st.sampled_from(("1", "2", "3", "4")))
        if draw(st.booleans()):
            changes = (
                [
                    SinceFix(fingerprint=CAUSE, since=each.task_id, files=(source,), file_count=1, passed=TESTS)
                    for each in draw(st.lists(st.sampled_from(runs), max_size=2, unique_by=lambda run: run.task_id))
                    if (source := draw(st.sampled_from(SOURCES)))
                ]
                if runs
                else []
            )
            lacks = (CAUSE,) if draw(st.integers(0, 9)) == 0 else ()
            gone = draw(st.lists(st.sampled_from(runs), max_size=1)) if runs and draw(st.integers(0, 3)) == 0 else []
            undone = tuple(Undone(fingerprint=CAUSE, task_id=each.task_id) for each in gone)
            facts = {"since_fix": tuple(changes), "undone": undone, "without_fix": lacks}
            if len(tests) > 1 and draw(st.booleans()):
                apart = failing_apart(number, tests[:1], tests[1:], seed=seed, **facts)
                second = apart.occurrences[1].fingerprint
                runs.append(replace(apart, undone=tuple(replace(row, fingerprint=second) for row in undone)))
            else:
                runs.append(failing(number, *tests, seed=seed, **facts))
        else:
            earlier = draw(st.sampled_from([None, *runs]))
            name = f"{CAUSE}/{earlier.task_id}" if earlier else CAUSE
            runs.append(mended(number, tests[0], seed, draw(st.sampled_from(SOURCES)), cause=name))
    return runs


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs=histories(), data=st.data())
def test_the_tables_say_the_same_in_whatever_steps_records_come(
    tmp_path_factory: pytest.TempPathFactory, runs: list[RunRecord], data: st.DataObject
) -> None:
    at_once = taken_in(tmp_path_factory.mktemp("once"), runs)
    one_by_one = taken_in(tmp_path_factory.mktemp("each"), *([each] for each in runs))
    assert one_by_one == at_once
    order = data.draw(st.permutations(runs))
    cut = data.draw(st.integers(0, len(runs)))
    assert taken_in(tmp_path_factory.mktemp("parts"), order[:cut], order[cut:]) == at_once


def hits(root: Path) -> dict[str, int]:
    return {name: metadata["hit_count"] for name, metadata in keys(root).items()}


def test_failures_of_one_check_in_one_run_may_have_two_causes(tmp_path: Path) -> None:
    first = failing_apart(1, [READ], [WRITE, BURST], seed="1")
    second = f"{CAUSE}/{first.task_id}/2"
    archived(tmp_path, first)
    assert hits(tmp_path) == {CAUSE: 1, second: 1}
    archived(tmp_path, failing_apart(2, [WRITE], [READ], seed="2"), failing(3, BURST, seed="3"))
    assert hits(tmp_path) == {CAUSE: 2, second: 3}
    archived(tmp_path, mended(4, WRITE, "2", "rtl/write.sv", cause=second), failing(5, READ, seed="3"))
    assert hits(tmp_path) == {CAUSE: 3, second: 3}
    assert "rtl/write.sv" in page(tmp_path, second)
    assert "rtl/write.sv" not in page(tmp_path, CAUSE)
    other = failing_apart(2, [WRITE], [READ], seed="2").occurrences[1].fingerprint
    with WikiHistory(layout(tmp_path)) as history:
        assert history.reference(CAUSE) == f"{CAUSE}/{first.task_id}"
        assert history.archive.present((other,)) == (CAUSE,)
    assert build(layout(tmp_path), check=True).changed == []


def test_of_causes_whose_failures_are_all_waived_a_build_makes_no_pages(tmp_path: Path) -> None:
    run = failing_apart(1, [READ], [WRITE], seed="1")
    waived = tuple(
        Waived(id="W-1", fingerprint=each.fingerprint, tests=(each.tests[0].nodeid,), reason="known")
        for each in run.occurrences
    )
    archived(tmp_path, replace(run, waived=waived), record(2, schema=2, commit=run.vcs.commit))
    assert build(layout(tmp_path)).changed == []
    assert keys(tmp_path) == {}
    archived(tmp_path, failing(3, WRITE, seed="1"))
    assert hits(tmp_path) == {run.occurrences[1].fingerprint: 2}
    assert build(layout(tmp_path), check=True).changed == []


def test_people_name_the_causes_of_one_check_as_pages_and_runs_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = failing_apart(1, [READ], [WRITE], seed="1")
    second = f"{CAUSE}/{first.task_id}/2"
    archived(tmp_path, first)
    ids = {name: metadata["id"] for name, metadata in keys(tmp_path).items()}
    for name, page_ in ((second, ids[second]), (f"{CAUSE.upper()}/{first.task_id}", ids[CAUSE])):
        assert main(["rerun", name, "--root", str(tmp_path)]) == 1
        assert page_ in capsys.readouterr().err
    for unknown in (f"{CAUSE}/{FIX.task_id}", f"{CAUSE}/{first.task_id}/3"):
        assert main(["fix", unknown, "--text", "reads: wait", "--root", str(tmp_path)]) == 2
    assert main(["merge", ids[CAUSE], second, "--root", str(tmp_path)]) == 0
    assert list(keys(tmp_path)) == [CAUSE]
    assert main(["merge", "--undo", f"{CAUSE}/{first.task_id}", second, "--root", str(tmp_path)]) == 0
    assert hits(tmp_path) == {CAUSE: 1, second: 1}


def test_a_failure_beside_another_of_its_check_may_be_ruled_out_for_an_open_cause(tmp_path: Path) -> None:
    run = failing_apart(2, [READ], [WRITE], seed="1")
    second = run.occurrences[1].fingerprint
    archived(tmp_path, FIRST, replace(run, undone=(Undone(fingerprint=second, task_id=FIRST.task_id),)))
    assert hits(tmp_path) == {CAUSE: 2, second: 1}


def test_a_cause_whose_changes_are_undone_is_another_one_without_a_pass_between(tmp_path: Path) -> None:
    undone = (Undone(fingerprint=CAUSE, task_id=FIRST.task_id),)
    again = failing(2, READ, seed="1", undone=undone)
    archived(tmp_path, FIRST, again, failing(3, READ, seed="1"))
    found = keys(tmp_path)
    assert {name: metadata["hit_count"] for name, metadata in found.items()} == {
        CAUSE: 1,
        f"{CAUSE}/{again.task_id}": 2,
    }


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.further_mode)], ids=len)
def test_two_hundred_partitions_say_the_same(tmp_path: Path, seeds: range) -> None:
    at_once = taken_in(tmp_path / "once", DAY)
    for seed in seeds:
        order, dice = shuffled(seed), random.Random(seed)
        first, second = sorted(dice.choices(range(len(DAY) + 1), k=2))
        parts = order[:first], order[first:second], order[second:]
        assert taken_in(tmp_path / str(seed), *parts) == at_once
