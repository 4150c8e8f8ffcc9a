"""The outcomes of the fixes of a cause, judged by the runs that followed them.

A fix begins with the first run in which a test passes after it failed with the cause, or with the row in which somebody
states what was done. All passes and statements until the cause returns belong to the same fix, except a pass of a test
that failed after the fix began: another fix made that test pass. Only a pass of the same test on the same simulator in
the same build configuration counts (`targets`). A fix is

* `open` at first;
* `held` once three later runs passed one of its tests, the cause is absent from all of them, and the passes count; for
  a deterministic cause, which no seed can change (`kinds`), at the first pass;
* `failed` if the cause returns before that in the same test on the same simulator. It stays `open` if its passes count,
  or had the seed that failed or that fails now, and the cause returns at another commit. It also stays `open` if
  sources that may matter to the failure were changed since, or if the cause returns with uncommitted changes: these
  may have brought it back.

A pass counts if it has the seed that failed, unless the test comes and goes with one seed or the stimulus generator was
changed too. Passes with other seeds count once there are so many that chance explains them in less than 5 % of cases,
at the rate at which the test failed before (`chance`). A seed that passes again with the same sources counts once,
unless the test comes and goes with it. A seed that is not on record counts as another seed.

The rate begins with the first run on the sources in which the cause was first seen; after a fix that held or whose
passes count, on those in which it returned. A seed that fails again counts once. The cause may have been there before
that without a failure. So only as many of the earlier passes count as chance explains at that rate; more passes than
these show that the cause came in later.

`held` and `failed` are final: a cause that returns after its fix had held has regressed, and the fix stays `held`. A
row that states a result (`held`, `failed`) keeps it. The commits of a fix are those that git names at the first pass
that proves it; later passes add none.

A pass is known from the lists of tests of a run (`suites`) or from its `passed_again`; a run without either proves
nothing. Two kinds of passes are not a fix: a pass in a run in which the cause still fails another test, and a pass
whose record (`PassedAgain.changed`) says that nothing was changed that could have fixed it. A test that has not passed
since before the fix does not show that the cause is back, nor does a failure on another simulator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.model import Fix, FixRow
from pytest_dvwiki.records.chance import Rate  # noqa: TC001  # msgspec asks for it
from pytest_dvwiki.records.sides import MAYBE_LATER
from pytest_dvwiki.records.targets import Target  # noqa: TC001  # msgspec asks for it

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.model import Change, PassedAgain
    from pytest_dvwiki.records.cause_records import CauseRecords

PASSES_TO_HOLD = 3
Result = Literal["open", "held", "failed"]
PROVES: frozenset[Change] = frozenset({"commit", "uncommitted", "unrecorded"})
"""Differences between failure and pass that can make the pass a fix."""
OF_EDITS = 2
"""Strength of the proof that a pass gives after changes that no commit names."""
ANY_SEED = 3
"""Strength of the proof that a pass gives at a commit, with a seed other than the one that failed."""
CERTAIN = 4
"""Strength of the proof that a pass gives at a commit, with the seed that failed: no later pass adds proof."""
UNRECORDED = "a change that is not on record"
"""The text of a fix that neither git nor a person describes."""
_RANK = {"git": 0, "agent": 1, "person": 2}
_RESULTS: dict[str | None, Result] = {"held": "held", "failed": "failed"}
_AUTHORS: dict[str | None, Literal["agent", "person"]] = {"agent": "agent", "person": "person"}
ROW = msgspec.json.Decoder(FixRow)
"""Decodes the rows of `fixes`, which the tables hold as JSON."""


class Step(Struct, frozen=True, kw_only=True):
    """An event in a run that indicates a fix: a test that passed again, or a statement on what was done."""

    moment: str
    """Sort key of the run."""
    task_id: str
    date: str
    test: Target | None = None
    failed_seed: str | None = None
    """The seed of the failure before the pass; `UNKNOWN_SEED` if it is not on record."""
    same_seed: bool = False
    """True if the pass had the seed and stimulus that failed, or if no seed can change the failure."""
    seed_passed: bool = False
    """Whether the pass had the seed that failed, even if the stimulus generator may have changed."""
    is_dirty: bool = False
    """Whether the passing run had uncommitted changes."""
    fix: Fix | None = None


class Return(NamedTuple):
    """An occurrence that shows that a cause is back."""

    moment: str
    time: str
    same_test: bool
    """Whether one of the fixed tests itself failed, on the simulator on which it had passed after the fix."""
    other_sources: bool = False
    """True if the failure was at another commit than the pass, or if the uncommitted changes differ."""
    seed_had_passed: bool = False
    """Whether a test failed with the seed with which it had passed after the fix."""
    is_dirty: bool = False
    """Whether the failing run had uncommitted changes."""
    changed: bool = False
    """Whether sources that may matter to the failure are known to have changed since the fix."""
    fix_in_place: bool | None = None
    """Whether the sources of the failing run had the changes of the fix; None if unknown."""


class Past(Struct, frozen=True, kw_only=True):
    """The behaviour of a cause's tests before its fix."""

    rate: Rate
    left_out: int = 0
    """Number of passes that the rate leaves out because the cause had not come in yet."""
    comes_and_goes: bool = False
    """Whether one of the tests failed and passed with the same sources and seed."""


class PassingRun(Struct, frozen=True, kw_only=True):
    """A run in which a test of a cause passed, after the cause was fixed."""

    task_id: str
    moment: str
    branch: str | None
    sources: str | None
    """The commit and uncommitted changes of the run; None if they are not on record."""


class FixState(Struct, frozen=True, kw_only=True):
    """A fix and its result."""

    fix: Fix
    task_id: str
    """The run in which the fix first showed."""
    moment: str
    tests: tuple[Target, ...] = ()
    past: Past | None = None
    """The basis for the number of passes that the fix needs; None if a pass with the seed that failed is enough."""
    failed_seed: str | None = None
    """The seed of the failure before the fix's newest pass; `UNKNOWN_SEED` if it is not on record."""
    seed_passed: bool = False
    """Whether a pass had the seed that failed, even if the stimulus generator may have changed."""
    branches: tuple[str, ...] = ()
    """The branches of the fix's passes, sorted."""
    other_tests: int = 0
    """Number of other tests that had failed with the cause."""
    other_passes: int = 0
    """How many of `other_tests` passed in the runs that count as passes of the fix."""

    @property
    def returned(self) -> str | None:
        """Return the time at which the cause came back."""
        return self.fix.returned


STATES = msgspec.json.Decoder(list[FixState])
"""Decodes the fixes of a cause, which the tables hold as JSON."""


def judge(steps: Iterable[Step], records: CauseRecords) -> list[FixState]:
    """Group the steps of one cause into fixes and judge each.

    The verdict on a fix follows from the runs before it and from those that make it hold, so it stays the same however
    many runs come after.

    Args:
        steps: The steps in order of their runs.
        records: The records of the cause.

    Returns:
        The fixes, oldest first.
    """
    groups: list[_FixSteps] = []
    steps = list(steps)
    passing: dict[str, list[Target]] = {}
    for step in steps:
        if step.test:
            passing.setdefault(step.moment, []).append(step.test)
    for step in steps:
        # Git names commits for the tests that passed then; other tests may have failed last.
        tests = [step.test] if step.test else passing.get(step.moment) or list(records.failed_before(step.moment))
        back = records.returns(step.moment, tests)
        group = _group_of(step, tests, groups, records)
        if group is None:
            groups.append(_FixSteps(back, [step]))
        else:
            group.returned = _earlier(group.returned, back)
            group.steps.append(step)
    states: list[FixState] = []
    presence = _Since(came=records.came())
    for group in groups:
        state = _state(group.steps, presence, group.returned, records)
        states.append(state)
        if group.returned is None or state.fix.result == "failed":
            continue
        if state.fix.result == "held" or state.fix.counts or group.returned.fix_in_place is False:
            presence = _after_return(presence, state, records.since_sources(group.returned.moment))
    return states


class _FixSteps(Struct):
    """The steps that belong to one fix."""

    returned: Return | None
    steps: list[Step]


def _group_of(
    step: Step, tests: Sequence[Target], groups: Sequence[_FixSteps], records: CauseRecords
) -> _FixSteps | None:
    """Return the fix that a step belongs to: that of the step's test, else the first since `tests` failed; or None."""
    last = [
        group
        for group in groups
        if (group.returned is None or group.returned.moment >= step.moment)
        and not records.failed_between(tests, group.steps[0].moment, step.moment)
    ]
    own = [group for group in last if step.test and any(each.test == step.test for each in group.steps)]
    return own[-1] if own else last[0] if last else None


def _earlier(one: Return | None, other: Return | None) -> Return | None:
    """Return the earlier of two returns; if both are in one run, prefer the one with `same_test`."""
    known = [each for each in (one, other) if each is not None]
    return min(known, key=lambda each: (each.moment, not each.same_test), default=None)


class _Since(Struct, frozen=True, kw_only=True):
    """When a cause came in, as far as the records show."""

    came: str
    """Moment of the first run with the sources in which the cause was first seen or, after a fix, returned."""
    absent: str = ""
    """The moment from which the cause was absent until `came`."""
    possible: str = ""
    """The moment since which the cause may have been there all the time, seen or not."""


def _after_return(before: _Since, state: FixState, came: str) -> _Since:
    """Return when a cause came in again, after its fix had held or was certain."""
    if state.past is None:
        # A certain fix shows that the cause was absent until `came`: earlier passes say nothing about its rate.
        return _Since(came=came, absent=came, possible=came)
    # A fix that held by the number of its passes may have been chance after all.
    return _Since(came=came, absent=state.moment, possible=before.came)


def _state(group: list[Step], presence: _Since, returned: Return | None, records: CauseRecords) -> FixState:
    """Judge one fix.

    Args:
        group: The steps that belong to it.
        presence: When the cause came in.
        returned: The occurrence with which it returned.
        records: The records of the cause.
    """
    first = group[0]
    tests = tuple(sorted({step.test for step in group if step.test}))
    failing = records.failed_before(first.moment)
    # If a repair changed the build, a test passes in another configuration than the one that failed.
    tests = _with_failing(tests, failing) if tests else tuple(failing)
    deterministic = records.is_deterministic(first.moment)
    # Later passes, for example on another simulator, do not change how often these tests failed.
    at_first = {step.test for step in group if step.test and step.moment == first.moment}
    past = (
        None
        if deterministic
        else _past(_with_failing(at_first, failing) if at_first else tests, presence, group, records)
    )
    seeds = [step.failed_seed for step in group if step.failed_seed is not None]
    needed = 1 if deterministic else _needed(group, past.rate if past else None)
    runs = records.passing_runs(tests, first.moment, returned.moment if returned else None, needed, past)
    held_at = runs[-1].moment if len(runs) >= needed else None
    state = FixState(
        fix=replace(
            _fix(group, held_at, deterministic=deterministic),
            date=first.date,
            needed=needed,
            returned=returned.time if returned else None,
            in_place=returned.fix_in_place if returned else None,
        ),
        task_id=first.task_id,
        moment=first.moment,
        tests=tests,
        past=past,
        failed_seed=seeds[-1] if seeds else None,
        seed_passed=any(step.seed_passed for step in group),
    )
    return _with_passes(state, runs, records, returned, _stated(group))


def _with_failing(tests: Iterable[Target], failing: Iterable[Target]) -> tuple[Target, ...]:
    """Return the targets of passes, and the targets in which the same tests failed on the same simulators."""
    passed = {*tests}
    places = {test[:2] for test in passed}
    return tuple(sorted(passed.union(test for test in failing if test[:2] in places)))


def _past(tests: Sequence[Target], presence: _Since, group: list[Step], records: CauseRecords) -> Past | None:
    """Return the basis for the number of needed passes; None if a pass with the seed that failed is proof."""
    before = group[0].moment
    comes_and_goes = records.comes_and_goes(tests, presence.possible, before)
    if not comes_and_goes and any(step.same_seed for step in group):
        return None
    rate = records.rate(tests, presence.came, before)
    unseen = records.rate(tests, presence.absent, presence.came).runs
    left_out = unseen - rate.runs_needed + 1
    if left_out > 0:
        return Past(rate=rate.with_passes_by_chance(), left_out=left_out, comes_and_goes=comes_and_goes)
    return Past(rate=records.rate(tests, presence.possible, before), comes_and_goes=comes_and_goes)


def continued(states: list[FixState], records: CauseRecords) -> list[FixState]:
    """Return the fixes of a cause with the passes of later runs added to open fixes, if nothing else happened."""
    return [state if state.fix.result != "open" or state.returned else _continued(state, records) for state in states]


def _continued(state: FixState, records: CauseRecords) -> FixState:
    runs = records.passing_runs(state.tests, state.moment, None, state.fix.needed, state.past)
    return _with_passes(state, runs, records, None, None)


def _with_passes(
    state: FixState, runs: Sequence[PassingRun], records: CauseRecords, returned: Return | None, stated: Result | None
) -> FixState:
    """Return a fix with the passes that followed it and its result.

    Args:
        state: The fix.
        runs: The runs that passed one of the fix's tests until the cause returned, at most as many as the fix needs.
        records: The records of the cause.
        returned: The occurrence with which the cause returned.
        stated: The result that somebody stated.
    """
    enough = len(runs) >= state.fix.needed
    as_proof = state.past.rate.runs_needed if state.past is not None else 0
    counts = len(runs) >= as_proof
    # After a pass with the seed that failed, or enough passes, other sources may have brought the cause back.
    passed = bool(runs) and (counts or state.seed_passed)
    shown = returned is not None and returned.seed_had_passed and not (state.past and state.past.comes_and_goes)
    innocent = returned is not None and (
        returned.is_dirty or returned.changed or ((passed or shown) and returned.other_sources)
    )
    failed = returned is not None and returned.same_test and not innocent
    # The first passes alone may be chance, so any commit before the last needed pass may be the fix.
    sources = {run.sources for run in runs[:as_proof]} if counts and as_proof else {""}
    maybe_later = state.fix.by == "git" and (len(sources) > 1 or None in sources)
    result: Result = stated or ("held" if enough else "failed" if failed else "open")
    other_tests, other_passes = records.others(state.tests, runs)
    return replace(
        state,
        fix=replace(
            state.fix,
            result=result,
            counts=counts,
            maybe_later=state.fix.maybe_later or maybe_later,
            passes=len(runs),
            needed_as_proof=as_proof,
            proven_in=runs[as_proof - 1].task_id if counts and as_proof > 1 else None,
            held_in=runs[-1].task_id if result == "held" and enough else None,
        ),
        branches=tuple(sorted({run.branch for run in runs if run.branch})),
        other_tests=other_tests,
        other_passes=other_passes,
    )


def _needed(group: list[Step], rate: Rate | None) -> int:
    """Return how many passing runs a fix needs to hold: the first and three more, or more to rule out chance."""
    first = 1 if any(step.test and step.moment == group[0].moment for step in group) else 0
    return max(first + PASSES_TO_HOLD, rate.runs_needed if rate else 0)


def _stated(group: list[Step]) -> Result | None:
    """Return the result that somebody stated for a fix; None if nobody stated one."""
    stated: list[Result] = [step.fix.result for step in group if step.fix and step.fix.result != "open"]
    return stated[-1] if stated else None


def _fix(group: list[Step], held_at: str | None, *, deterministic: bool) -> Fix:
    """Return the fix as its best source describes it: a person, else an agent, else git; the newest of several."""
    stated = [step.fix for step in group if step.fix]
    span = _by_git(group, held_at, deterministic=deterministic)
    if not stated:
        return Fix(text=UNRECORDED)
    words = max(
        (fix for fix in reversed(stated) if fix.by != "git"),
        key=lambda fix: (bool(fix.text), _RANK[fix.by]),
        default=None,
    )
    if words is None or (span is not None and not words.text):
        words = span or words or stated[0]
    # If a statement names no commit, it means the commits that git names.
    span = words if words.commits or span is None else span
    return replace(
        words,
        text=words.text or UNRECORDED,
        commits=span.commits,
        log=span.log,
        log_count=span.log_count,
        unread_count=span.unread_count,
        files=span.files,
        file_count=span.file_count,
        restored=span.restored,
        note=span.note,
        maybe_later=span.maybe_later,
        owners=span.owners,
        authors=span.authors,
    )


def _by_git(group: list[Step], held_at: str | None, *, deterministic: bool) -> Fix | None:
    """Return the fix that git names at the first pass that proves it, else at the first pass.

    Passes after the fix held are left out: they could only add commits that are not part of it. If the fix was a set of
    uncommitted changes, git names the commits that later brought in the same files.
    """
    rows = [(step.moment, step.fix) for step in group if step.fix and step.fix.by == "git"]
    proven = {step.moment for step in group if step.test and (deterministic or step.same_seed) and not step.is_dirty}
    in_time = [row for row in rows if held_at is None or row[0] <= held_at] or rows[:1]
    found = next((fix for moment, fix in in_time if moment in proven), in_time[0][1] if in_time else None)
    if found is None or found.log:
        return found
    committed = (fix for _, fix in rows if fix.log and set(found.files) <= set(fix.files))
    return next(committed, found) if found.files else found


def proof(again: PassedAgain, *, dirty: bool) -> int:
    """Return how strongly a pass proves a fix: `OF_EDITS`, `ANY_SEED`, `CERTAIN`, or 1 if it proves nothing.

    Args:
        again: The pass.
        dirty: Whether the passing run had uncommitted changes; the fix may be among these.
    """
    if again.changed not in PROVES:
        return 1
    if dirty or again.changed == "unrecorded":
        return OF_EDITS
    return CERTAIN if same_seed(again) else ANY_SEED


def same_seed(again: PassedAgain) -> bool:
    """Return whether a pass had the stimulus that failed; a failure without a seed has only one stimulus."""
    if again.failed_seed is None:
        return not again.seed_unknown
    return again.seed == again.failed_seed and not again.new_stimulus


def is_fixed(states: Sequence[FixState]) -> bool:
    """Return whether a cause has not returned since its newest fix, in the tests of any of its fixes."""
    if not states or states[-1].returned is not None or states[-1].fix.result == "failed":
        return False
    return all(state.returned is None or state.returned <= states[-1].fix.date for state in states)


def tally(states: Iterable[FixState]) -> tuple[int, int]:
    """Return how many fixes held and how many failed.

    Commits before passes that may be chance were perhaps never meant as a fix, so they do not count as failed.
    """
    results = [state.fix.result for state in states if not state.fix.by_chance]
    return results.count("held"), results.count("failed")


def success_rate(held: int, failed: int) -> float | None:
    """Return the share of fixes that held, to two decimals; None if none has held or failed."""
    return round(held / (held + failed), 2) if held + failed else None


def stated_fix(row: FixRow, date: str) -> Fix:
    """Return the fix that a row of a record states; values unknown to this version count as missing."""
    log, files = row.log or (), row.files or ()
    return Fix(
        text=row.text or "",
        result=_RESULTS.get(row.result, "open"),
        commits=(row.commits[0], row.commits[-1]) if row.commits else None,
        by=_AUTHORS.get(row.by, "git"),
        date=date,
        log=log,
        log_count=max(row.log_count or 0, len(log)),
        unread_count=row.unread_count or 0,
        files=files,
        file_count=max(row.file_count or 0, len(files)),
        restored=row.restored or (),
        note=(row.note or "").removesuffix(MAYBE_LATER).removesuffix("; "),
        maybe_later=(row.note or "").endswith(MAYBE_LATER),
        owners=row.owners or (),
        authors=row.authors or (),
    )
