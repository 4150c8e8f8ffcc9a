"""Decides which statements about a cause are true, and in which order outputs show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from pytest_dvwiki.model import RunId
from pytest_dvwiki.records.command import with_seed
from pytest_dvwiki.records.kinds import is_deterministic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.causes.cause import Cause, Doubt, RuledOut
    from pytest_dvwiki.model import Attempt, Command, FirstBad, Fix, Occurrence, Waived
    from pytest_dvwiki.records.aggregate import CauseHistory
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.records.matrix import Split

Standing = Literal["held", "passing", "chance", "stated", "returned", "failed", "between", "elsewhere"]
"""The standing of a fix.

`held`: enough runs passed. `passing`: the passes rule out chance, but are not yet enough for `held`. `chance`: the
passes may be chance. `stated`: somebody stated the fix, and no run has passed since. `returned`: the cause came back
although the passes had ruled out chance. `failed`: the cause came back, and nothing shows that the fix ever worked.
`between`: the passes may be chance, and other changes since may have brought the cause back. `elsewhere`: the fix was
for other tests or simulators than the failing ones.
"""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One fact about a cause."""

    task_id: str = ""
    """The run whose record is the source; empty for the current run or a page."""


class AlreadyArchived(Statement, frozen=True, kw_only=True):
    """These artefacts were archived before."""

    archived_as: str


class Regressed(Statement, frozen=True, kw_only=True):
    """The cause came back after its page was closed or its fix held."""

    date: str
    closed: bool
    """True if the page was closed; False if a fix held."""


class Seen(Statement, frozen=True, kw_only=True):
    """Number and dates of a cause's occurrences, its status, and the results of its fixes."""

    runs: int
    tests: int
    first: str
    last: str
    status: str = ""
    """The status set by people; empty for `open`."""
    held: int = 0
    failed: int = 0
    before: bool = False
    """True if the current run is not included."""
    of_kind: bool = False
    """True if the numbers are for the whole failure subtype."""
    reports: int = 0
    """How many of the runs were only reported."""


class FixedBy(Statement, frozen=True, kw_only=True):
    """A fix and its standing."""

    fix: Fix
    standing: Standing
    is_back: bool = False
    """True if the cause came back after the fix held."""
    until: str = ""
    """When the cause came back; empty if it did not, or at an unknown time."""
    failed_since: str = ""
    """When other tests, or the same tests on other simulators, last failed after the fix; empty if they did not."""


class WithoutFix(Statement, frozen=True, kw_only=True):
    """The run's commit does not contain the newest fix."""


class Beside(Statement, frozen=True, kw_only=True):
    """The cause is a different fault from another cause of the same check."""

    page: str
    """The page of the other cause, or its name if it has no page; empty if both are new."""
    fix: Fix | None
    why: RuledOut = ""
    """Why the other cause cannot explain the failure; empty if that cause was fixed."""


class Infrastructure(Statement, frozen=True, kw_only=True):
    """The failure comes from a licence, a limit, a host or a file system."""

    jobs: int
    """Number of jobs in which the cause occurred."""
    hosts: tuple[str, ...]
    """The machines of these jobs, if known."""
    since: str


class Tracked(Statement, frozen=True, kw_only=True):
    """What people entered on the page: owner, tickets, and the section of the specification."""

    owner: str
    links: tuple[str, ...]
    spec_section: str = ""


class Accepted(Statement, frozen=True, kw_only=True):
    """A waiver accepts failures of the cause."""

    waived: Waived
    tests: int
    """Number of failing tests of the cause."""


class Came(Statement, frozen=True, kw_only=True):
    """The commits that introduced the cause or, if unknown, when it was first seen."""

    found: FirstBad
    again: bool = False
    """Whether the cause came back after a fix."""
    doubt: Doubt = ""
    """Why the failure of the current run may have another fault."""


class SeenOn(Statement, frozen=True, kw_only=True):
    """The values of a matrix axis with which tests fail with the cause, and those with which the same tests pass."""

    split: Split


class Advice(Statement, frozen=True, kw_only=True):
    """Advice for the failure subtype: a text, or a fix that held for another cause."""

    text: str = ""
    fix: Fix | None = None
    subtype: str = ""


class Unnamed(Statement, frozen=True, kw_only=True):
    """No pattern matches the failure."""


class Proposed(Statement, frozen=True, kw_only=True):
    """A fix that held for another cause of the same pattern and has not been tried here."""

    fix: Fix
    fingerprint: str
    pattern: str


class Reproduce(Statement, frozen=True, kw_only=True):
    """The command that reruns the last failing test, or the reason why there is none."""

    command: Command | None
    why_not: str = ""


class Unseeded(Statement, frozen=True, kw_only=True):
    """The seed may not reproduce the last failure, because a file draws random numbers without it."""

    file: str


class Compare(Statement, frozen=True, kw_only=True):
    """The command that reruns the last failing test with a passing seed, for comparison."""

    command: Command


class Flaky(Statement, frozen=True, kw_only=True):
    """A test failed and then passed in the run."""

    nodeid: str
    attempts: tuple[Attempt, ...]
    """The failed attempts in order, and the one that passed; empty if unknown."""
    flaky: int
    """Number of runs in which the test was flaky, including this one."""
    runs: int
    """Number of runs in which the test is known to have run, including this one."""


def statements(cause: Cause, now: str = "", *, dirty: bool = False) -> Iterator[Statement]:
    """Yield the statements about a cause, in reading order.

    Args:
        cause: The cause. If it is in the current run, its history ends before that run.
        now: When the current run ended; empty if the cause is only on record.
        dirty: True if the run had uncommitted changes, which may have removed a fix.
    """
    if cause.archived_as:
        yield AlreadyArchived(archived_as=cause.archived_as)
    if cause.news == "NEW":
        yield from _new(cause)
    elif cause.history is not None:
        yield from _known(cause, now, dirty=dirty)
    if cause.is_infrastructure:
        yield _infrastructure(cause, now)
    page = cause.page
    if page is not None and (page.owner or page.links or page.spec_section):
        yield Tracked(owner=page.owner, links=page.links, spec_section=page.spec_section)
    # For a cause in the current run, that run is the source.
    record = cause.history if cause.news is None else None
    newest = record.rows[0].task_id if record is not None else ""
    any_seed = is_deterministic(cause.occurrence)
    for split in cause.matrix:
        yield SeenOn(split=split._replace(seeds="same") if any_seed else split, task_id=newest)
    count = len(cause.tests)
    for waived in cause.waived:
        yield Accepted(waived=waived, tests=count, task_id=newest)
    if cause.first_bad is not None:
        task_id = record.first_bad_task if record is not None else ""
        found = cause.first_bad
        if cause.news is not None:
            after, newer = (
                tuple(each for each in tests if each in cause.tests)
                for tests in (found.passed_after, found.maybe_newer)
            )
            found = replace(found, passed_after=after, maybe_newer=newer)
        again = _is_back(cause, cause.first_bad)
        yield Came(found=found, again=again, doubt=cause.doubt, task_id=task_id)
    advice = _advice(cause)
    if advice is not None:
        yield advice
    if record is not None and record.proposal is not None:
        each = record.proposal
        yield Proposed(fix=each.fix, fingerprint=each.fingerprint, pattern=each.pattern, task_id=each.task_id)
    yield from _again(cause.occurrence, record, newest)


def _is_back(cause: Cause, found: FirstBad) -> bool:
    """Return whether a commit range is the one with which the cause came back after a fix."""
    if not cause.states or cause.fixed_elsewhere:
        return False
    undone = [state for state in cause.states if state.returned or state.fix.result == "failed"]
    first = next(iter(cause.states if cause.news is not None else undone), None)
    if first is None:
        return False
    history = cause.history
    if history is None or history.first_bad is None or history.first_bad.bad != found.bad:
        return True
    return history.first_bad_found >= first.fix.date


def _infrastructure(cause: Cause, now: str) -> Infrastructure:
    """Return the affected jobs and hosts, including those of the current run."""
    history, run = cause.history, cause.run_id or RunId()
    present = cause.news is not None and not cause.archived_as
    # A run without a job id counts as a job of its own.
    jobs = {*(history.jobs if history is not None else ()), *([run.job or ""] if present else [])}
    hosts = [*(history.hosts if history is not None else ()), *([run.host] if run.host else [])]
    since = history.first_seen if history is not None else now
    return Infrastructure(jobs=len(jobs), hosts=tuple(dict.fromkeys(hosts)), since=since)


def _new(cause: Cause) -> Iterator[Statement]:
    """Yield the statements about a new cause: what is known about its check and its subtype."""
    if cause.beside is not None:
        yield beside(cause.beside, cause.beside_why)
    elif cause.beside_why:
        yield Beside(page="", fix=None, why=cause.beside_why)
    kind = cause.subtype
    if kind is not None and kind.runs:
        yield Seen(
            runs=kind.runs,
            tests=kind.tests,
            first=kind.first_seen,
            last=kind.last_seen,
            held=kind.held,
            failed=kind.failed,
            before=True,
            of_kind=True,
        )


def beside(other: Cause, why: RuledOut = "") -> Beside:
    """Return the statement that a cause is a different fault from `other`, another cause of the same check.

    Args:
        other: The other cause.
        why: Why `other` cannot explain the failure; empty if it was fixed.
    """
    fix = other.newest_fix
    stands = fix is not None and fix.counts and fix.result != "failed" and not fix.returned
    page = other.page.path if other.page is not None else other.name
    return Beside(page=page, fix=fix if stands else None, why=why)


def _known(cause: Cause, now: str, *, dirty: bool) -> Iterator[Statement]:
    """Yield the statements about a cause on record."""
    history = cause.history
    assert history is not None  # noqa: S101  # for mypy: the caller asked
    newest = cause.newest_fix
    lasts = newest is not None and newest.result == "held"
    # In a run, the line about a fix that held says when the cause came back.
    if history.regressed is not None and (cause.news is None or (not lasts and cause.news == "KNOWN")):
        date, task = history.regressed
        yield Regressed(date=date, closed=cause.held_fix is None, task_id=task)
    if not (cause.archived_as and history.runs == 1):
        held, failed = cause.fix_counts
        status = cause.page.status if cause.page is not None else ""
        yield Seen(
            runs=history.runs,
            tests=history.tests,
            first=history.first_seen,
            last=history.last_seen,
            status=status.replace("_", " ") if status in {"closed", "wont_fix", "confirmed"} else "",
            held=held,
            failed=failed,
            before=cause.news is not None,
            reports=history.reports,
            task_id=history.rows[0].task_id,
        )
    yield from _fixes(cause, now, dirty=dirty)


def _fixes(cause: Cause, now: str, *, dirty: bool) -> Iterator[Statement]:
    """Yield the statements about the last fix that held, and about the newest fix."""
    if not cause.states:
        return
    newest = cause.undone or cause.states[-1]
    if cause.fixed_elsewhere:
        yield FixedBy(fix=newest.fix, standing="elsewhere", task_id=newest.task_id)
        return
    failing = cause.news is not None and not cause.archived_as
    for state in (newest, *reversed(cause.states)):
        if state.fix.result == "held":
            yield FixedBy(
                fix=_as_returned(state.fix, cause) if failing and state is newest else state.fix,
                standing="held",
                is_back=failing or state.fix.returned is not None,
                until=state.fix.returned or (now if failing else ""),
                failed_since=failed_since(cause, state),
                task_id=state.task_id,
            )
            break
    if cause.without_fix:
        yield WithoutFix()
    # If artefacts were read again, they may be older than the newest fix.
    elif newest.fix.result != "held" and not cause.archived_as:
        found = standing(newest, failing=failing)
        changed = cause.fix_in_place is False or cause.changed_since_fix or _came_after(newest, cause)
        innocent = dirty or newest.returned or (failing and changed)
        if found == "failed" and newest.fix.result == "open" and innocent:
            # Uncommitted changes, a later commit, or a revert of the fix may have brought the cause back.
            if not failing or newest.returned:
                return
            found = "between"
        since = failed_since(cause, newest)
        fix = _as_returned(newest.fix, cause) if failing else newest.fix
        yield FixedBy(fix=fix, standing=found, failed_since=since, task_id=newest.task_id)


def _came_after(state: FixState, cause: Cause) -> bool:
    """Return whether the cause was certainly introduced by a commit after the one that passed with the fix."""
    found = cause.first_bad
    return found is not None and found.is_certain and found.good in (state.fix.commits or ())[-1:]


def _as_returned(fix: Fix, cause: Cause) -> Fix:
    """Return the newest fix of a cause in the current run, with `in_place` set for that run."""
    return replace(fix, in_place=cause.fix_in_place)


def standing(state: FixState, *, failing: bool = False) -> Standing:
    """Return the standing of a fix.

    Args:
        state: The fix.
        failing: Whether tests of the fix fail in a run that is not on record yet.
    """
    fix = state.fix
    if fix.result == "held":
        return "held"
    if failing or fix.returned or fix.result == "failed":
        # The tests passed with the seed that failed, or often enough: another commit may have brought the cause back.
        return "returned" if fix.passes and (fix.counts or state.seed_passed) else "failed"
    if not fix.passes:
        return "stated"
    return "passing" if fix.counts else "chance"


def is_fixed_by(state: FixState, commit: str) -> bool:
    """Return whether passing runs show that a fix was made by a commit.

    Args:
        state: The fix.
        commit: Hash of the commit, at least seven digits.
    """
    fix = state.fix
    # If the simulation read nothing of some commits, the last commit may be one of these.
    last = () if fix.unread_count else (fix.commits or ())[1:]
    names = (*last, *(line.partition(" ")[0] for line in fix.likely))
    is_proven = standing(state) in {"held", "passing"} and not state.returned
    return is_proven and any(name.startswith(commit) or commit.startswith(name) for name in names if name)


def failed_since(cause: Cause, state: FixState) -> str:
    """Return when a cause last made other tests or simulators fail, after a fix that did not cover them.

    Empty if it never did, if the fix failed, or if the cause has come back or is present in the current run.
    """
    if cause.history is None or cause.news is not None or state.returned or state.fix.result == "failed":
        return ""
    last = next((row for row in cause.history.rows if not row.without_fix), None)
    return last.finished if last is not None and last.finished > state.fix.date else ""


def passes_since(cause: Cause) -> str:
    """Return the date of the newest fix if its passes prove it; otherwise empty."""
    state = cause.states[-1] if cause.states else None
    if state is None or state.returned or standing(state) not in {"held", "passing"} or failed_since(cause, state):
        return ""
    return state.fix.date if state.fix.passes else ""


def _advice(cause: Cause) -> Advice | Unnamed | None:
    """Return the advice for a cause, or the statement that no pattern matches.

    None if a fix has held for the cause, or if there is no advice.

    For a deterministic failure, such as a missing timescale, a fix that held for another cause is better advice than a
    general text. For failed checks it is not, because their causes are unrelated.
    """
    if cause.held_fix is not None:
        return None
    known = cause.subtype
    if known is not None and known.held_fix is not None and is_deterministic(cause.occurrence):
        return Advice(fix=known.held_fix, subtype=cause.occurrence.failure_subtype)
    if cause.advice:
        return Advice(text=cause.advice)
    return Unnamed() if cause.occurrence.error_class == "unknown" and cause.occurrence.pattern is None else None


def _again(newest: Occurrence, history: CauseHistory | None, task_id: str) -> Iterator[Statement]:
    """Yield the statements about rerunning the last failing test."""
    if newest.command is not None or newest.unreproducible:
        yield Reproduce(command=newest.command, why_not=newest.unreproducible, task_id=task_id)
    if newest.unseeded and not is_deterministic(newest):
        yield Unseeded(file=newest.unseeded, task_id=task_id)
    elif history is not None:
        yield from _compare(newest, history)


def _compare(newest: Occurrence, history: CauseHistory) -> Iterator[Compare]:
    """Yield the command that reruns the last failing test with a passing seed on the same simulator, if known."""
    command = newest.command
    if command is None:
        return
    ran_on = {test.simulator or "" for test in newest.tests if test.nodeid == command.test}
    passed = (each for each in history.unproven if each.nodeid == command.test and each.simulator in ran_on)
    found = next(passed, None)
    other = with_seed(command, found.seed) if found and found.failed_seed not in {None, found.seed} else None
    if found is not None and other is not None:
        yield Compare(command=other, task_id=found.task_id)
