"""A fix is open, holds after three later passes, or fails if its cause returns before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from msgspec.structs import replace

from pytest_dvwiki.causes.words import fix_text
from pytest_dvwiki.model import Attempt, FailedTest, Fix, OtherTest, PassedAgain, SinceFix, Suite, Vcs
from pytest_dvwiki.records import aggregate, codec, fixes, store, subtype_history
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.sides import MAYBE_LATER
from pytest_dvwiki.records.targets import Target

from .. import samples
from ..samples import CAUSE, TEST, failed, fixed, occurrence, passing, record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import Change, RunRecord


def _judged(tasks: Path, *runs: RunRecord) -> list[fixes.FixState]:
    """Return the fixes after archiving the runs one by one, in the given order."""
    with Archive(tasks, None) as archive:
        for run in runs:
            store.write_record(tasks, run)
            archive.refresh()
        states = archive.fix_states((CAUSE,))
    with Archive(tasks, None) as fresh:
        fresh.refresh()
        assert fresh.fix_states((CAUSE,)) == states, "the order of arrival must not matter"
    return states


def _results(tasks: Path, *runs: RunRecord) -> list[str]:
    return [state.fix.result for state in _judged(tasks, *runs)]


def _ran(tasks: Path, number: int, *names: str, **changes: Any) -> RunRecord:
    store.write_suite(tasks, names)
    return record(number, suites=samples.suites(*names), **changes)


def test_the_first_pass_opens_a_fix(tmp_path: Path) -> None:
    (state,) = _judged(tmp_path, record(1, occurrence()), passing(2))
    assert state.fix.result == "open"
    assert state.fix.commits == (f"{1:040x}", f"{2:040x}")
    assert state.tests == (Target(TEST, "icarus"),)


def test_it_holds_after_three_later_passes(tmp_path: Path) -> None:
    runs = [record(1, occurrence()), passing(2), *(_ran(tmp_path, number, TEST) for number in (3, 4))]
    assert _results(tmp_path, *runs) == ["open"]
    assert _results(tmp_path, *runs, _ran(tmp_path, 5, TEST)) == ["held"]


def test_what_git_names_is_of_the_tests_that_passed(tmp_path: Path) -> None:
    """If the cause still fails on the simulator on which it failed last, the fix on another one does not fail."""
    there = replace(occurrence(), tests=(replace(failed(), simulator="ghdl"),))
    runs = [record(1, occurrence()), record(2, there), passing(3), record(4, there)]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.result, state.fix.files, state.returned) == ("open", ("rtl/fifo.sv",), None)
    assert state.tests == (Target(TEST, "icarus"),)


def test_a_simulator_that_passes_later_belongs_to_the_first_fix_since_it_failed(tmp_path: Path) -> None:
    """It does not count for a second fault at the same check, found by other tests and ended by another fix."""
    there = replace(failed(seed="3"), simulator="verilator")
    other = replace(failed(seed="5"), nodeid=f"{TEST}_again")
    runs = [record(1, occurrence(tests=(failed(), there))), passing(2)]
    again = samples.again(nodeid=other.nodeid, seed="5", failed_seed="5")
    runs += [record(3, occurrence(tests=(other,))), passing(4, passed_again=(again,))]
    last = samples.again(simulator="verilator", seed="3", failed_seed="3")
    first, second = _judged(tmp_path, *runs, passing(5, passed_again=(last,)))
    assert {test.simulator for test in first.tests} == {"icarus", "verilator"}
    assert second.tests == (Target(other.nodeid, "icarus"),)


def _fails(number: int) -> RunRecord:
    """Return a run in which the test fails with a new seed, at another time than before."""
    return record(number, occurrence(tests=(failed(seed=str(100 + number), sim_time=f"{number} ns"),)))


def _other_seed(number: int, seed: str = "7", **changes: Any) -> RunRecord:
    """Return a run in which the test passes again, with another seed than the failing one."""
    again = PassedAgain(
        nodeid=TEST, simulator="icarus", fingerprint=CAUSE, seed=seed, changed="commit", failed_seed="42"
    )
    return passing(number, **({"passed_again": (again,)} | changes))


def test_with_another_seed_it_holds_after_as_many_passes_as_leave_out_chance(tmp_path: Path) -> None:
    between = [_ran(tmp_path, number, TEST) for number in (2, 3, 4)]
    runs = [_ran(tmp_path, 0, TEST), record(1, occurrence()), *between, _other_seed(5)]
    runs += [_ran(tmp_path, number, TEST) for number in range(6, 18)]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.result, state.fix.counts, state.fix.passes, state.fix.needed) == ("open", False, 13, 14)
    assert state.past is not None
    assert (state.past.rate.failed, state.past.rate.runs, state.failed_seed) == (1, 5, "42")
    last = _ran(tmp_path, 18, TEST)
    (state,) = _judged(tmp_path, *runs, last)
    assert (state.fix.result, state.fix.counts, state.fix.held_in) == ("held", True, last.task_id)


def test_a_repair_that_changed_the_build_keeps_the_rate_of_the_build_that_failed(tmp_path: Path) -> None:
    def fails(number: int) -> RunRecord:
        test = failed(seed=str(100 + number), sim_time=f"{number} ns", config="aaaaaaaa0000")
        return record(number, occurrence(tests=(test,)))

    (again,) = _other_seed(4).passed_again
    built = replace(again, config="bbbbbbbb0000")
    (state,) = _judged(tmp_path, fails(1), fails(2), fails(3), _other_seed(4, passed_again=(built,)))
    assert state.past is not None
    assert (state.past.rate.failed, state.past.rate.runs, state.fix.needed_as_proof) == (3, 3, 3)
    assert {test.config for test in state.tests} == {"aaaaaaaa0000", "bbbbbbbb0000"}


def test_a_pass_with_the_sources_that_then_failed_counts_in_the_rate(tmp_path: Path) -> None:
    """A nightly job with a fixed seed passes, and one with a new seed fails."""
    same = Vcs(commit=f"{3:040x}", branch="main")
    good = [_ran(tmp_path, number, TEST) for number in (0, 1, 2)]
    night = [_ran(tmp_path, 3, TEST, vcs=same), replace(_fails(4), vcs=same), _fails(5)]
    (state,) = _judged(tmp_path, *good, *night, _other_seed(6))
    assert state.past is not None
    assert (state.past.rate.failed, state.past.rate.runs, state.fix.counts) == (2, 5, False)


@pytest.mark.parametrize(("seed", "result"), [("7", "open"), ("8", "failed")])
def test_a_seed_that_passed_after_a_fix_and_fails_at_a_later_commit_does_not_disprove_it(
    tmp_path: Path, seed: str, result: str
) -> None:
    back = record(3, occurrence(tests=(failed(seed=seed),)))
    assert _results(tmp_path, record(1, occurrence()), _other_seed(2), back) == [result]


def test_what_held_by_the_number_of_passes_may_have_come_after_the_first_of_them(tmp_path: Path) -> None:
    runs = [_ran(tmp_path, 0, TEST), record(1, occurrence()), _other_seed(2)]
    runs += [_ran(tmp_path, number, TEST) for number in range(3, 6)]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.result, state.fix.maybe_later) == ("open", False)
    (state,) = _judged(tmp_path, *runs, *(_ran(tmp_path, number, TEST) for number in range(6, 9)))
    assert (state.fix.result, state.fix.maybe_later) == ("held", True)
    same = Vcs(commit=f"{2:040x}", branch="main")
    nights = [_ran(tmp_path / "same", number, TEST, vcs=same) for number in range(3, 9)]
    (state,) = _judged(tmp_path / "same", *runs[1:3], *nights)
    assert (state.fix.result, state.fix.maybe_later) == ("held", False), "all of them passed at one commit"
    archived = [Vcs(commit=f"{number:040x}", branch="main", source_commit=same.commit) for number in range(3, 9)]
    nights = [_ran(tmp_path / "wiki", number, TEST, vcs=vcs) for number, vcs in enumerate(archived, start=3)]
    (state,) = _judged(tmp_path / "wiki", *runs[1:3], *nights)
    assert (state.fix.result, state.fix.maybe_later) == ("held", False), "the later commits only archived runs"
    store.write_suite(tmp_path / "proven", (TEST,))
    proven = _other_seed(5, seed="42")
    (state,) = _judged(
        tmp_path / "proven", *runs[:-1], proven, *(_ran(tmp_path / "proven", number, TEST) for number in range(6, 9))
    )
    assert (state.fix.result, state.fix.note) == ("held", "")


@pytest.mark.parametrize(("failing", "needed", "left_out"), [(1, 14, 36), (2, 4, 40)])
def test_of_passes_from_before_a_cause_came_in_no_more_count_than_chance_explains(
    tmp_path: Path, failing: int, needed: int, left_out: int
) -> None:
    runs = [_ran(tmp_path, number, TEST) for number in range(40)]
    runs += [_fails(40 + number) for number in range(failing)]
    (state,) = _judged(tmp_path, *runs, _other_seed(50))
    assert state.past is not None
    assert (state.fix.needed, state.past.left_out) == (needed, left_out)


def test_a_test_that_fails_now_and_then_is_never_fixed_by_what_came_between(tmp_path: Path) -> None:
    runs = [_ran(tmp_path, number, TEST) for number in range(40, 49)]
    for start in (50, 60, 70):
        runs += [_fails(start), _other_seed(start + 1)]
        runs += [_ran(tmp_path, number, TEST) for number in range(start + 2, start + 10)]
    states = _judged(tmp_path, *runs)
    assert [(state.fix.result, state.fix.counts) for state in states] == [
        ("failed", False),
        ("failed", False),
        ("open", False),
    ]
    assert states[-1].past is not None
    assert (states[-1].past.rate.failed, states[-1].past.rate.runs) == (3, 30)


def test_one_pass_with_the_seed_that_failed_settles_what_others_left_open(tmp_path: Path) -> None:
    runs = [record(1, occurrence()), _other_seed(2), _ran(tmp_path, 3, TEST), _ran(tmp_path, 4, TEST)]
    assert _results(tmp_path, *runs) == ["open"]
    again = PassedAgain(
        nodeid=TEST, simulator="icarus", fingerprint=CAUSE, seed="42", changed="commit", failed_seed="42"
    )
    assert _results(tmp_path, *runs, passing(5, passed_again=(again,))) == ["held"]


def test_a_pass_with_any_seed_settles_a_failure_without_one(tmp_path: Path) -> None:
    built = PassedAgain(nodeid=TEST, simulator="icarus", fingerprint=CAUSE, seed="42", changed="commit")
    before = [_ran(tmp_path, number, TEST) for number in range(9)]
    (state,) = _judged(tmp_path, *before, record(9, occurrence()), passing(10, passed_again=(built,)))
    assert (state.fix.counts, state.past) == (True, None)


def test_a_test_that_comes_and_goes_with_one_seed_needs_the_number_too(tmp_path: Path) -> None:
    by_itself = passing(2, changed="nothing")
    between = [_ran(tmp_path, number, TEST) for number in (3, 4)]
    runs = [record(1, occurrence()), by_itself, *between, record(5, occurrence()), passing(6)]
    runs += [_ran(tmp_path, number, TEST) for number in (7, 8, 9)]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.result, state.fix.counts, state.fix.needed) == ("open", False, 6)
    assert state.past is not None
    assert (state.past.rate.failed, state.past.rate.runs) == (2, 5)


def test_a_test_that_passed_at_a_second_attempt_needs_the_number_too(tmp_path: Path) -> None:
    rerun = _ran(tmp_path, 1, TEST, other=(OtherTest(nodeid=TEST, outcome="flaky"),))
    runs = [rerun, record(2, occurrence()), passing(3), *(_ran(tmp_path, number, TEST) for number in (4, 5, 6))]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.result, state.fix.needed) == ("open", 5)
    assert state.past is not None
    assert state.past.rate.runs == 1, "nobody knows with what it failed at first"


@pytest.mark.parametrize(
    ("attempts", "result"),
    [
        (((CAUSE, "42"), (None, "42")), "open"),
        (((CAUSE, None), (None, None)), "open"),
        (((CAUSE, "42"), (None, "7")), "held"),
        ((("b" * 12, "42"), (None, "42")), "held"),
    ],
    ids=["one seed", "no seed", "another seed", "another cause"],
)
def test_only_a_second_attempt_with_its_cause_and_seed_makes_a_test_come_and_go(
    tmp_path: Path, attempts: tuple[tuple[str | None, str | None], ...], result: str
) -> None:
    told = tuple(
        Attempt(outcome="failed" if fingerprint else "passed", fingerprint=fingerprint, seed=seed)
        for fingerprint, seed in attempts
    )
    rerun = _ran(tmp_path, 1, TEST, other=(OtherTest(nodeid=TEST, outcome="flaky", attempts=told),))
    runs = [rerun, record(2, occurrence()), passing(3), *(_ran(tmp_path, number, TEST) for number in (4, 5, 6))]
    assert _results(tmp_path, *runs) == [result]


@pytest.mark.parametrize(
    ("seeds", "commits", "passes"),
    [("7", [5], 1), ("7", range(3, 9), 7), (None, [5], 7), ("8", [5], 2)],
    ids=["seed and sources again", "other sources", "seed not on record", "another seed once"],
)
def test_a_pass_that_repeats_a_seed_on_the_same_sources_is_no_more_evidence(
    tmp_path: Path, seeds: str | None, commits: Sequence[int], passes: int
) -> None:
    store.write_suite(tmp_path, (TEST,))
    listed = tuple(replace(suite, seed=seeds) for suite in samples.suites(TEST))
    commits = [commits[number % len(commits)] for number in range(6)]
    again = [record(number, suites=listed, commit=f"{commit:040x}") for number, commit in enumerate(commits, start=3)]
    (state,) = _judged(tmp_path, record(1, occurrence()), _other_seed(2, commit=f"{5:040x}"), *again)
    assert (state.fix.passes, state.fix.result) == (min(passes, 5), "held" if passes >= 5 else "open")


@pytest.mark.parametrize(
    ("seeds", "passes"),
    [
        (lambda _: {TEST: ["1"], "other": ["2"]}, 2),
        (lambda night: {TEST: ["1"], "other": [str(night)]}, 2),
        (lambda _: {TEST: ["1", "2", "3"]}, 2),
        (lambda night: {TEST: ["1" if night % 2 else "2"], "other": ["3"]}, 3),
        (lambda night: {TEST: [str(night)], "other": ["1"]}, 5),
        (lambda _: {TEST: [None], "other": ["1"]}, 5),
        (lambda _: {TEST: ["7"], "other": ["1"]}, 1),
    ],
    ids=["fixed", "fixed among others", "several of one test", "two in turn", "new each night", "unknown", "as before"],
)
def test_a_list_that_ran_with_several_seeds_is_new_evidence_only_for_seeds_that_are_new_to_a_test(
    tmp_path: Path, seeds: Callable[[int], dict[str, list[str | None]]], passes: int
) -> None:
    runs = [record(1, occurrence()), _other_seed(2, commit=f"{5:040x}")]
    for night in range(3, 9):
        listed = seeds(night)
        hashes = store.seed_hashes((name, seed) for name, several in listed.items() for seed in several)
        suite = Suite(suite=store.write_suite(tmp_path, listed), simulator="icarus", seeds=hashes)
        runs.append(record(night, suites=(suite,), commit=f"{5:040x}"))
    (state,) = _judged(tmp_path, *runs)
    assert state.fix.passes == passes


def test_a_run_with_two_lists_of_tests_is_new_evidence_once(tmp_path: Path) -> None:
    """One seed for two simulators: the second night adds no evidence on either."""
    on = ("icarus", "ghdl")
    again = tuple(
        PassedAgain(nodeid=TEST, simulator=each, fingerprint=CAUSE, seed="7", changed="commit", failed_seed="42")
        for each in on
    )
    store.write_suite(tmp_path, (TEST,))
    listed = tuple(replace(suite, seed="7") for suite in samples.suites(TEST, simulators=on))
    failing = occurrence(tests=tuple(replace(failed(), simulator=each) for each in on))
    nights = [record(number, suites=listed, commit=f"{5:040x}") for number in range(3, 9)]
    (state,) = _judged(tmp_path, record(1, failing), passing(2, passed_again=again, commit=f"{5:040x}"), *nights)
    assert state.fix.passes == 1


def test_repeated_passes_count_for_a_test_that_comes_and_goes_with_one_seed(tmp_path: Path) -> None:
    store.write_suite(tmp_path, (TEST,))
    listed = tuple(replace(suite, seed="42") for suite in samples.suites(TEST))
    runs = [record(1, occurrence()), passing(2, changed="nothing", commit=f"{1:040x}"), record(3, occurrence())]
    runs += [passing(4), *(record(number, suites=listed, commit=f"{4:040x}") for number in range(5, 18))]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.needed, state.fix.passes, state.fix.result) == (4, 4, "held")


def test_a_test_that_failed_in_every_run_needs_three_later_passes_with_any_seed(tmp_path: Path) -> None:
    runs = [_fails(1), _fails(2), _other_seed(3)]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.result, state.fix.counts, state.fix.needed) == ("open", False, 4)
    runs += [_ran(tmp_path, number, TEST) for number in (4, 5)]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.result, state.fix.counts, state.fix.needed_as_proof) == ("open", True, 3)
    assert _results(tmp_path, *runs, _ran(tmp_path, 6, TEST)) == ["held"]


@pytest.mark.parametrize(
    ("times", "texts", "subtype", "proof"),
    [
        (("40 ns", "40 ns"), ("got 3", "got 3"), "scoreboard_fail", 1),
        (("40 ns", "50 ns"), ("got 3", "got 3"), "scoreboard_fail", 3),
        (("40 ns", "40 ns"), ("got 3", "got 4"), "scoreboard_fail", 3),
        ((None, None), ("got 3", "got 3"), "scoreboard_fail", 3),
        (("40 ns", "40 ns"), ("no end", "no end"), "timeout", 3),
    ],
    ids=["alike", "another time", "another value", "time not on record", "limit"],
)
def test_failures_alike_with_two_seeds_make_the_first_pass_a_proof(
    tmp_path: Path, times: tuple[str | None, ...], texts: tuple[str, ...], subtype: str, proof: int
) -> None:
    runs = [
        record(number, replace(occurrence(tests=(test,)), primary=text, failure_subtype=subtype))
        for number, (time, text) in enumerate(zip(times, texts, strict=True), start=1)
        for test in [replace(failed(seed=str(number)), sim_time=time)]
    ]
    (state,) = _judged(tmp_path, *runs, _other_seed(3))
    assert (state.fix.needed_as_proof, state.fix.counts) == (proof, proof == 1)


def test_a_number_of_passes_that_proved_wrong_makes_the_next_one_greater(tmp_path: Path) -> None:
    passes = [_ran(tmp_path, number, TEST) for number in range(3, 11)]
    runs = [record(1, occurrence()), _other_seed(2), *passes, record(11, occurrence()), _other_seed(12)]
    states = _judged(tmp_path, *runs)
    assert [(state.fix.result, state.fix.needed) for state in states] == [("held", 5), ("open", 14)]


def test_what_passed_while_a_fix_held_says_nothing_of_the_rate(tmp_path: Path) -> None:
    passes = [_ran(tmp_path, number, TEST) for number in range(3, 20)]
    runs = [record(1, occurrence()), passing(2), *passes, record(20, occurrence()), _other_seed(21)]
    states = _judged(tmp_path, *runs)
    assert [state.fix.result for state in states] == ["held", "open"]
    assert states[-1].past is not None
    assert (states[-1].past.rate.failed, states[-1].past.rate.runs) == (1, 1)


def test_what_passed_after_a_certain_fix_says_nothing_of_the_rate_of_what_a_later_commit_brought_back(
    tmp_path: Path,
) -> None:
    runs = [_fails(1), _fails(2), passing(3), _ran(tmp_path, 4, TEST), _fails(5), _fails(6), _other_seed(7)]
    states = _judged(tmp_path, *runs)
    assert [(state.fix.result, state.fix.counts) for state in states] == [("open", True), ("open", False)]
    assert states[-1].past is not None
    assert (states[-1].past.rate.failed, states[-1].past.rate.runs) == (2, 2)


def test_what_passed_after_a_fix_whose_passes_count_says_nothing_of_the_rate_of_the_next_fault(tmp_path: Path) -> None:
    passes = [_other_seed(3), *(_ran(tmp_path, number, TEST) for number in (4, 5))]
    states = _judged(tmp_path, _fails(1), _fails(2), *passes, _fails(6), _fails(7), _other_seed(8))
    assert [state.fix.counts for state in states] == [True, False]
    assert states[-1].past is not None
    assert (states[-1].past.rate.failed, states[-1].past.rate.runs) == (2, 2)


def test_what_passed_until_a_fix_was_undone_says_nothing_of_the_rate(tmp_path: Path) -> None:
    undone = SinceFix(fingerprint=CAUSE, since=_other_seed(2).task_id, in_place=False)
    back = replace(_fails(5), since_fix=(undone,))
    runs = [
        _fails(1),
        _other_seed(2),
        _ran(tmp_path, 3, TEST),
        _ran(tmp_path, 4, TEST),
        back,
        _fails(6),
        _other_seed(7),
    ]
    states = _judged(tmp_path, *runs)
    assert states[-1].past is not None
    assert (states[-1].past.rate.failed, states[-1].past.rate.runs) == (2, 2)


@pytest.mark.parametrize(
    ("seeds", "proof"),
    [
        (("42", "42", "42"), 5),
        (("42", "43", "42"), 3),
        ((None, None, None), 3),
        (("?", "?", "?"), 5),
    ],
    ids=["one seed", "two seeds", "no seed", "unknown"],
)
def test_a_seed_that_fails_again_tells_nothing_more_of_the_rate(
    tmp_path: Path, seeds: tuple[str | None, ...], proof: int
) -> None:
    tests = [replace(failed(seed=None), seed_unknown=True) if seed == "?" else failed(seed=seed) for seed in seeds]
    runs = [
        record(number, occurrence(tests=(replace(test, sim_time=f"{number} ns"),))) for number, test in enumerate(tests)
    ]
    (state,) = _judged(tmp_path, *runs, _other_seed(9))
    assert (state.fix.needed_as_proof, state.fix.needed) == (proof, max(4, proof))


def test_the_rate_is_over_all_tests_of_the_cause_that_pass_again(tmp_path: Path) -> None:
    both = occurrence(tests=(failed(seed="43"), failed("other", seed="43")))
    again = tuple(samples.again(nodeid=name, seed="7") for name in (TEST, "other"))
    runs = [record(1, occurrence()), record(2, both), _ran(tmp_path, 3, "other"), passing(4, passed_again=again)]
    (state,) = _judged(tmp_path, *runs)
    assert state.past is not None
    assert state.tests == (Target("other", "icarus"), Target(TEST, "icarus"))
    assert (state.past.rate.failed, state.past.rate.runs) == (2, 3)


@pytest.mark.parametrize(
    ("names", "failing", "rate"),
    [
        (("out/run1/x.xml::enc", "out/run2/x.xml::enc"), {2: 1, 3: 1, 4: 1}, (3, 6)),
        (("out/run1/x.xml::enc", "out/run2/x.xml::enc"), {2: 1, 3: 0, 4: 1}, (3, 6)),
        (("a/x.xml::enc", "b/x.xml::enc"), {2: 0, 3: 1, 4: 1}, (3, 6)),
        (("a/x.xml::enc", "b/x.xml::enc"), {2: 1, 3: 1, 4: 1}, (3, 3)),
        (("run1/x.xml::enc", "run2/y.xml::enc"), {2: 1, 3: 1, 4: 1}, (3, 3)),
        (("run1/x.xml::dec", "run2/x.xml::enc"), {2: 1, 3: 1, 4: 1}, (3, 3)),
        (("run1::enc", "run2::enc"), {2: 1, 3: 1, 4: 1}, (3, 3)),
        (("test_1.py::enc", "test_2.py::enc"), {2: 1, 3: 1, 4: 1}, (3, 3)),
    ],
    ids=["numbers", "in turn", "failed", "never failed", "file", "test", "design unknown", "modules"],
)
def test_a_test_that_runs_in_several_folders_counts_for_the_rate_in_each(
    tmp_path: Path, names: tuple[str, str], failing: dict[int, int], rate: tuple[int, int]
) -> None:
    runs = [
        _ran(tmp_path, number, *names, occurrences=(occurrence(tests=(failed(names[which], seed=str(100 + number)),)),))
        for number, which in failing.items()
    ]
    suite = _ran(tmp_path, 5, *names).suites
    runs.append(passing(5, passed_again=(samples.again(nodeid=names[1], seed="7"),), suites=suite))
    (state,) = _judged(tmp_path, *runs, *(_ran(tmp_path, number, *names) for number in range(6, 9)))
    assert state.past is not None
    assert (state.past.rate.failed, state.past.rate.runs) == rate
    assert (state.fix.passes, state.fix.counts) == (4, rate == (3, 3))
    (state,) = _judged(tmp_path, *runs, *(_ran(tmp_path, number, *names) for number in range(6, 10)))
    assert state.fix.counts


def test_a_test_in_another_folder_counts_although_only_one_of_them_shows_the_build(tmp_path: Path) -> None:
    """The second simulation of a run finds its design built, so its log has no command that builds it."""
    names = [f"out/run{number}/x.xml::enc" for number in (1, 2)]
    for name in names:
        store.write_suite(tmp_path, (name,))
    suites = [
        replace(samples.suites(name, simulators=("icarus",))[0], config=config)
        for name, config in zip(names, ("1234567800aa", None), strict=True)
    ]
    runs = [
        record(number, occurrence(tests=(failed(names[1], seed=str(100 + number)),)), suites=tuple(suites))
        for number in (1, 2, 3)
    ]
    again = samples.again(nodeid=names[1], seed="7")
    (state,) = _judged(tmp_path, *runs, passing(4, passed_again=(again,), suites=tuple(suites)))
    assert state.past is not None
    assert (state.past.rate.failed, state.past.rate.runs) == (3, 6)


def test_one_seed_in_several_folders_counts_once(tmp_path: Path) -> None:
    names = [f"out/run{number}/x.xml::enc" for number in (1, 2, 3)]
    store.write_suite(tmp_path, names)
    suites = tuple(replace(each, seed="5") for each in samples.suites(*names))
    tests = (failed(names[0], seed="8"), failed(names[1], seed="8"))
    runs = [record(number, occurrence(tests=tests), suites=suites, commit=f"{1:040x}") for number in (1, 2)]
    (state,) = _judged(
        tmp_path, *runs, passing(3, passed_again=(samples.again(nodeid=names[0], seed="7"),), suites=suites)
    )
    assert state.past is not None
    assert (state.past.rate.failed, state.past.rate.runs) == (1, 2)


def test_runs_that_prove_no_pass_do_not_count(tmp_path: Path) -> None:
    silent = [
        record(3),
        _ran(tmp_path, 4, "another test"),
        _ran(tmp_path, 5, TEST, other=(OtherTest(nodeid=TEST, outcome="skipped"),)),
        _ran(tmp_path, 6, TEST, occurrences=(occurrence("b" * 12),)),
    ]
    (state,) = _judged(tmp_path, record(1, occurrence()), passing(2), *silent)
    assert (state.fix.result, state.fix.passes) == ("open", 1)


@pytest.mark.parametrize(
    ("vcs", "result"),
    [
        (Vcs(commit=f"{2:040x}", branch="main"), "failed"),
        (Vcs(commit=f"{4:040x}", branch="main"), "open"),
        (Vcs(commit=f"{2:040x}", branch="main", dirty=True, changes="a" * 12), "open"),
    ],
)
def test_it_fails_when_the_cause_returns_with_its_sources(tmp_path: Path, vcs: Vcs, result: str) -> None:
    """A pass with the failing seed proved it; a later change may have brought the cause back."""
    runs = [record(1, occurrence()), passing(2), _ran(tmp_path, 3, TEST), record(4, occurrence(), vcs=vcs)]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.result, state.returned) == (result, "2026-11-21T04:10:00Z")


@pytest.mark.parametrize(("dirty", "result"), [(False, "failed"), (True, "open")])
def test_what_was_never_proven_fails_at_any_commit(tmp_path: Path, *, dirty: bool, result: str) -> None:
    vcs = Vcs(commit=f"{4:040x}", branch="main", dirty=dirty, changes="a" * 12 if dirty else None)
    runs = [record(1, occurrence()), _other_seed(2), record(4, occurrence(), vcs=vcs)]
    assert _results(tmp_path, *runs) == [result]


def _on(simulator: str, seed: str = "42") -> FailedTest:
    return replace(failed(seed=seed), simulator=simulator)


def _passes_on(number: int, simulator: str, **changes: Any) -> RunRecord:
    return passing(number, **({"passed_again": (replace(samples.again(), simulator=simulator),)} | changes))


def test_a_fix_that_another_simulator_shows_too_is_one_with_it(tmp_path: Path) -> None:
    runs = [
        record(1, occurrence(tests=(_on("icarus"), _on("verilator")))),
        _passes_on(2, "icarus"),
        _passes_on(3, "verilator", fixes=()),
        record(4, occurrence(tests=(_on("icarus"),)), commit=f"{2:040x}"),
        _passes_on(5, "icarus", fixes=(fixed(5, text="fifo: once more"),)),
    ]
    first, second = _judged(tmp_path, *runs)
    assert (first.fix.text, first.fix.result, first.fix.passes) == ("fifo: reset the read pointer", "failed", 2)
    assert (second.fix.text, second.task_id, second.fix.passes) == ("fifo: once more", runs[-1].task_id, 1)


def test_a_later_pass_on_another_simulator_leaves_a_fix_what_it_is(tmp_path: Path) -> None:
    store.write_suite(tmp_path, [TEST])
    runs = [record(number, occurrence(tests=(_on("icarus", str(number)),))) for number in (1, 2)]
    runs += [record(number, suites=samples.suites(TEST, simulators=("verilator",))) for number in (3, 4)]
    runs.append(record(5, occurrence(tests=(_on("verilator"),))))
    again = samples.again(seed="7")
    runs.append(_passes_on(6, "icarus", passed_again=(again,)))
    (state,) = _judged(tmp_path, *runs)
    assert state.past is not None
    assert (state.past.rate.failed, state.past.rate.runs) == (2, 2)
    runs.append(_passes_on(7, "verilator", passed_again=(replace(again, simulator="verilator"),)))
    (later,) = _judged(tmp_path, *runs)
    assert later.past == state.past


def test_each_test_that_failed_later_has_a_fix_of_its_own(tmp_path: Path) -> None:
    """The check of two tests reports several faults: a fix is not stated for a test that it did not make pass."""
    other = "tests/test_regs.py::test_regs::reset"
    there = replace(occurrence(), tests=(failed(other),))
    runs = [record(1, occurrence()), passing(2), *(_ran(tmp_path, number, TEST, other) for number in (3, 4, 5))]
    runs += [record(6, there), passing(7, nodeid=other), *(_ran(tmp_path, number, TEST, other) for number in (8, 9))]
    first, second = _judged(tmp_path, *runs)
    assert (first.fix.result, first.returned, first.tests) == ("held", None, (Target(TEST, "icarus"),))
    assert second.tests == (Target(other, "icarus"),)
    assert second.fix.commits is not None
    assert second.fix.commits[1] == f"{7:040x}"
    again = [*runs, record(10, occurrence())]
    first, second = states = _judged(tmp_path, *again)
    assert first.returned is not None
    assert second.returned is None
    assert not fixes.is_fixed(states)
    with Archive(tmp_path, None) as archive:
        archive.refresh()
        undone = [archive.undone((CAUSE,), [Target(name, "icarus")]) for name in (TEST, other)]
    assert [state.tests[0].nodeid for state in undone if state] == [TEST, other]
    states = _judged(tmp_path, *again, passing(11))
    assert [state.tests[0].nodeid for state in states] == [TEST, other, TEST]
    assert fixes.is_fixed(states)


def test_a_test_that_was_not_run_since_is_fixed_with_the_others(tmp_path: Path) -> None:
    other = "tests/test_regs.py::test_regs::reset"
    both = replace(occurrence(), tests=(failed(), failed(other)))
    (state,) = _judged(tmp_path, record(1, both), passing(2), passing(3, nodeid=other))
    assert [test.nodeid for test in state.tests] == sorted([TEST, other])
    assert state.fix.commits == (f"{1:040x}", f"{2:040x}")


def test_a_fix_that_held_keeps_its_merit_when_the_cause_returns_later(tmp_path: Path) -> None:
    passes = [_ran(tmp_path, number, TEST) for number in (3, 4, 5)]
    runs = [record(1, occurrence()), passing(2), *passes, record(6, occurrence()), passing(7)]
    runs.append(record(8, occurrence(), commit=f"{7:040x}"))
    states = _judged(tmp_path, *runs)
    assert [state.fix.result for state in states] == ["held", "failed"]
    shown = states[0].fix
    assert shown.commits == (f"{1:040x}", f"{2:040x}")
    assert fixes.success_rate(*fixes.tally(states)) == 0.5


def test_a_record_that_comes_late_is_judged_in_its_place(tmp_path: Path) -> None:
    late = [_ran(tmp_path, number, TEST) for number in (3, 4, 5)]
    runs = [record(1, occurrence()), passing(2), record(6, occurrence(), commit=f"{2:040x}")]
    assert _results(tmp_path, *runs) == ["failed"]
    assert _results(tmp_path, *runs, *late) == ["held"]


def test_a_pass_beside_a_failure_of_the_same_cause_is_no_fix(tmp_path: Path) -> None:
    both = record(
        2,
        occurrence(tests=(failed("other"),)),
        passed_again=(samples.again(changed="unrecorded", seed=None, failed_seed=None),),
    )
    assert _results(tmp_path, record(1, occurrence()), both) == []


@pytest.mark.parametrize("changed", ["seed", "nothing", "older", "branch"])
def test_a_pass_that_no_change_explains_is_no_fix_and_is_told(tmp_path: Path, changed: Change) -> None:
    assert _results(tmp_path, record(1, occurrence()), passing(2, changed=changed)) == []
    with Archive(tmp_path, None) as archive:
        archive.refresh()
        found = aggregate.cause(archive, (CAUSE,))
    assert found is not None
    assert [(each.nodeid, each.changed, each.seed) for each in found.unproven] == [(TEST, changed, "42")]


def test_a_pass_that_is_no_fix_is_found_by_a_former_name_of_the_cause(tmp_path: Path) -> None:
    renamed = replace(occurrence("b" * 12), fingerprint_v1=CAUSE)
    runs = [record(1, occurrence()), passing(2, changed="nothing"), record(3, renamed, fingerprint_version=2)]
    for run in runs:
        store.write_record(tmp_path, run)
    with Archive(tmp_path, None) as archive:
        archive.refresh()
        found = [aggregate.cause(archive, (name,)) for name in (CAUSE, "b" * 12)]
    assert [[each.nodeid for each in one.unproven] if one else None for one in found] == [[TEST], [TEST]]


@pytest.mark.parametrize("changed", ["commit", "uncommitted", "unrecorded"])
def test_any_other_pass_is_one(tmp_path: Path, changed: Change) -> None:
    assert _results(tmp_path, record(1, occurrence()), passing(2, changed=changed)) == ["open"]


def test_a_fix_tells_commits_files_and_the_run_that_made_it_hold(tmp_path: Path) -> None:
    later = [_ran(tmp_path, number, TEST) for number in (3, 4, 5, 6)]
    (state,) = _judged(tmp_path, record(1, occurrence()), passing(2), *later)
    assert (state.fix.log, state.fix.log_count) == ((f"{2:012x} fifo: reset the read pointer",), 1)
    assert (state.fix.files, state.fix.file_count) == (("rtl/fifo.sv",), 1)
    assert state.fix.held_in == later[2].task_id
    assert fix_text(state.fix) == "0000000 fifo: reset the read pointer"


def test_the_commit_follows_what_was_seen_in_the_working_tree_first(tmp_path: Path) -> None:
    at_first = fixed(2, text="uncommitted changes in rtl/fifo.sv", commits=["a" * 40, "a" * 40], log=[], log_count=0)
    runs = [record(1, occurrence()), passing(2, changed="uncommitted", fixes=(at_first,)), passing(3)]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.text, state.fix.commits) == ("fifo: reset the read pointer", (f"{1:040x}", f"{3:040x}"))
    assert state.fix.date == runs[1].finished


def test_a_person_who_names_no_commit_means_those_of_git(tmp_path: Path) -> None:
    told = record(3, fixes=({"fingerprint": CAUSE, "text": "the pointer had no reset", "by": "person"},))
    (state,) = _judged(tmp_path, record(1, occurrence()), passing(2), told)
    assert (state.fix.text, state.fix.by, state.fix.files) == ("the pointer had no reset", "person", ("rtl/fifo.sv",))
    assert state.fix.commits == (f"{1:040x}", f"{2:040x}")


def test_a_runner_whose_build_failed_passes_with_the_tests_inside_it(tmp_path: Path) -> None:
    runner = "tests/test_buffer.py::test_buffer"
    runs = [
        record(1, occurrence(tests=(failed(runner),))),
        passing(2, nodeid=runner),
        *(_ran(tmp_path, number, f"{runner}::fills", f"{runner}::drains") for number in (3, 4)),
        _ran(tmp_path, 5, f"{runner}::fills", occurrences=(occurrence("b" * 12, tests=(failed(f"{runner}::fills"),)),)),
        _ran(tmp_path, 6, f"{runner}_wide::fills"),
    ]
    (state,) = _judged(tmp_path, *runs)
    assert (state.fix.result, state.fix.passes) == ("open", 3)


def test_a_row_without_its_values_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    row = {"fingerprint": CAUSE, "text": None, "log": None, "by": "nobody known", "of": ["another", "version"]}
    read = codec.decode(yaml.safe_load(codec.encode(passing(2))) | {"fixes": [row]}, "a record")
    (state,) = _judged(tmp_path, record(1, occurrence()), read)
    assert (state.fix.text, state.fix.by, state.fix.commits, state.fix.log) == (fixes.UNRECORDED, "git", None, ())


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("by", ["git"], "fixes[0].by: expected a string or nothing, got a list"),
        ("result", {}, "fixes[0].result: expected a string or nothing, got keys with values"),
        ("takes_back", ["x"], "fixes[0].takes_back: expected a string or nothing, got a list"),
        ("commits", "1f0c", "fixes[0].commits: expected a list or nothing, got a string"),
        ("log", [7], "fixes[0].log[0]: expected a string, got a whole number"),
        ("log_count", "many", "fixes[0].log_count: expected a whole number or nothing, got a string"),
    ],
)
def test_a_damaged_row_is_told_with_its_place_and_the_other_runs_count(
    tmp_path: Path, key: str, value: object, told: str
) -> None:
    damaged = passing(2, fixes=({"fingerprint": CAUSE, key: value},))
    for run in (damaged, record(1, occurrence())):  # the newest one is not parsed
        store.write_record(tmp_path, run)
    with Archive(tmp_path, None) as archive:
        archive.refresh()
        found = aggregate.cause(archive, (CAUSE,))
        assert found is not None
        assert (found.runs, found.fixes) == (1, ())
        file = f"2026/11/{damaged.task_id}.yaml"
        assert archive.problems() == [f"{file}: {told}; a record never changes: restore it, for example from git"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"log": ("1f0c2aabb0f1 regs: ack",), "log_count": 1}, "1f0c2aa regs: ack"),
        ({"log": ("1f0c2aabb0f1 regs: ack",), "log_count": 40}, "aaaaaaa..bbbbbbb regs: ack"),
        (
            {"log": ("1f0c2aabb0f1 regs: ack", "2f0c2aabb0f1 tb"), "log_count": 3, "unread_count": 2},
            "1f0c2aa regs: ack, the only one of 3 commits that changes code known to be read",
        ),
        ({}, "bbbbbbb regs: ack"),
        ({"commits": ("a" * 40, "a" * 40)}, "regs: ack"),
        ({"commits": None}, "regs: ack"),
        ({"note": "uncommitted changes in tb.py"}, "uncommitted changes in tb.py, or bbbbbbb regs: ack"),
        ({"note": "dropping a.v", "maybe_later": True}, f"dropping a.v, or bbbbbbb regs: ack; {MAYBE_LATER}"),
        ({"maybe_later": True}, f"bbbbbbb regs: ack; {MAYBE_LATER}"),
    ],
)
def test_a_fix_in_short_begins_with_uncommitted_changes_or_its_commit(changes: dict[str, Any], told: str) -> None:
    fix = Fix(text="regs: ack", commits=("a" * 40, "b" * 40))
    assert fix_text(replace(fix, **changes)) == told


def test_a_pass_without_a_failure_before_is_no_fix(tmp_path: Path) -> None:
    assert _results(tmp_path, passing(1), record(2, occurrence())) == []


def test_what_a_person_said_is_the_text(tmp_path: Path) -> None:
    told = (
        {"fingerprint": CAUSE, "text": "from the log", "by": "git", "commits": ["1", "2"]},
        {"fingerprint": CAUSE, "text": "reset the pointer", "by": "person"},
    )
    (state,) = _judged(tmp_path, record(1, occurrence()), passing(2, fixes=told[:1]), record(3, fixes=told[1:]))
    assert (state.fix.text, state.fix.by, state.fix.commits) == ("reset the pointer", "person", ("1", "2"))


@pytest.mark.parametrize("result", ["held", "failed"])
def test_a_stated_result_stands(tmp_path: Path, result: str) -> None:
    told = ({"fingerprint": CAUSE, "text": "x", "by": "agent", "result": result},)
    assert _results(tmp_path, record(1, occurrence()), record(2, fixes=told)) == [result]


def test_the_rate_of_a_subtype_is_over_its_causes_and_what_was_stated(tmp_path: Path) -> None:
    other = "b" * 12
    stated = ({"failure_subtype": "scoreboard_fail", "text": "x", "by": "agent", "result": "held"},)
    runs = [
        record(1, occurrence(), occurrence(other, tests=(failed("other"),))),
        passing(2),
        passing(3, fingerprint=other, nodeid="other"),
        *(_ran(tmp_path, number, TEST) for number in (4, 5, 6)),
        record(7, occurrence(other, tests=(failed("other"),)), fixes=stated, commit=f"{3:040x}"),
    ]
    for run in runs:
        store.write_record(tmp_path, run)
    with Archive(tmp_path, None) as archive:
        archive.refresh()
        found = subtype_history.history_of(archive, "scoreboard_fail")
    assert found is not None
    assert (found.held, found.failed) == (2, 1)
    assert [fix.result for _, fix, _ in found.fixes] == ["held", "failed", "held"]
