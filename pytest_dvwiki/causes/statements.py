"""Statements about a cause: each fact is decided once, here, in reading order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import msgspec

from pytest_dvwiki.model import RunId
from pytest_dvwiki.records.command import with_seed
from pytest_dvwiki.records.kinds import is_deterministic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.model import Attempt, Command, FirstBad, Fix, Occurrence, Waived
    from pytest_dvwiki.records.aggregate import CauseHistory
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.records.matrix import Split

Standing = Literal["held", "passing", "chance", "stated", "returned", "failed", "elsewhere"]
"""The standing of a fix.

The fix `held`; its passes are more than chance but too few to call it held (`passing`); they may be chance (`chance`);
somebody stated it and no run has passed since (`stated`); the cause `returned` although the passes were more than
chance; it changed nothing (`failed`); or it fixed other tests or simulators than those that fail (`elsewhere`).
"""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One fact about a cause."""

    task_id: str = ""
    """The run whose record is the source; empty if the source is the current run or a page."""


class AlreadyArchived(Statement, frozen=True, kw_only=True):
    """The artefacts were read before."""

    archived_as: str


class Regressed(Statement, frozen=True, kw_only=True):
    """The cause came back after its page was closed, or after a fix had held."""

    date: str
    closed: bool
    """Whether its page was closed; if not, a fix had held."""


class Seen(Statement, frozen=True, kw_only=True):
    """The occurrences of a cause in numbers and dates, its status, and the outcomes of its fixes."""

    runs: int
    tests: int
    first: str
    last: str
    status: str = ""
    """The status that people gave; empty if it is `open`."""
    held: int = 0
    failed: int = 0
    before: bool = False
    """Whether the current run is not counted."""
    of_kind: bool = False
    """Whether the counts are for the whole failure subtype."""
    reports: int = 0
    """Number of the runs that are known only from a report."""


class FixedBy(Statement, frozen=True, kw_only=True):
    """A fix and what is known about it."""

    fix: Fix
    standing: Standing
    is_back: bool = False
    """Whether the cause returned after the fix had held."""
    until: str = ""
    """The time at which the cause came back, if known."""
    failed_since: str = ""
    """The time of the last failure since the fix, of other tests or on other simulators."""


class WithoutFix(Statement, frozen=True, kw_only=True):
    """The commit of the run does not contain the newest fix."""


class Beside(Statement, frozen=True, kw_only=True):
    """The cause differs from the fixed cause that the same check reported before."""

    page: str
    """The page of the fixed cause, or the name of that cause if it has no page."""
    fix: Fix | None


class Infrastructure(Statement, frozen=True, kw_only=True):
    """The cause comes from a licence, a limit, a host or a file system."""

    jobs: int
    """Number of jobs that the cause hit."""
    hosts: tuple[str, ...]
    """Machines of these jobs, as far as they are on record."""
    since: str


class Tracked(Statement, frozen=True, kw_only=True):
    """People say on the page who works on the cause, where, and which section of the specification it violates."""

    owner: str
    links: tuple[str, ...]
    spec_section: str = ""


class Accepted(Statement, frozen=True, kw_only=True):
    """People accept failures of the cause."""

    waived: Waived
    tests: int
    """Number of tests that fail with the cause."""


class Came(Statement, frozen=True, kw_only=True):
    """The commits with which the cause came."""

    found: FirstBad


class SeenOn(Statement, frozen=True, kw_only=True):
    """The values of a matrix axis on which the cause was seen, and the values on which its tests passed."""

    split: Split


class Advice(Statement, frozen=True, kw_only=True):
    """Advice on failures of the cause's subtype: in words, or as a fix of another cause of the subtype."""

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
    """The command that runs the last failure again, or why there is none."""

    command: Command | None
    why_not: str = ""


class Unseeded(Statement, frozen=True, kw_only=True):
    """The seed does not repeat the last failure, because a file draws stimulus without a seed."""

    file: str


class Compare(Statement, frozen=True, kw_only=True):
    """The command that runs the last failure again, but with a seed that passed, to compare the two runs."""

    command: Command


class Flaky(Statement, frozen=True, kw_only=True):
    """A test failed and then passed in the run."""

    nodeid: str
    attempts: tuple[Attempt, ...]
    """The failed attempts in order, then the attempt that passed; empty if they are not known."""
    flaky: int
    """Number of runs in which the test was flaky, including this run."""
    runs: int
    """Number of runs on record in which the test is known to have run, including this run."""


def statements(cause: Cause, now: str = "", *, dirty: bool = False) -> Iterator[Statement]:
    """Yield the statements about a cause, in reading order.

    Args:
        cause: The cause; if it has news, its history ends before the current run.
        now: The time at which the current run ended; empty if the cause is only on record.
        dirty: Whether the run had uncommitted changes, which may have undone a fix.
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
    # The source of a cause of the current run is the run itself.
    record = cause.history if cause.news is None else None
    newest = record.rows[0].task_id if record is not None else ""
    any_seed = is_deterministic(cause.occurrence)
    for split in cause.matrix:
        yield SeenOn(split=split._replace(seeds="same") if any_seed else split, task_id=newest)
    count = len(cause.tests)
    for waived in cause.waived:
        yield Accepted(waived=waived, tests=count, task_id=newest)
    if cause.first_bad is not None:
        yield Came(found=cause.first_bad, task_id=record.first_bad_task if record is not None else "")
    advice = _advice(cause)
    if advice is not None:
        yield advice
    if record is not None and record.proposal is not None:
        each = record.proposal
        yield Proposed(fix=each.fix, fingerprint=each.fingerprint, pattern=each.pattern, task_id=each.task_id)
    yield from _again(cause.occurrence, record, newest)


def _infrastructure(cause: Cause, now: str) -> Infrastructure:
    """Return which jobs and hosts a cause hit, with those of the current run."""
    history, run = cause.history, cause.run_id or RunId()
    present = cause.news is not None and not cause.archived_as
    # A run without an id of its job counts as a job of its own.
    jobs = {*(history.jobs if history is not None else ()), *([run.job or ""] if present else [])}
    hosts = [*(history.hosts if history is not None else ()), *([run.host] if run.host else [])]
    since = history.first_seen if history is not None else now
    return Infrastructure(jobs=len(jobs), hosts=tuple(dict.fromkeys(hosts)), since=since)


def _new(cause: Cause) -> Iterator[Statement]:
    """Yield the statements about a new cause: on its check, and on its subtype."""
    if cause.beside is not None:
        yield beside(cause.beside)
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


def beside(other: Cause) -> Beside:
    """Return the statement that a cause differs from the given one, which the same check reported."""
    fix = other.newest_fix
    stands = fix is not None and fix.result != "failed" and not fix.returned
    return Beside(page=other.page.path if other.page is not None else other.name, fix=fix if stands else None)


def _known(cause: Cause, now: str, *, dirty: bool) -> Iterator[Statement]:
    """Yield the statements about a cause on record."""
    history = cause.history
    assert history is not None  # noqa: S101  # for mypy: the caller asked
    newest = cause.newest_fix
    closed = newest is None or newest.result != "held"
    # In a run, the line of a fix that held tells since when the cause is back.
    if history.regressed is not None and (cause.news is None or (closed and cause.news == "KNOWN")):
        date, task = history.regressed
        yield Regressed(date=date, closed=closed, task_id=task)
    if not (cause.archived_as and history.runs == 1):
        held, failed = cause.ends_of_fixes
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
    """Yield the fix that held last, and the newest fix."""
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
                failed_since=_failed_since(cause, state),
                task_id=state.task_id,
            )
            break
    if cause.without_fix:
        yield WithoutFix()
    # Artefacts read again may be older than the newest fix.
    elif newest.fix.result != "held" and not cause.archived_as:
        found = standing(newest, failing=failing)
        changed = cause.fix_in_place is False or cause.changed_since_fix or _came_after(newest, cause)
        innocent = dirty or newest.returned or (failing and changed)
        if found == "failed" and newest.fix.result == "open" and innocent:
            return  # uncommitted changes, a later commit, or the end of the fix, may have brought it back
        since = _failed_since(cause, newest)
        fix = _as_returned(newest.fix, cause) if failing else newest.fix
        yield FixedBy(fix=fix, standing=found, failed_since=since, task_id=newest.task_id)


def _came_after(state: FixState, cause: Cause) -> bool:
    """Tell whether the cause certainly came with a commit after the one at which the fix was seen to pass."""
    found = cause.first_bad
    return found is not None and found.is_certain and found.good in (state.fix.commits or ())[-1:]


def _as_returned(fix: Fix, cause: Cause) -> Fix:
    """Return the newest fix of a cause that fails in the current run, with whether the run has that fix."""
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
        # It passed with the seed that failed, or often enough: another commit may have brought the cause back.
        return "returned" if fix.passes and (fix.counts or state.seed_passed) else "failed"
    if not fix.passes:
        return "stated"
    return "passing" if fix.counts else "chance"


def is_fixed_by(state: FixState, commit: str) -> bool:
    """Tell whether passing runs show that a commit is the commit of a fix.

    Args:
        state: The fix.
        commit: The commit, by seven or more of its digits.
    """
    fix = state.fix
    last = () if fix.unread_count else (fix.commits or ())[1:]  # this commit may be one that cannot matter
    names = (*last, *(line.partition(" ")[0] for line in fix.likely))
    is_proven = standing(state) in {"held", "passing"} and not state.returned
    return is_proven and any(name.startswith(commit) or commit.startswith(name) for name in names if name)


def _failed_since(cause: Cause, state: FixState) -> str:
    """Return the time of the last recorded failure since a fix; empty if there is none or the fix has failed."""
    if cause.history is None or cause.news is not None or state.returned or state.fix.result == "failed":
        return ""
    last = next((row for row in cause.history.rows if not row.without_fix), None)
    return last.finished if last is not None and last.finished > state.fix.date else ""


def passes_since(cause: Cause) -> str:
    """Return the time since which passes prove a cause fixed; empty if no passes do."""
    state = cause.states[-1] if cause.states else None
    if state is None or state.returned or standing(state) not in {"held", "passing"} or _failed_since(cause, state):
        return ""
    return state.fix.date if state.fix.passes else ""


def _advice(cause: Cause) -> Advice | Unnamed | None:
    """Return the advice for a cause for which no fix has held.

    For a kind that no seed can change, such as a missing time scale, a fix that held for another cause is better than
    words. A fix for one failed check says nothing about another.
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
    """Yield the statements about running the last failure again."""
    if newest.command is not None or newest.unreproducible:
        yield Reproduce(command=newest.command, why_not=newest.unreproducible, task_id=task_id)
    if newest.unseeded and not is_deterministic(newest):
        yield Unseeded(file=newest.unseeded, task_id=task_id)
    elif history is not None:
        yield from _compare(newest, history)


def _compare(newest: Occurrence, history: CauseHistory) -> Iterator[Compare]:
    """Yield the command that runs the last failure again, but with a seed that passed on the same simulator."""
    command = newest.command
    if command is None:
        return
    ran_on = {test.simulator or "" for test in newest.tests if test.nodeid == command.test}
    passed = (each for each in history.unproven if each.nodeid == command.test and each.simulator in ran_on)
    found = next(passed, None)
    other = with_seed(command, found.seed) if found and found.failed_seed not in {None, found.seed} else None
    if found is not None and other is not None:
        yield Compare(command=other, task_id=found.task_id)
