"""The pipeline from failures to pages, for a session's end, an ingest, and the takeover of a killed run."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.git import onset
from pytest_dvwiki.capture.git.repository import Repository
from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.causes.passed import Lasting, passed
from pytest_dvwiki.causes.statements import Flaky, statements
from pytest_dvwiki.model import Gate, Run, Vcs
from pytest_dvwiki.nodeids import stored_run
from pytest_dvwiki.pipeline.causes import causes_of, ranges_of, with_changes, with_onset
from pytest_dvwiki.pipeline.passes import is_reported, passed_again, passing, with_owners, with_restored
from pytest_dvwiki.pipeline.recording import lists_of, record_of
from pytest_dvwiki.pipeline.returns import CauseOfRun, Returns
from pytest_dvwiki.runs import utc
from pytest_dvwiki.settings import ip_type_of
from pytest_dvwiki.triage.settle import settle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.capture.interrupted.orphans import Orphan
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.causes.passed import Passed
    from pytest_dvwiki.causes.statements import Statement
    from pytest_dvwiki.model import (
        Failure,
        FirstBad,
        Interest,
        News,
        Occurrence,
        PassedAgain,
        Result,
        RunRecord,
        SourceRun,
        Verdict,
        Waived,
    )
    from pytest_dvwiki.pipeline.services import Services
    from pytest_dvwiki.settings import Layout, Settings
    from pytest_dvwiki.triage.holes import CoverageNews


_Row = TypeVar("_Row", "FirstBad", "PassedAgain")


class Archived(Struct, frozen=True, kw_only=True):
    """The result of processing a run."""

    causes: tuple[Cause, ...] = ()
    record: RunRecord | None = None
    """The record of the run; None if the run has nothing worth a record."""
    passed: tuple[Passed, ...] = ()
    """Statements about causes whose tests pass in this run."""
    coverage: CoverageNews | None = None
    """What is new about the run's coverage; None for a run without coverage reports."""
    written: bool = False
    pages: int | None = 0
    """Number of pages that were created or changed; None if the run writes only its record."""
    seconds: float = 0.0
    problem: str | None = None
    """Why nothing was written: the error, the file, and the remedy."""
    refused: tuple[tuple[str, str], ...] = ()
    """Pages that were not changed, each with the reason."""
    flaky: tuple[Flaky, ...] = ()
    """Statements about the run's flaky tests, those with the most flaky runs first."""
    waiver_notes: tuple[str, ...] = ()
    """Notes on the waivers: expired or unused ones, and errors in their file."""

    def statements(self, cause: Cause) -> Iterator[Statement]:
        """Yield the statements about a cause of the run, in reading order."""
        if self.record is None:
            return statements(cause)
        return statements(cause, self.record.finished, dirty=self.record.vcs.dirty)


def process(run: Run, services: Services) -> Archived:
    """Classify the failures of a run, match them with the history, and archive them.

    A wiki that cannot be written raises no error: `Archived.problem` reports it.

    Args:
        run: The data of the run.
        services: Classifier, and the history before this run.
    """
    began = time.monotonic()
    return replace(_processed(stored_run(run), services), seconds=time.monotonic() - began)


def _processed(run: Run, services: Services) -> Archived:
    settings, classifier, history = services.settings, services.classifier, services.history
    repository = Repository.of(settings)
    vcs = run.vcs or (repository.state() if run.failures else None)
    judged = _judged(run, vcs, repository, services)
    verdicts, causes, waived, returns = judged.verdicts, judged.causes, judged.waived, judged.returns
    coverage = _coverage_news(run, history)
    gate = _gate(run, vcs, repository, services, judged)
    failing = history.still_failing(passing(run.results, run.collected))
    has_flaky = any(result.outcome == "flaky" for result in run.results)
    news = bool(run.failures or has_flaky or run.always_record or (coverage and coverage.rows))
    if not (news or failing):
        return Archived(causes=causes, coverage=coverage)
    vcs = vcs or repository.state()
    present = {cause.name for cause in causes}
    present |= {cause.history.fingerprint for cause in causes if cause.history is not None}
    again, fixes = passed_again(failing, present, run.simulators, vcs, repository)
    came, first_bad = ranges_of(causes, vcs, history, repository)
    judged_failures = sorted(zip(run.failures, verdicts, strict=True), key=lambda member: not member[1].follower)
    members = {member[1].fingerprint: member for member in judged_failures}
    causes = tuple(
        with_onset(
            replace(cause, first_bad=came.get(cause.name), run_id=run.run_id),
            members[cause.occurrence.fingerprint],
            vcs,
            history,
            repository,
            root=settings.layout.root,
        )
        for cause in causes
    )
    occurrences = tuple(cause.occurrence for cause in causes)
    first_bad += onset.narrowed(failing, vcs, history, repository)
    first_bad, again = _as_recorded(first_bad, history), _as_recorded(again, history)
    if not (news or again or first_bad):
        return Archived(causes=causes, coverage=coverage)
    record = record_of(
        replace(run, results=_with_waived(run, verdicts, waived)),
        occurrences,
        classifier,
        vcs=vcs,
        waived=waived,
        passed_again=again,
        fixes=tuple(
            replace(
                with_owners(with_restored(row, vcs, history, repository), repository),
                fingerprint=history.reference(row.fingerprint or ""),
            )
            for row in fixes
        ),
        without_fix=tuple(cause.occurrence.fingerprint for cause in causes if cause.without_fix),
        regressed=tuple(cause.occurrence.fingerprint for cause in causes if cause.news == "REGRESSED"),
        first_bad=first_bad,
        since_fix=tuple(returns.rows),
        coverage=coverage.rows if coverage else (),
        gate=gate,
    )
    archived = Archived(
        causes=causes,
        record=record,
        coverage=coverage,
        waiver_notes=judged.waiver_notes,
        flaky=tuple(_flaky(record, history)) if has_flaky else (),
    )
    lasting = Lasting()
    if settings.archive != "no":
        lists = [[result.nodeid for result in results] for _, results in lists_of(run)]
        archived, lasting = _written(archived, record, settings, lists=lists)
        history.refresh()
        lasting = Lasting(*(tuple(map(history.reference, names)) for names in lasting))
    names = sorted({*(each.fingerprint for each in again), *lasting.held, *lasting.proven})
    known = {each: found for each in names if (found := history.cause(each)) is not None}
    causes = _as_one(archived.causes, history)
    if archived.written and vcs.commit is not None and not vcs.dirty:
        causes = tuple(replace(each, matrix=history.matrix(each.name, vcs.commit)) for each in causes)
    reported = {(each.nodeid, history.reference(each.fingerprint)) for each in failing if is_reported(each)}
    of_passes = passed(record, causes, known, lasting, reported=reported, written=archived.written)
    return replace(archived, causes=causes, passed=tuple(of_passes))


class _Judged(Struct, frozen=True):
    """A run's failures, judged by patterns, waivers and the archive before the run."""

    verdicts: tuple[Verdict, ...]
    causes: tuple[Cause, ...]
    waived: tuple[Waived, ...]
    waiver_notes: tuple[str, ...]
    returns: Returns


def _judged(run: Run, vcs: Vcs | None, repository: Repository, services: Services) -> _Judged:
    classifier, history = services.classifier, services.history
    # A waiver may quote a failure's own text, so each failure is then classified separately.
    verdicts = settle(
        run.failures,
        [classifier.classify(failure) for failure in run.failures]
        if services.waivers is not None
        else classifier.classify_all(run.failures),
        run.results,
    )
    history.register_formers({verdict.fingerprint: verdict.fingerprint_v1 for verdict in verdicts})
    is_present = run.vcs is None or (run.vcs.dirty and run.vcs == repository.state())
    verdicts = with_changes(run.failures, verdicts, vcs, history, repository, is_present=is_present)
    returns = Returns(run, vcs, history, repository)
    causes = causes_of(
        run.failures,
        verdicts,
        history,
        root=services.settings.layout.root,
        lacks=lambda fix: repository.lacks(fix, vcs.commit if vcs else None),
        cause_of=returns.cause_of,
        in_full=classifier.in_full,
    )
    waived, notes = _waived(run, verdicts, services)
    causes = tuple(
        replace(cause, waived=tuple(each for each in waived if each.fingerprint == cause.occurrence.fingerprint))
        for cause in causes
    )
    return _Judged(tuple(verdicts), causes, waived, notes, returns)


def _gate(run: Run, vcs: Vcs | None, repository: Repository, services: Services, judged: _Judged) -> Gate | None:
    """Return the gate's decision on a run, based on the base revision if one is set; None without a gate."""
    mode = services.settings.gate
    if mode == "none" or run.gate_refused is None:
        return None
    from pytest_dvwiki.capture.git.revision import RevisionError  # noqa: PLC0415  # few runs have a gate
    from pytest_dvwiki.pipeline.gate import decide  # noqa: PLC0415

    try:
        judge = services.judge
    except RevisionError as error:
        return Gate(mode=mode, refused=str(error))
    if judge is not services:
        judged = _judged(run, vcs, repository, judge)
    news = {cause.occurrence.fingerprint: cause.news for cause in judged.causes}
    strict = any(
        failure.by_strict_logs and news[verdict.fingerprint] == "NEW"
        for failure, verdict in zip(run.failures, judged.verdicts, strict=True)
    )
    refused = run.gate_refused or ("--dvwiki-strict-logs found a new failure" if strict else "")
    base = services.base.commit if services.base is not None else None
    return decide(mode, judged.causes, judge.history, base=base, refused=refused)


def _as_recorded(rows: Sequence[_Row], history: History) -> tuple[_Row, ...]:
    """Return the rows with names of causes that stay unambiguous in later runs."""
    return tuple(replace(row, fingerprint=history.reference(row.fingerprint)) for row in rows)


def _as_one(causes: Sequence[Cause], history: History) -> tuple[Cause, ...]:
    """Join the causes that share a page, as outputs show them; a joined cause is new only if all its parts are."""
    groups: dict[str, list[Cause]] = {}
    names: dict[str, str] = {}
    for cause in causes:
        if cause.occurrence.fingerprint not in names:
            prints, pages = history.names(cause.occurrence.fingerprint, None)
            names |= dict.fromkeys(prints, pages[0] if pages else prints[0])
        groups.setdefault(names[cause.occurrence.fingerprint], []).append(cause)
    named = Counter(names.values())
    # A new cause with one name only was not joined to another one.
    shown = (
        _known_by_now(_joined(group), history) if named[name] > 1 else _joined(group) for name, group in groups.items()
    )
    return tuple(sorted(shown, key=lambda cause: -len(cause.occurrence.tests)))


def _known_by_now(cause: Cause, history: History) -> Cause:
    """Return a cause as known if archiving this run has joined it to a cause on record."""
    found = _before(history.cause(cause.name), cause.occurrence) if cause.news == "NEW" else None
    return cause if found is None else replace(cause, news="KNOWN", history=found.history, page=found.page)


def _before(known: Cause | None, occurrence: Occurrence, *, is_report: bool = False) -> Cause | None:
    """Return a cause as it was before its newest run, which is on record; None if that run was its first."""
    if known is None or known.history is None or known.history.runs < 2:  # noqa: PLR2004
        return None
    history = known.history
    tests = max(0, history.tests - len(occurrence.tests))
    return replace(
        known, history=replace(history, runs=history.runs - 1, tests=tests, reports=history.reports - is_report)
    )


def _joined(causes: Sequence[Cause]) -> Cause:
    first = causes[0]
    if len(causes) == 1:
        return first
    tests = sorted((test for cause in causes for test in cause.occurrence.tests), key=lambda test: test.nodeid)
    known = next((cause for cause in causes if cause.news != "NEW"), first)
    return replace(
        first,
        occurrence=replace(first.occurrence, tests=tuple(tests)),
        news=known.news,
        history=known.history,
        page=known.page,
        waived=tuple(each for cause in causes for each in cause.waived),
    )


def recalled(run: Run, services: Services, archived_as: str) -> Archived:
    """Classify the failures of artefacts that are already archived; write nothing, and report no failure as new.

    Args:
        run: The data of the artefacts.
        services: Classifier and history.
        archived_as: The runs whose records hold the artefacts.
    """
    settings, classifier, history = services.settings, services.classifier, services.history
    verdicts = settle(run.failures, [classifier.classify(failure) for failure in run.failures], run.results)
    causes = causes_of(
        run.failures,
        verdicts,
        history,
        root=settings.layout.root,
        lacks=lambda _: False,
        cause_of=lambda each: CauseOfRun(history.cause_of(each, "")),
        in_full=classifier.in_full,
    )
    waived, _ = _waived(run, verdicts, services)
    return Archived(
        causes=tuple(
            replace(
                cause,
                occurrence=_with_origin_on_record(cause),
                news="KNOWN",
                archived_as=archived_as,
                waived=tuple(each for each in waived if each.fingerprint == cause.occurrence.fingerprint),
                page_to_read=_shown(settings.layout, cause.page.path if cause.page else None),
            )
            for cause in causes
        )
    )


def _with_origin_on_record(cause: Cause) -> Occurrence:
    """Return the occurrence of a cause with the origin on record: artefacts do not tell what changed before."""
    return replace(cause.occurrence, origin=cause.history.origin) if cause.history is not None else cause.occurrence


def causes_of_record(record: RunRecord, services: Services, *, is_archived: bool = False) -> tuple[Cause, ...]:
    """Return the causes of a record, with what is new about them compared with the other records of the archive.

    Args:
        record: The record.
        services: The history.
        is_archived: Whether the history already contains the record, as the newest one.
    """
    history, causes = services.history, []
    for occurrence in record.occurrences:
        fingerprint = occurrence.fingerprint
        changes = [row for row in record.since_fix if row.fingerprint == fingerprint]
        without_fix = fingerprint in record.without_fix
        name = history.cause_of(occurrence, record.task_id, changes, without_fix=without_fix)
        found = known = history.cause(name)
        if is_archived:
            known = _before(found, occurrence, is_report=record.caller_task is not None)
        cause = known or Cause(name=name, occurrence=occurrence, page=found.page if found else None)
        news: News = "REGRESSED" if fingerprint in record.regressed else "KNOWN" if known else "NEW"
        names = {fingerprint, name, history.reference(name)}
        cause = replace(
            cause,
            occurrence=occurrence,
            news=news,
            fix_in_place=changes[0].in_place if len(changes) == 1 else None,
            changed_since_fix=bool(changes),
            matrix=(),  # the matrix knows only runs on record here
            waived=tuple(each for each in record.waived if each.fingerprint == fingerprint),
            first_bad=next((each for each in record.first_bad if each.fingerprint in names), cause.first_bad),
            page_to_read=_shown(services.settings.layout, cause.page.path if cause.page else None),
        )
        causes.append(cause)
    return tuple(causes)


def on_record(task_id: str, settings: Settings) -> RunRecord | None:
    """Return the record of a run; None if there is none."""
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415  # loaded only to archive

    with WikiHistory(settings.layout) as history:
        return history.archive.record(task_id)


def known_artefacts(hashes: Iterable[str], settings: Settings) -> dict[str, list[SourceRun]]:
    """Return the hashes of artefacts that are on record, each with the runs that hold it, oldest first."""
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415  # as above

    with WikiHistory(settings.layout) as history:
        return history.archive.runs_of_sources(hashes)


def adopt(
    record: RunRecord, settings: Settings, *, lists: Iterable[Sequence[str]] = (), data: bytes | None = None
) -> Archived:
    """Archive a record unchanged, for example one from another machine.

    Args:
        record: The record.
        settings: Location of the wiki, and how long to wait for its lock.
        lists: The available lists of tests that the record names.
        data: The bytes of the record's document, if the record comes from elsewhere.
    """
    began = time.monotonic()
    archived, _ = _written(Archived(record=record), record, settings, lists=lists, data=data)
    return replace(archived, seconds=time.monotonic() - began)


def with_ip_type(failure: Failure, settings: Settings) -> Failure:
    """Return a failure with the kind of design that its test is for: as the test states it, else from the settings."""
    ip_type = failure.ip_type or ip_type_of(failure.nodeid, settings.ip_types)
    return failure if ip_type == failure.ip_type else replace(failure, ip_type=ip_type)


def run_of(orphan: Orphan, settings: Settings, interest: Interest) -> Run:
    """Return the run that a killed process left in a journal.

    Args:
        orphan: The journal.
        settings: Location of the project.
        interest: Decides which lines of a long text to keep.
    """
    from pytest_dvwiki.capture.interrupted.takeover import remains_of  # noqa: PLC0415  # loaded only for a takeover

    remains = remains_of(orphan, root=settings.layout.root, interest=interest)
    return Run(
        task_id=orphan.task_id,
        started=utc(orphan.started),
        finished=utc(orphan.ended),
        failures=tuple(with_ip_type(failure, settings) for failure in remains.failures),
        results=remains.results,
        simulators=remains.simulators,
        vcs=orphan.vcs,
    )


def _written(
    archived: Archived,
    record: RunRecord,
    settings: Settings,
    *,
    lists: Iterable[Sequence[str]] = (),
    data: bytes | None = None,
) -> tuple[Archived, Lasting]:
    """Archive a record; return the result, and the causes whose fix holds or is proven from this run on."""
    from pytest_dvwiki.wiki.writing.build import archive, write_record_alone  # noqa: PLC0415  # loaded only to archive

    layout = settings.layout
    try:
        if settings.archive == "record":
            write_record_alone(layout, record, lists=lists)
            return replace(archived, written=True, pages=None), Lasting()
        result = archive(layout, record, lists=lists, data=data, lock_timeout=settings.lock_timeout)
    except Exception as error:  # noqa: BLE001  # the result is shown even if it cannot be written
        return replace(archived, problem=reading.described(error)), Lasting()
    archived = replace(
        archived,
        causes=tuple(
            replace(
                cause,
                page_to_read=_shown(layout, result.page_of.get(cause.occurrence.fingerprint)),
                like=result.like.get(cause.occurrence.fingerprint),
            )
            for cause in archived.causes
        ),
        written=True,
        pages=len(result.pages_created) + len(result.pages_updated),
        refused=tuple(result.refused),
    )
    return archived, result.lasting


def _shown(layout: Layout, page: str | None) -> str | None:
    """Return a page's path as the terminal shows it."""
    if page is None:
        return None
    path = layout.wiki / page
    return path.relative_to(layout.root).as_posix() if path.is_relative_to(layout.root) else str(path)


# Waivers


def _waived(run: Run, verdicts: Sequence[Verdict], services: Services) -> tuple[tuple[Waived, ...], tuple[str, ...]]:
    """Return the waived failures of a run, and notes on the waivers."""
    if not (run.failures or run.always_record) or services.waivers is None:
        return (), ()
    day = run.finished[:10]
    found = services.waivers.apply(run.failures, verdicts, services.history.names, day)
    unused = services.waivers.unused((each.id for each in found), day, "this run") if not run.part else ()
    return found, (*services.waivers.notes(day), *unused)


def _with_waived(run: Run, verdicts: Sequence[Verdict], waived: Sequence[Waived]) -> tuple[Result, ...]:
    """Return the results; a test whose failures are all waived gets the outcome `waived`."""
    accepted = {(nodeid, each.fingerprint) for each in waived for nodeid in each.tests}
    pairs = [(failure.nodeid, verdict.fingerprint) for failure, verdict in zip(run.failures, verdicts, strict=True)]
    failing = {nodeid for nodeid, fingerprint in pairs if (nodeid, fingerprint) not in accepted}
    names = {nodeid for nodeid, _ in pairs} - failing
    return tuple(
        replace(result, outcome="waived")
        if result.outcome in {"failed", "error"} and result.nodeid in names
        else result
        for result in run.results
    )


def _coverage_news(run: Run, history: History) -> CoverageNews | None:
    if not run.coverage:
        return None
    from pytest_dvwiki.triage.holes import coverage_news  # noqa: PLC0415  # loaded only for a run with coverage

    return coverage_news(run.coverage, history.coverage(), whole=run.whole)


def _flaky(record: RunRecord, history: History) -> list[Flaky]:
    """Return statements about the flaky tests of a run that is not on record yet."""
    tests = {test.nodeid: test.attempts for test in record.other if test.is_flaky}
    before = history.flaky(tests)
    found = []
    for nodeid, attempts in tests.items():
        flaky, runs = before.get(nodeid, (0, 0))
        found.append(Flaky(nodeid=nodeid, attempts=attempts, flaky=flaky + 1, runs=runs + 1))
    return sorted(found, key=lambda each: (-each.flaky, each.nodeid))
