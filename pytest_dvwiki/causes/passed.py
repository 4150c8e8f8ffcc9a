"""Causes whose tests pass in a run: why they are fixed, or why the passes may be chance."""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.causes.statements import failed_since
from pytest_dvwiki.records.command import with_seed
from pytest_dvwiki.records.fixes import same_seed, stated_fix
from pytest_dvwiki.records.targets import ANY, build_of
from pytest_dvwiki.records.units import is_folder, parents_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.model import Change, Command, FailedTest, Fix, PassedAgain, RunRecord

NoProof = Literal["new stimulus", "comes and goes", "unknown seed", "other seed"]
"""Why a pass may be chance.

`new stimulus`: the stimulus generator changed too; `comes and goes`: the test both failed and passed with one seed;
`unknown seed`: the failing seed is not on record; `other seed`: the pass had a different seed.
"""


class Lasting(NamedTuple):
    """Causes whose newest fix holds or is proven because of the passes of a run."""

    held: tuple[str, ...] = ()
    """Causes whose fix now holds."""
    proven: tuple[str, ...] = ()
    """Causes whose fix is now proven, because chance is ruled out."""


class Passed(Struct, frozen=True, kw_only=True):
    """The findings about a cause whose tests pass again in a run."""

    word: Literal["FIXED", "PASSED", "HELD"]
    name: str
    cause: Cause | None
    """The cause as of the end of the run."""
    tests: tuple[str, ...] = ()
    """The tests that pass again; empty if only the number of passes changed."""
    fails_inside: tuple[str, ...] = ()
    """The units among `tests` that can be built or imported again, but contain a failing test."""
    fix: Fix | None = None
    """The newest fix if only the number of passes changed; otherwise the possible fix between failure and pass."""
    no_proof: NoProof | None = None
    """Why the passes may be chance in spite of a possible fix."""
    no_fix: Change | Literal["fails elsewhere"] | None = None
    """Why there is no fix; `fails elsewhere` if the cause still makes other tests fail."""
    on_record: Fix | None = None
    """The newest recorded fix of the passing tests, or else of the cause, with the number of passes so far."""
    pass_: PassedAgain | None = None
    """The most conclusive pass."""
    failing: Command | None = None
    """The command with the failing seed, if the pass had a different seed and proves nothing."""
    passing: Command | None = None
    """The command with the passing seed; None if `failing` is None."""


def passed(
    record: RunRecord | None,
    causes: Sequence[Cause],
    known: Mapping[str, Cause],
    lasting: Lasting,
    *,
    reported: Container[tuple[str, str]] = (),
    commands: Mapping[tuple[str, str, str | None], Command] = MappingProxyType({}),
    written: bool,
) -> Iterator[Passed]:
    """Yield the findings about each cause whose tests pass in a run.

    Args:
        record: The record of the run; None if there is none.
        causes: The causes of the run's failures.
        known: The causes as of the end of the run, by fingerprint: those with passing tests, and those with a lasting
            fix.
        lasting: Causes whose fix holds or is proven from this run on.
        reported: Test and cause of fixes that were reported before they were committed.
        commands: The commands of the last failures, by cause, test and simulator.
        written: Whether the run is on record, so that the records have the result of each fix.
    """
    if record is None:
        return
    rows = {row.fingerprint: stated_fix(row, record.finished) for row in record.fixes}
    failing: defaultdict[str, list[FailedTest]] = defaultdict(list)
    for present in causes:
        for test in present.occurrence.tests:
            for parent in parents_of(test.nodeid):
                failing[parent].append(test)
    groups: dict[str, list[PassedAgain]] = {}
    for each in record.passed_again:
        if (each.nodeid, each.fingerprint) in reported:
            continue
        page = known[each.fingerprint].page if each.fingerprint in known else None
        groups.setdefault(page.path if page is not None else each.fingerprint, []).append(each)
    for group in groups.values():
        fix = next((rows[each.fingerprint] for each in group if each.fingerprint in rows), None)
        name = group[0].fingerprint
        is_present = any(cause.name == name for cause in causes)
        found = _passed(group, fix, known.get(name), commands, is_present=is_present, written=written)
        inside = {each.nodeid for each in group if any(_is_inside(test, each) for test in failing.get(each.nodeid, ()))}
        yield replace(found, fails_inside=tuple(test for test in found.tests if test in inside))
    for name in (*lasting.held, *lasting.proven):
        if not any(each.fingerprint == name for group in groups.values() for each in group if name in rows):
            cause = known.get(name)
            fails = any(each.name == name for each in causes)
            fails |= cause is not None and bool(cause.states) and bool(failed_since(cause, cause.states[-1]))
            yield Passed(
                word="HELD" if name in lasting.held else "FIXED",
                name=name,
                cause=cause,
                fix=cause.newest_fix if cause is not None else None,
                no_fix="fails elsewhere" if fails else None,
            )


def _is_inside(test: FailedTest, again: PassedAgain) -> bool:
    """Return whether a failed test inside a test that passes again is from the same build.

    A folder may hold several designs, and a failure of one design says nothing about the build of another.
    """
    if again.simulator not in {None, test.simulator}:
        return False
    build, passed = build_of(test.config or ""), build_of(again.config or "")
    return not is_folder(again.nodeid) or not (build and passed) or build == passed


def _passed(
    again: Sequence[PassedAgain],
    fix: Fix | None,
    cause: Cause | None,
    commands: Mapping[tuple[str, str, str | None], Command],
    *,
    is_present: bool,
    written: bool,
) -> Passed:
    """Return the findings about a cause whose tests pass again.

    Args:
        again: The passes.
        fix: The changes between failure and pass, if they may be a fix.
        cause: The cause.
        commands: The commands of the last failures, by cause, test and simulator.
        is_present: Whether the cause still makes other tests of the run fail.
        written: Whether the records have the result of the fix.
    """
    on_record = _fix_of(again, cause)
    counts = on_record.counts if written and on_record is not None else any(map(same_seed, again))
    is_fixed = fix is not None and counts
    failing, passing = (None, None) if is_fixed else _both_seeds(again, cause, commands)
    return Passed(
        word="FIXED" if is_fixed else "PASSED",
        name=again[0].fingerprint,
        cause=cause,
        tests=tuple(dict.fromkeys(each.nodeid for each in again)),
        fix=fix,
        no_proof=None if is_fixed or fix is None else _no_proof(again[0]),
        no_fix=None if fix is not None else "fails elsewhere" if is_present else again[0].changed,
        on_record=on_record,
        pass_=again[0],
        failing=failing,
        passing=passing,
    )


def _fix_of(again: Sequence[PassedAgain], cause: Cause | None) -> Fix | None:
    """Return the newest fix of the passing tests, or else the newest fix of the cause."""
    passes = {(each.nodeid, simulator) for each in again for simulator in (each.simulator or "", ANY)}
    states = cause.states if cause is not None else ()
    theirs = (state for state in reversed(states) if any(test[:2] in passes for test in state.tests))
    state = next(theirs, states[-1] if states else None)
    return state.fix if state is not None else None


def _no_proof(again: PassedAgain) -> NoProof:
    if again.new_stimulus:  # the failing seed may now give another stimulus, so a pass with it proves nothing
        return "new stimulus"
    if same_seed(again):
        return "comes and goes"
    return "unknown seed" if again.seed_unknown else "other seed"


def _both_seeds(
    again: Sequence[PassedAgain], cause: Cause | None, commands: Mapping[tuple[str, str, str | None], Command]
) -> tuple[Command | None, Command | None]:
    """Return the commands with the failing and the passing seed; None for both if either is missing.

    The command of the cause's newest failure comes first, if its test passed on the same simulator.
    """
    shown, command = next(_with_commands(again, cause, commands), (None, None))
    if shown is None or shown.failed_seed in {None, shown.seed}:
        return None, None
    return with_seed(command, shown.failed_seed), with_seed(command, shown.seed)


def _with_commands(
    again: Sequence[PassedAgain], cause: Cause | None, commands: Mapping[tuple[str, str, str | None], Command]
) -> Iterator[tuple[PassedAgain, Command]]:
    """Yield passes with the command of the failure before them, if known; the cause's newest failure comes first."""
    newest = cause.command if cause is not None else None
    if cause is not None and newest is not None:
        ran_on = {test.simulator for test in cause.occurrence.tests if test.nodeid == newest.test}
        yield from ((each, newest) for each in again if each.nodeid == newest.test and each.simulator in ran_on)
    for each in again:
        if command := commands.get((each.fingerprint, each.nodeid, each.simulator)):
            yield each, command
