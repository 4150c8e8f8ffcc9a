"""Process a run, from its failures to its record and pages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.capture.git import onset
from pytest_dvwiki.capture.git.repository import Repository
from pytest_dvwiki.causes.passed import Lasting, passed
from pytest_dvwiki.causes.statements import Flaky
from pytest_dvwiki.model import Gate
from pytest_dvwiki.nodeids import stored_run
from pytest_dvwiki.pipeline.archiving import Archived, write
from pytest_dvwiki.pipeline.causes import as_shown_by, causes_of, grouped
from pytest_dvwiki.pipeline.dividing import divided
from pytest_dvwiki.pipeline.joining import as_one
from pytest_dvwiki.pipeline.noise import new_noise, without_noise
from pytest_dvwiki.pipeline.origins import doubt_about, ranges_of, with_changes, with_onset
from pytest_dvwiki.pipeline.passes import is_reported, passed_again, passing, with_owners, with_restored
from pytest_dvwiki.pipeline.recording import lists_of, record_of
from pytest_dvwiki.pipeline.returns import Returns
from pytest_dvwiki.pipeline.waiving import waived_in, with_waived
from pytest_dvwiki.settings import ip_type_of
from pytest_dvwiki.triage.settle import settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.capture.interrupted.orphans import Orphan
    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import (
        Failure,
        FirstBad,
        Interest,
        PassedAgain,
        Run,
        RunRecord,
        StillFailing,
        Vcs,
        Verdict,
        Waived,
    )
    from pytest_dvwiki.pipeline.services import Services
    from pytest_dvwiki.settings import Settings
    from pytest_dvwiki.triage.holes import CoverageNews

_Row = TypeVar("_Row", "FirstBad", "PassedAgain")


def process(run: Run, services: Services) -> Archived:
    """Classify the failures of a run, compare them with the history, and archive them.

    If the wiki cannot be written, no error is raised, but `Archived.problem` is set.
    """
    began = time.monotonic()
    return replace(_processed(stored_run(run), services), seconds=time.monotonic() - began)


def with_ip_type(failure: Failure, settings: Settings) -> Failure:
    """Set the kind of design under test, from the test itself or else from the settings."""
    ip_type = failure.ip_type or ip_type_of(failure.nodeid, settings.ip_types)
    return failure if ip_type == failure.ip_type else replace(failure, ip_type=ip_type)


def killed_run(orphan: Orphan, settings: Settings, interest: Interest) -> Run:
    """Return the run in the journal of a killed process."""
    from pytest_dvwiki.capture.interrupted.takeover import run_of  # noqa: PLC0415  # loaded only for a takeover

    run = run_of(orphan, root=settings.layout.root, interest=interest)
    return replace(run, failures=tuple(with_ip_type(failure, settings) for failure in run.failures))


def _processed(run: Run, services: Services) -> Archived:
    settings, history = services.settings, services.history
    repository = Repository.of(settings)
    vcs = run.vcs or (repository.state() if run.failures else None)
    run = without_noise(run, services.classifier, history)
    judged = _judged(run, vcs, repository, services)
    coverage = _coverage_news(run, history)
    gate = _gate(run, vcs, repository, services, judged)
    passes = passing(run.results, run.collected)
    failing = history.still_failing(passes)
    has_flaky = any(result.outcome == "flaky" for result in run.results)
    news = bool(run.failures or has_flaky or run.always_record or (coverage and coverage.rows))
    if not (news or failing):
        return Archived(causes=judged.causes, coverage=coverage)
    vcs = vcs or repository.state()
    present = {cause.name for cause in judged.causes}
    present |= {cause.history.fingerprint for cause in judged.causes if cause.history is not None}
    again, fixes = passed_again(failing, present, run.simulators, vcs, history=history, repository=repository)
    names = {each.nodeid for each in passes} if judged.causes else set()
    causes, first_bad = _with_onsets(run, vcs, judged, repository, services, passing_tests=names)
    first_bad += onset.narrowed(failing, vcs, history, repository)
    first_bad, again = _as_recorded(first_bad, history), _as_recorded(again, history)
    if not (news or again or first_bad):
        return Archived(causes=causes, coverage=coverage)
    record = record_of(
        replace(run, results=with_waived(run, judged.verdicts, judged.waived)),
        tuple(cause.occurrence for cause in causes),
        services.classifier,
        vcs=repository.with_source_commit(vcs),
        waived=judged.waived,
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
        since_fix=tuple(judged.returns.rows),
        undone=tuple(judged.returns.undone),
        noise=new_noise(run.results, history),
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
    lists = [[result.nodeid for result in results] for _, results in lists_of(run)]
    return _with_archive(archived, record, lists, failing, services)


def _with_onsets(
    run: Run, vcs: Vcs, judged: _Judged, repository: Repository, services: Services, *, passing_tests: set[str]
) -> tuple[tuple[Cause, ...], tuple[FirstBad, ...]]:
    """Return the causes of a run with the commits that introduced them, and the rows that record these commits.

    `passing_tests` has the names of the tests that pass in the run.
    """
    root = services.settings.layout.root
    members = {group[0][1].fingerprint: group for group in grouped(run.failures, judged.verdicts)}
    came, first_bad = ranges_of(judged.causes, vcs, services.history, repository)
    causes = []
    for each in judged.causes:
        found, group = came.get(each.name), members[each.occurrence.fingerprint]
        cause = replace(each, first_bad=found, run_id=run.run_id)
        cause = replace(cause, doubt=doubt_about(cause, passing_tests, vcs, services.history, repository))
        own = [one for one in group if found is None or one[0].nodeid not in found.passed_after]
        if own and len(own) < len(group):
            # Tests that passed after the cause came have another fault, which must not be shown as this one.
            own[0] = own[0][0], services.classifier.in_full(*own[0])
            cause = as_shown_by(cause, own, root)
        causes.append(with_onset(cause, (own or group)[0], vcs, services.history, repository, root=root))
    return tuple(causes), first_bad


def _with_archive(
    archived: Archived,
    record: RunRecord,
    lists: Sequence[Sequence[str]],
    failing: Sequence[StillFailing],
    services: Services,
) -> Archived:
    """Write a record, unless archiving is off, and update its causes from the archive."""
    settings, history = services.settings, services.history
    lasting = Lasting()
    if settings.archive != "no":
        archived, lasting = write(archived, record, settings, lists=lists)
        history.refresh()
        lasting = Lasting(*(tuple(map(history.reference, names)) for names in lasting))
    names = sorted({*(each.fingerprint for each in record.passed_again), *lasting.held, *lasting.proven})
    known = {each: found for each in names if (found := history.cause(each)) is not None}
    causes = as_one(archived.causes, history)
    if archived.written and record.vcs.commit is not None and not record.vcs.dirty:
        causes = tuple(replace(each, matrix=history.matrix(each.name, record.vcs.commit)) for each in causes)
    # If this run found another cause of the same check, the record may still call the fixed cause by its fingerprint.
    reported = {
        (each.nodeid, name)
        for each in failing
        if is_reported(each)
        for name in (each.fingerprint, history.reference(each.fingerprint))
    }
    commands = {
        (name, each.nodeid, each.by.simulator): each.command
        for each in failing
        if each.command is not None
        for name in (each.fingerprint, history.reference(each.fingerprint))
    }
    of_passes = passed(record, causes, known, lasting, reported=reported, commands=commands, written=archived.written)
    return replace(archived, causes=causes, passed=tuple(of_passes))


class _Judged(Struct, frozen=True):
    """A run's failures, with their verdicts, waivers and causes."""

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
    returns = Returns(run, vcs, history, repository)
    root = services.settings.layout.root
    verdicts = divided(run.failures, verdicts, history, returns, task_id=run.task_id, root=root)
    is_present = run.vcs is None or (run.vcs.dirty and run.vcs == repository.state())
    verdicts = with_changes(run.failures, verdicts, vcs, history, repository, is_present=is_present)
    causes = causes_of(
        run.failures,
        verdicts,
        history,
        root=root,
        lacks=lambda fix: repository.lacks(fix, vcs.commit if vcs else None),
        cause_of=returns.cause_of,
        in_full=classifier.in_full,
    )
    waived, notes = waived_in(run, verdicts, services)
    causes = tuple(
        replace(cause, waived=tuple(each for each in waived if each.fingerprint == cause.occurrence.fingerprint))
        for cause in causes
    )
    return _Judged(tuple(verdicts), causes, waived, notes, returns)


def _gate(run: Run, vcs: Vcs | None, repository: Repository, services: Services, judged: _Judged) -> Gate | None:
    """Return the gate's decision on a run, relative to the base revision if one is set; None without a gate."""
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
