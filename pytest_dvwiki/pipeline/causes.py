"""Group failures and verdicts into causes, and compare them with the history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.model import MOST_READ, FailedTest, Fix, LogReference, Occurrence
from pytest_dvwiki.records.command import chooses_by
from pytest_dvwiki.records.kinds import seed_is_unknown
from pytest_dvwiki.records.name_parts import part_of
from pytest_dvwiki.records.sides import reads_of
from pytest_dvwiki.redact import shorten_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Command, Failure, News, Origin, Place, Verdict
    from pytest_dvwiki.pipeline.returns import CauseOfRun

Member = tuple["Failure", "Verdict"]


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

    `lacks` returns whether the commit of the run lacks a fix, and `in_full` a verdict with the failure's own texts in
    place of those of a similar failure.
    """
    groups = grouped(failures, verdicts)
    for members in groups:
        members[0] = members[0][0], in_full(*members[0])
    occurrences = [occurrence_of(members, root) for members in groups]
    # Decide on the causes of one check in the order of the numbers in their names, as when the record is read.
    in_order = sorted(occurrences, key=lambda each: part_of(each.fingerprint))
    of_run = {each.fingerprint: cause_of(each) for each in in_order}
    found = []
    for members, occurrence in zip(groups, occurrences, strict=True):
        named = of_run[occurrence.fingerprint]
        cause = _cause(occurrence, named, _without_root(members[0][1], root), history, lacks)
        if named.undone is not None and cause.undone is not None:
            cause = replace(cause, undone=named.undone, fix_in_place=False)
        found.append(cause)
    return tuple(found)


def _without_root(verdict: Verdict, root: Path) -> Verdict:
    """Return a verdict with the paths in its advice relative to the root."""
    return replace(verdict, fix=shorten_paths(verdict.fix, root)) if verdict.fix else verdict


def as_shown_by(cause: Cause, members: Sequence[Member], root: Path) -> Cause:
    """Return a cause with the evidence and commands of `members`: some of its failures, the most informative first."""
    shown, verdict = occurrence_of(members, root), _without_root(members[0][1], root)
    occurrence = replace(
        cause.occurrence,
        origin=shown.origin,
        primary=shown.primary,
        excerpt=shown.excerpt,
        log=shown.log,
        place=shown.place,
        command=shown.command,
        unreproducible=shown.unreproducible,
        quickest=shown.quickest,
        unseeded=shown.unseeded,
    )
    return replace(cause, occurrence=occurrence, verdict=verdict)


def grouped(failures: Sequence[Failure], verdicts: Sequence[Verdict]) -> list[list[Member]]:
    """Group failures by cause, the causes with most failures first.

    The first failure of each group is shown: it has the cause's own message and the simplest rerun command.
    """
    groups: dict[str, list[Member]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        groups.setdefault(verdict.fingerprint, []).append((failure, verdict))
    for members in groups.values():
        members.sort(key=lambda member: (member[1].follower, *_ease_of_rerun(member[0])))
    return sorted(
        groups.values(),
        key=lambda members: (-len(members), members[0][1].error_class, members[0][0].nodeid, members[0][1].fingerprint),
    )


def occurrence_of(members: Sequence[Member], root: Path) -> Occurrence:
    """Return the occurrence of a cause with the given failures; the first one provides the evidence."""
    failure, verdict = members[0]
    shown = next((one for one, _ in members if one.command is not None), failure)
    return Occurrence(
        fingerprint=verdict.fingerprint,
        error_class=verdict.error_class,
        failure_subtype=verdict.failure_subtype,
        pattern=verdict.pattern,
        origin=origin_of(verdict, root),
        primary=shorten_paths(verdict.primary, root),
        tests=tuple(_failed_test(*member) for member in sorted(members, key=lambda member: member[0].nodeid)),
        excerpt=shorten_paths(verdict.excerpt, root),
        log=_log(failure, verdict),
        ip_type=failure.ip_type,
        reads=reads_of(
            verdict.failure_subtype, tuple(dict.fromkeys(path for one, _ in members for path in one.reads))[:MOST_READ]
        ),
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


def origin_of(verdict: Verdict, root: Path) -> Origin:
    """Return the origin of a verdict, with the paths in its reasons relative to the root."""
    return replace(verdict.origin, reasons=tuple(shorten_paths(reason, root) for reason in verdict.origin.reasons))


def _quickest(members: Sequence[Member], shown: Failure) -> Command | None:
    """Return the command of the quickest failing test; None if that is the command of the occurrence already."""
    timed = [one for one, verdict in members if one.command is not None and one.duration_s > 0 and not verdict.follower]
    found = min(timed, key=lambda failure: (failure.duration_s, failure.nodeid), default=shown)
    if found.command is None or found.nodeid == shown.nodeid:
        return None
    return replace(found.command, test=found.nodeid)


def _ease_of_rerun(failure: Failure) -> tuple[object, ...]:
    """Return a sort key that puts the failure with the simplest rerun command first."""
    name, command = failure.nodeid, failure.command
    runs_alone = command is not None and chooses_by(command) is not None
    return command is None, not runs_alone, "[" in name, len(name), name, failure.phase


def _place(place: Place | None, root: Path) -> Place | None:
    """Return the place that reported a cause, with paths relative to the root."""
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
        directed=failure.directed,
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
        beside_why=of_run.beside_why,
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
