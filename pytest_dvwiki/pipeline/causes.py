"""Group failures and verdicts into causes, and compare them with the history."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pytest_dvwiki.capture.git.onset import known_or_new
from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.model import MOST_READ, FailedTest, Fix, LogReference, Occurrence, Onset
from pytest_dvwiki.records.command import chooses_by
from pytest_dvwiki.records.kinds import (
    DETERMINISTIC_CLASSES,
    is_beyond_sources,
    is_deterministic_kind,
    precedes_simulator,
    seed_is_unknown,
)
from pytest_dvwiki.records.sides import concerns
from pytest_dvwiki.redact import shorten_paths
from pytest_dvwiki.runs import EVER
from pytest_dvwiki.triage.changes import of_changes
from pytest_dvwiki.triage.missing import module_in
from pytest_dvwiki.triage.origin import FEWEST_SEEDS, knows_changes, of_definition, with_clues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.git.repository import Repository
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Clue, Command, Failure, FirstBad, News, Origin, Place, Vcs, Verdict
    from pytest_dvwiki.pipeline.returns import CauseOfRun

_DIFFS = 5
"""Maximum number of commit ranges examined for evidence of an origin."""
_MOST_COMMITS = 10
"""Maximum number of passing commits looked up in git."""
Member = tuple["Failure", "Verdict"]


class _Span(NamedTuple):
    """A range of commits from a passing to a failing run."""

    passed: str
    failed: str | None
    """Commit of the failure; None for the current state including uncommitted changes."""


def with_changes(
    failures: Sequence[Failure],
    verdicts: Sequence[Verdict],
    vcs: Vcs | None,
    history: History,
    repository: Repository,
    *,
    is_present: bool,
) -> tuple[Verdict, ...]:
    """Update the origins of verdicts with the changes before the failing test started to fail.

    Args:
        failures: All failures of the run.
        verdicts: The verdicts on the failures.
        vcs: The repository during the run. The changes are unknown if it has no commit, or had uncommitted changes that
            no longer exist.
        history: The archive before this run.
        repository: Lists the changed files.
        is_present: Whether the repository is unchanged since the run.
    """
    if vcs is None or vcs.commit is None or (vcs.dirty and not is_present):
        return tuple(verdicts)

    failed_at = vcs.commit

    @functools.cache
    def led_here(commit: str) -> bool:
        return commit == failed_at or repository.is_older(commit, failed_at)

    now = None if is_present else failed_at
    spans: dict[str, _Span | None] = {}
    changed: dict[_Span, tuple[str, ...]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        if verdict.follower or verdict.fingerprint in spans or len(changed) == _DIFFS:
            continue
        passed = _last_pass(failure, verdict, history, led_here)
        span = _came_in(verdict, history, led_here)
        if passed is not None and not (span is not None and repository.is_older(passed, str(span.failed))):
            span = _Span(passed, now)
        spans[verdict.fingerprint] = span
        if span is not None and span not in changed:
            changed[span] = repository.changed_since(*span)
    since = {
        name: (changed[span], repository.last_change(span.passed), None if span.failed == now else span.failed)
        for name, span in spans.items()
        if span and changed[span]
    }

    @functools.cache
    def changes(
        files: tuple[str, ...],
        passed: str,
        failed: str | None,
        reads: tuple[str, ...],
        *,
        in_simulator: bool,
        of_build: bool,
        lacking: str | None,
        is_defined: bool,
    ) -> tuple[Clue, ...]:
        reads = repository.with_removed(reads, passed, failed)
        if not _stays(_Span(passed, failed), files, vcs, reads, repository):
            return ()
        return of_changes(
            files,
            passed,
            failed,
            sources=reads,
            python_bench=in_simulator,
            of_build=of_build,
            lacking=lacking,
            is_defined=is_defined,
        )

    defining = functools.cache(repository.defining)

    def weighed(failure: Failure, verdict: Verdict) -> Verdict:
        module = module_in(verdict.primary) if _lacking(verdict) else None
        defined = defining(module, failed_at, failure.reads) if module else ""
        if module and defined:
            verdict = with_clues(verdict, [of_definition(module, defined)])
        if verdict.fingerprint not in since:
            return verdict
        clues = changes(
            *since[verdict.fingerprint],
            failure.reads,
            in_simulator=failure.in_simulator,
            of_build=verdict.error_class in DETERMINISTIC_CLASSES,
            lacking=_lacking(verdict),
            is_defined=bool(defined),
        )
        return with_clues(verdict, clues)

    return tuple(map(weighed, failures, verdicts))


def ranges_of(
    causes: Sequence[Cause], vcs: Vcs, history: History, repository: Repository
) -> tuple[dict[str, FirstBad], tuple[FirstBad, ...]]:
    """Return the commit ranges that introduced the causes of a run, and those that this run adds or narrows.

    A recorded range is left out if the later failures may have a different fault.

    Args:
        causes: The causes.
        vcs: The repository during the run.
        history: The archive before this run.
        repository: Lists the commits between two runs.
    """
    named = [
        replace(cause.occurrence, fingerprint=cause.name)
        for cause in causes
        if not is_beyond_sources(cause.occurrence) and not _is_another_return(cause)
    ]
    in_place = {cause.name: cause.fix_in_place for cause in causes}
    came, first_bad = known_or_new(named, vcs, history, repository, in_place)
    # A failure after a fix may be another fault than the one that an older range introduced.
    again_now = {each.name for each in causes if each.changed_since_fix and not _has_returned(each)}
    of_old = {each.name for each in causes if _precedes_fix(came.get(each.name), each.newest_fix, repository)}
    came = {
        name: found
        for name, found in came.items()
        if name not in of_old and (name not in again_now or found in first_bad)
    }
    return came, first_bad


def _has_returned(cause: Cause) -> bool:
    """Return whether an earlier run already showed that the cause came back after its newest fix."""
    return cause.newest_fix is not None and cause.newest_fix.returned is not None


def _precedes_fix(came: FirstBad | None, fix: Fix | None, repository: Repository) -> bool:
    """Return whether a range without commits ends before a fix, even one that may be chance.

    Such a range only shows when the check first failed, perhaps because of edits that are gone: it may be another
    fault.
    """
    if came is None or came.is_certain or fix is None or fix.commits is None:
        return False
    return came.bad == fix.commits[0] or repository.is_older(came.bad, fix.commits[0])


def _is_another_return(cause: Cause) -> bool:
    """Return whether the newest fix was reverted or restored since the cause came back: this may be another fault."""
    fix = cause.newest_fix
    known = {cause.fix_in_place, fix.in_place if fix is not None and fix.returned is not None else None}
    return known == {True, False}


def with_onset(
    cause: Cause, member: Member, vcs: Vcs, history: History, repository: Repository, *, root: Path
) -> Cause:
    """Update the origin of a cause with the commits that introduced it.

    `with_changes` uses recorded ranges, and ranges from a single pass that proves the cause absent. This function uses
    `first_bad`, which may need several passes as proof. If it is uncertain, or does not decide between design and
    testbench, the range since the last pass with any seed is used.

    Args:
        cause: The cause, with its `first_bad`.
        member: The most informative failure, with its verdict from `with_changes`.
        vcs: The repository during the run.
        history: The archive before this run.
        repository: Lists the changed files.
        root: Root of the project; paths below it are shown relative to it.
    """
    (failure, verdict), came = member, cause.first_bad
    if came is None or knows_changes(verdict):
        return cause
    onset = history.onset(cause.name) or Onset()
    if onset.comes_and_goes:
        return cause
    certain = _Span(came.good, came.bad) if came.is_certain else None
    for span, failures in (
        (certain, 0),
        _likely_span(cause, member, vcs, onset, history=history, repository=repository),
    ):
        if span is None:
            continue
        files, reads = repository.changed_since(*span), repository.with_removed(failure.reads, *span)
        if not _stays(span, files, vcs, reads, repository):
            continue
        clues = of_changes(
            files,
            repository.last_change(span.passed),
            None if span.failed in {None, vcs.commit} else span.failed,
            sources=reads,
            python_bench=failure.in_simulator,
            failures=failures,
            of_build=verdict.error_class in DETERMINISTIC_CLASSES,
            lacking=_lacking(verdict),
        )
        verdict = with_clues(verdict, clues)
        if knows_changes(verdict):
            break
    return replace(cause, occurrence=replace(cause.occurrence, origin=_origin(verdict, root)))


def _stays(span: _Span, files: Iterable[str], now: Vcs, reads: Sequence[str], repository: Repository) -> bool:
    """Return whether all changes of a recorded range are in the failing sources.

    If some were reverted, the original failure may be gone, and the check may fail because of another fault.

    Args:
        span: The range.
        files: The files changed in the range.
        now: The repository during the run.
        reads: Files that the failing simulation read; changes to other files are ignored.
        repository: Compares the sources.
    """
    if span.failed in {None, now.commit}:
        return True
    mattering = tuple(file for file in files if concerns(file, reads))
    changes = Fix(text="", commits=(span.passed, str(span.failed)), files=mattering, file_count=len(mattering))
    return not mattering or repository.keeps(changes, now) is True


def _lacking(verdict: Verdict) -> str | None:
    """Return the file that instantiates a missing module; None for any other failure."""
    return verdict.place.file if verdict.failure_subtype == "missing_module" and verdict.place is not None else None


def _likely_span(
    cause: Cause, member: Member, vcs: Vcs, onset: Onset, *, history: History, repository: Repository
) -> tuple[_Span | None, int]:
    """Return the range of commits that most likely introduced a cause, and the number of failing runs since.

    The range starts at the last pass with any seed. If only some seeds show the fault, that pass may be luck, so at
    least two runs with different seeds must have failed since, and none passed. A deterministic fault has no likely
    range, because any pass proves its absence.
    """
    failure, verdict = member
    if is_deterministic_kind(verdict, (failure,)):
        return None, 0
    failed, runs = onset.since.get(failure.nodeid, (0, 0))
    is_new = failure.seed is None or cause.history is None or failure.seed not in cause.history.seeds
    failures, end = failed + is_new, onset.commit or vcs.commit
    if failed < runs or failures < FEWEST_SEEDS or end is None:
        return None, 0
    is_edited = vcs.dirty and onset.commit is None
    if is_edited and repository.state() != vcs:
        return None, 0
    passes = dict.fromkeys(each.commit for each in history.last_passes(verdict, failure, onset.moment or EVER))
    passed = next((each for each in passes if each == end or repository.is_older(each, end)), None)
    return _Span(passed, None if is_edited else end) if passed else None, failures


def _came_in(verdict: Verdict, history: History, led_here: Callable[[str], bool]) -> _Span | None:
    """Return the recorded range that introduced a cause; None if it is unknown or uncertain.

    A range up to the current run is less precise: it includes later, unrelated changes, and needs a failing run with
    the seed of the last pass.
    """
    onset = history.onset(verdict.fingerprint)
    known = onset.first_bad if onset is not None and onset.moment is not None and not onset.comes_and_goes else None
    if known is None or not known.is_certain or not led_here(known.bad):
        return None
    return _Span(known.good, known.bad)


def _last_pass(failure: Failure, verdict: Verdict, history: History, led_here: Callable[[str], bool]) -> str | None:
    """Return the commit of the last pass that proves the cause absent; None if unknown.

    Args:
        failure: The test's failure.
        verdict: The verdict on the failure.
        history: The archive before this run.
        led_here: Returns whether a commit is the failing one or its ancestor; passes on other branches are ignored.
    """
    any_seed = is_deterministic_kind(verdict, (failure,)) or precedes_simulator(verdict, failure)
    if seed_is_unknown(verdict, failure) and not any_seed:
        return None
    passes = history.last_passes(verdict, failure)
    proving = dict.fromkeys(each.commit for each in passes if any_seed or each.seed == failure.seed)
    return next(filter(led_here, list(proving)[:_MOST_COMMITS]), None)


def causes_of(
    failures: Sequence[Failure],
    verdicts: Sequence[Verdict],
    history: History,
    *,
    root: Path,
    lacks: Callable[[Fix], bool],
    cause_of: Callable[[Occurrence], CauseOfRun],
    in_full: Callable[[Failure, Verdict], Verdict],
) -> tuple[Cause, ...]:
    """Return the causes of a run, most failures first.

    Args:
        failures: All failures of the run.
        verdicts: The verdicts on the failures.
        history: The archive before this run.
        root: Root of the project; paths below it are shown relative to it.
        lacks: Returns whether the commit of the run lacks a fix.
        cause_of: Returns the cause of an occurrence.
        in_full: Returns a verdict with the failure's own texts in place of those of a similar failure.
    """
    groups = _grouped(failures, verdicts)
    found = []
    for members in groups:
        members[0] = members[0][0], in_full(*members[0])
        occurrence = _occurrence(members, root)
        named = cause_of(occurrence)
        cause = _cause(occurrence, named, _without_root(members[0][1], root), history, lacks)
        if named.undone is not None and cause.undone is not None:
            cause = replace(cause, undone=named.undone, fix_in_place=False)
        found.append(cause)
    return tuple(found)


def _without_root(verdict: Verdict, root: Path) -> Verdict:
    """Return a verdict with the paths in its advice relative to the root."""
    return replace(verdict, fix=shorten_paths(verdict.fix, root)) if verdict.fix else verdict


def _grouped(failures: Sequence[Failure], verdicts: Sequence[Verdict]) -> list[list[Member]]:
    """Group failures by cause: causes with most failures first, and the most informative failure of each first."""
    groups: dict[str, list[Member]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        groups.setdefault(verdict.fingerprint, []).append((failure, verdict))
    for members in groups.values():
        members.sort(key=lambda member: (member[1].follower, member[0].nodeid, member[0].phase))
    return sorted(
        groups.values(),
        key=lambda members: (-len(members), members[0][1].error_class, members[0][0].nodeid, members[0][1].fingerprint),
    )


def _occurrence(members: Sequence[Member], root: Path) -> Occurrence:
    failure, verdict = members[0]
    shown = _to_reproduce(members)
    return Occurrence(
        fingerprint=verdict.fingerprint,
        error_class=verdict.error_class,
        failure_subtype=verdict.failure_subtype,
        pattern=verdict.pattern,
        origin=_origin(verdict, root),
        primary=shorten_paths(verdict.primary, root),
        tests=tuple(_failed_test(*member) for member in sorted(members, key=lambda member: member[0].nodeid)),
        excerpt=shorten_paths(verdict.excerpt, root),
        log=_log(failure, verdict),
        ip_type=failure.ip_type,
        reads=tuple(dict.fromkeys(path for one, _ in members for path in one.reads))[:MOST_READ],
        fingerprint_v1=verdict.fingerprint_v1,
        place=_place(verdict.place, root),
        command=replace(shown.command, test=shown.nodeid) if shown.command is not None else None,
        unreproducible=shown.unreproducible,
        quickest=_quickest(members, shown),
        unseeded=shown.unseeded or None,
    )


def _log(failure: Failure, verdict: Verdict) -> LogReference | None:
    """Return a reference to the log with the first cause, or else to the simulation's log."""
    if verdict.source != "log" or verdict.decided_by:
        return failure.log
    if verdict.path is None:
        return None
    sha256 = next((each.sha256 for each in failure.excerpts if each.path == verdict.path), None)
    return LogReference(path=verdict.path, line=verdict.line, sha256=sha256)


def _origin(verdict: Verdict, root: Path) -> Origin:
    return replace(verdict.origin, reasons=tuple(shorten_paths(reason, root) for reason in verdict.origin.reasons))


def _quickest(members: Sequence[Member], shown: Failure) -> Command | None:
    """Return the command of the quickest test that shows the cause; None if it is shown already."""
    timed = [one for one, verdict in members if one.command is not None and one.duration_s > 0 and not verdict.follower]
    found = min(timed, key=lambda failure: (failure.duration_s, failure.nodeid), default=shown)
    if found.command is None or found.nodeid == shown.nodeid:
        return None
    return replace(found.command, test=found.nodeid)


def _to_reproduce(members: Sequence[Member]) -> Failure:
    """Return the failure with the simplest rerun command, preferably one that shows the cause itself."""
    return min(
        members,
        key=lambda member: (
            member[0].command is None,
            member[1].follower,
            not _runs_alone(member[0]),
            "[" in member[0].nodeid,
            len(member[0].nodeid),
            member[0].nodeid,
            member[0].phase,
        ),
    )[0]


def _runs_alone(failure: Failure) -> bool:
    """Return whether the command runs a single test of a simulation."""
    return failure.command is not None and chooses_by(failure.command) is not None


def _place(place: Place | None, root: Path) -> Place | None:
    """Return the location that reported a cause, with paths relative to the root."""
    if place is None:
        return None
    return replace(place, file=shorten_paths(place.file, root), words=shorten_paths(place.words, root))


def _failed_test(failure: Failure, verdict: Verdict) -> FailedTest:
    return FailedTest(
        nodeid=failure.nodeid,
        phase=failure.phase,
        outcome=failure.outcome,
        attempts=failure.attempts,
        seed=failure.seed,
        seed_unknown=seed_is_unknown(verdict, failure),
        sim_time=failure.sim_time,
        simulator=failure.simulator,
        duration_s=failure.duration_s,
        config=failure.config,
    )


def _cause(
    occurrence: Occurrence, of_run: CauseOfRun, verdict: Verdict, history: History, lacks: Callable[[Fix], bool]
) -> Cause:
    known = history.cause(of_run.name)
    newest = known.newest_fix if known is not None else None
    without_fix = newest is not None and newest.result != "failed" and lacks(newest)
    named = replace(occurrence, fingerprint=of_run.name)
    undone = history.undone_fix(named) if newest is not None else None
    in_place = of_run.fix_in_place is True and of_run.undone is None
    return Cause(
        name=history.reference(of_run.name),
        occurrence=occurrence,
        history=known.history if known is not None else None,
        page=known.page if known is not None else None,
        subtype=history.subtype(occurrence.failure_subtype),
        advice=verdict.fix or history.fix_template(verdict.failure_subtype),
        news="KNOWN" if without_fix else _news(known, named, history, in_place=in_place),
        verdict=verdict,
        beside=of_run.beside,
        beside_undone=of_run.beside_undone,
        fix_in_place=of_run.fix_in_place,
        changed_since_fix=of_run.changed_since_fix,
        without_fix=without_fix,
        fixed_elsewhere=newest is not None and newest.returned is None and undone is None,
        undone=undone,
    )


def _news(known: Cause | None, occurrence: Occurrence, history: History, *, in_place: bool) -> News:
    if known is None:
        return "NEW"
    silenced = known.page is not None and known.page.status == "wont_fix"
    return "REGRESSED" if not silenced and history.regressed(occurrence, fix_in_place=in_place) else "KNOWN"
