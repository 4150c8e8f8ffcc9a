"""Judge the fixes of a cause by the runs after them.

A fix starts with the first run in which a test passes after it failed with the cause, or with a statement about what
was done. Later passes and statements extend the same fix until the cause comes back; a pass of a test that failed after
the start is a separate fix. A pass has to be of the same test, on the same simulator, in the same build configuration
(`targets`). A fix is

* `open` at first;
* `held` once three later runs passed one of its tests, without the cause, and the passes are conclusive. A
  deterministic cause, which occurs with every seed (`kinds`), needs one pass;
* `failed` if the cause comes back before that in the same test on the same simulator. The fix stays `open` if something
  else may have brought the cause back: relevant sources or uncommitted changes since the fix, or another commit after
  conclusive passes or a pass with a failing seed.

A pass with the failing seed is conclusive, unless the test is intermittent with one seed or the stimulus generator
changed. Passes with other seeds are conclusive once the probability of as many passes by chance is below 5 %, at the
rate at which the test failed before (`chance`). Passes with the same seed and sources are counted once, unless the test
is intermittent. A seed that is not on record is taken to be different.

The rate starts with the first run on the sources that first showed the cause, or that brought it back after a proven
fix. Failures with the same seed are counted once. The cause may have been there before its first failure. So earlier
passes are included in the rate, up to the number that chance explains; more passes show that the cause is newer.

`held` and `failed` are final: a cause that comes back after its fix held has regressed, and the fix stays `held`. A
stated result (`held`, `failed`) is kept. The commits of a fix are determined at the first pass that proves it.

Passes come from a run's lists of tests (`suites`) and its `passed_again`. A pass is not a fix if the cause still makes
another test fail in the same run, or if the record says that nothing was changed that could have fixed it
(`PassedAgain.changed`). A failure does not show that the cause is back if the test has not passed with the fix, or if
it is on another simulator.
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
"""Changes between failure and pass that may have fixed the test."""
OF_EDITS = 2
"""Rank of a pass with uncommitted changes, or at an unrecorded commit, as proof of a fix."""
ANY_SEED = 3
"""Rank of a pass at a commit, but not with the failing seed, as proof of a fix."""
CERTAIN = 4
"""Rank of a pass at a commit with the failing seed, as proof of a fix; no later pass can strengthen it."""
UNRECORDED = "a change that is not on record"
"""Description of a fix that neither git nor a person describes."""
_RANK = {"git": 0, "agent": 1, "person": 2}
_RESULTS: dict[str | None, Result] = {"held": "held", "failed": "failed"}
_AUTHORS: dict[str | None, Literal["agent", "person"]] = {"agent": "agent", "person": "person"}
ROW = msgspec.json.Decoder(FixRow)
"""Decodes the rows of `fixes`, which the tables hold as JSON."""


class Step(Struct, frozen=True, kw_only=True):
    """An event that suggests a fix: a test that passed again, or a statement about what was done."""

    moment: str
    """Sort key of the run."""
    task_id: str
    date: str
    test: Target | None = None
    failed_seed: str | None = None
    """The seed of the failure before the pass; `UNKNOWN_SEED` if it is not on record."""
    same_seed: bool = False
    """Whether the pass repeated the failing seed and stimulus, or the failure does not depend on the seed."""
    seed_passed: bool = False
    """Whether the pass had the failing seed, even if the stimulus generator changed."""
    is_dirty: bool = False
    """Whether the passing run had uncommitted changes."""
    fix: Fix | None = None


class Return(NamedTuple):
    """An occurrence that shows that a cause came back."""

    moment: str
    time: str
    same_test: bool
    """Whether one of the fixed tests failed, on the simulator where it had passed; True if these tests are unknown."""
    other_sources: bool = False
    """Whether the failing run had another commit or other uncommitted changes than the passing one."""
    seed_had_passed: bool = False
    """Whether a test failed with a seed that had passed after the fix."""
    is_dirty: bool = False
    """Whether the failing run had uncommitted changes."""
    changed: bool = False
    """Whether relevant sources are known to have changed since the fix."""
    fix_in_place: bool | None = None
    """Whether the fix was still in the sources of the failing run; None if unknown."""


class Past(Struct, frozen=True, kw_only=True):
    """How a cause's tests behaved before its fix."""

    rate: Rate
    left_out: int = 0
    """Number of passes left out of the rate because they are older than the cause."""
    comes_and_goes: bool = False
    """Whether one of the tests is intermittent: it failed and passed with the same sources and seed."""


class PassingRun(Struct, frozen=True, kw_only=True):
    """A passing run of one of a cause's tests, after a fix."""

    task_id: str
    moment: str
    branch: str | None
    sources: str | None
    """The commit and uncommitted changes of the run; None if they are not on record."""


class FixState(Struct, frozen=True, kw_only=True):
    """A fix and its result."""

    fix: Fix
    task_id: str
    """The first run of the fix."""
    moment: str
    tests: tuple[Target, ...] = ()
    past: Past | None = None
    """The basis for the number of passes needed; None if a pass with the failing seed is enough."""
    failed_seed: str | None = None
    """The seed of the failure before the fix's newest pass; `UNKNOWN_SEED` if it is not on record."""
    seed_passed: bool = False
    """Whether a pass had the failing seed, even if the stimulus generator changed."""
    branches: tuple[str, ...] = ()
    """The branches of the fix's passes, sorted."""
    other_tests: int = 0
    """Number of other tests that failed with the cause."""
    other_passes: int = 0
    """How many of `other_tests` passed between the first and the last of the fix's passing runs."""

    @property
    def returned(self) -> str | None:
        """Return when the cause came back; None if it has not."""
        return self.fix.returned


STATES = msgspec.json.Decoder(list[FixState])
"""Decodes the fixes of a cause, which the tables hold as JSON."""


def judge(steps: Iterable[Step], records: CauseRecords) -> list[FixState]:
    """Group the steps of a cause into fixes and judge each fix.

    Later runs do not change a final result: it depends only on the runs before the fix and those that make it hold.

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
        # A statement by git is about the tests that passed in its run, not about the tests that failed last.
        tests = [step.test] if step.test else passing.get(step.moment) or list(records.last_failing(step.moment))
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
    """The steps of one fix."""

    returned: Return | None
    steps: list[Step]


def _group_of(
    step: Step, tests: Sequence[Target], groups: Sequence[_FixSteps], records: CauseRecords
) -> _FixSteps | None:
    """Return the fix that a step extends: one with the same test, or the first since `tests` last failed.

    None if the step starts a fix of its own.
    """
    last = [
        group
        for group in groups
        if (group.returned is None or group.returned.moment >= step.moment)
        and not records.failed_between(tests, group.steps[0].moment, step.moment)
    ]
    own = [group for group in last if step.test and any(each.test == step.test for each in group.steps)]
    return own[-1] if own else last[0] if last else None


def _earlier(one: Return | None, other: Return | None) -> Return | None:
    """Return the earlier of two returns of a cause; of two in the same run, prefer the one with `same_test`."""
    known = [each for each in (one, other) if each is not None]
    return min(known, key=lambda each: (each.moment, not each.same_test), default=None)


class _Since(Struct, frozen=True, kw_only=True):
    """When a cause appeared, as far as the records show."""

    came: str
    """Sort key of the first run on the sources that first showed the cause or, after a fix, brought it back."""
    absent: str = ""
    """Start of the period, ending at `came`, in which the cause was absent."""
    possible: str = ""
    """Sort key of the run since which the cause may have existed without being seen."""


def _after_return(before: _Since, state: FixState, came: str) -> _Since:
    """Return when a cause appeared again after a fix."""
    if state.past is None:
        # A certain fix shows that the cause was absent until `came`: earlier passes say nothing about its rate.
        return _Since(came=came, absent=came, possible=came)
    # A fix that held by the number of its passes may have been chance after all.
    return _Since(came=came, absent=state.moment, possible=before.came)


def _state(group: list[Step], presence: _Since, returned: Return | None, records: CauseRecords) -> FixState:
    """Judge one fix.

    Args:
        group: The steps of the fix.
        presence: When the cause appeared.
        returned: The occurrence that shows that the cause came back.
        records: The records of the cause.
    """
    first = group[0]
    tests = tuple(sorted({step.test for step in group if step.test}))
    failing = records.last_failing(first.moment)
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
    """Add the configurations that failed with the same tests and simulators, because a fix may change the build."""
    passed = {*tests}
    places = {test[:2] for test in passed}
    return tuple(sorted(passed.union(test for test in failing if test[:2] in places)))


def _past(tests: Sequence[Target], presence: _Since, group: list[Step], records: CauseRecords) -> Past | None:
    """Return the basis for the number of passes needed; None if a pass with the failing seed is proof."""
    before = group[0].moment
    comes_and_goes = records.comes_and_goes(tests, presence.possible, before)
    if not comes_and_goes and any(step.same_seed for step in group):
        return None
    rate = records.rate(tests, presence.came, before)
    unseen = records.rate(tests, presence.absent, presence.came).runs
    left_out = unseen - rate.passes_by_chance
    if left_out > 0:
        return Past(rate=rate.with_passes_by_chance(), left_out=left_out, comes_and_goes=comes_and_goes)
    return Past(rate=records.rate(tests, presence.possible, before), comes_and_goes=comes_and_goes)


def continued(states: list[FixState], records: CauseRecords) -> list[FixState]:
    """Add the passes of later runs to open fixes, if these runs have no other evidence about the cause."""
    return [state if state.fix.result != "open" or state.returned else _continued(state, records) for state in states]


def _continued(state: FixState, records: CauseRecords) -> FixState:
    runs = records.passing_runs(state.tests, state.moment, None, state.fix.needed, state.past)
    return _with_passes(state, runs, records, None, None)


def _with_passes(
    state: FixState, runs: Sequence[PassingRun], records: CauseRecords, returned: Return | None, stated: Result | None
) -> FixState:
    """Return a fix with its passes and result.

    Args:
        state: The fix.
        runs: The passing runs before the cause came back, at most as many as the fix needs.
        records: The records of the cause.
        returned: The occurrence that shows that the cause came back.
        stated: The stated result.
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
    """Return how many passing runs a fix needs to hold: the first and three more, and enough to rule out chance."""
    first = 1 if any(step.test and step.moment == group[0].moment for step in group) else 0
    return max(first + PASSES_TO_HOLD, rate.runs_needed if rate else 0)


def _stated(group: list[Step]) -> Result | None:
    """Return the result that was stated last; None if none was."""
    stated: list[Result] = [step.fix.result for step in group if step.fix and step.fix.result != "open"]
    return stated[-1] if stated else None


def _fix(group: list[Step], held_at: str | None, *, deterministic: bool) -> Fix:
    """Return the newest description of a fix from the best source: a person, then an agent, then git."""
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
    """Return the fix as git describes it at the first pass that proves it, or else at the first pass.

    None if git describes no fix. Passes after the fix held are ignored: they can only add unrelated commits. A fix made
    of uncommitted changes is described by the commits that later added the same files.
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
    """Return how strongly a pass proves a fix: `OF_EDITS`, `ANY_SEED`, `CERTAIN`, or 1 for no proof.

    Args:
        again: The pass.
        dirty: Whether the passing run had uncommitted changes, which may include the fix.
    """
    if again.changed not in PROVES:
        return 1
    if dirty or again.changed == "unrecorded":
        return OF_EDITS
    return CERTAIN if same_seed(again) else ANY_SEED


def same_seed(again: PassedAgain) -> bool:
    """Return whether a pass repeated the failing stimulus; a failure without a seed has only one stimulus."""
    if again.failed_seed is None:
        return not again.seed_unknown
    return again.seed == again.failed_seed and not again.new_stimulus


def is_fixed(states: Sequence[FixState]) -> bool:
    """Return whether a cause has not come back since its newest fix, in any test that was ever fixed."""
    if not states or states[-1].returned is not None or states[-1].fix.result == "failed":
        return False
    return all(state.returned is None or state.returned <= states[-1].fix.date for state in states)


def tally(states: Iterable[FixState]) -> tuple[int, int]:
    """Return how many fixes held and how many failed.

    A failed fix that only git describes is left out if its passes may be chance: its commits were perhaps never meant
    as a fix.
    """
    results = [state.fix.result for state in states if not state.fix.by_chance]
    return results.count("held"), results.count("failed")


def success_rate(held: int, failed: int) -> float | None:
    """Return the share of fixes that held, to two decimals; None if none has held or failed."""
    return round(held / (held + failed), 2) if held + failed else None


def stated_fix(row: FixRow, date: str) -> Fix:
    """Return the fix stated by a row of a record; values unknown to this version are ignored."""
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
