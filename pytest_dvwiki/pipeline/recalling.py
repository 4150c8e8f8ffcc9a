"""The causes of runs that are already on record, for outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.causes.cause import Cause
from pytest_dvwiki.pipeline.archiving import Archived, shown
from pytest_dvwiki.pipeline.causes import causes_of
from pytest_dvwiki.pipeline.joining import before
from pytest_dvwiki.pipeline.returns import CauseOfRun
from pytest_dvwiki.pipeline.waiving import waived_in
from pytest_dvwiki.records.name_parts import SLASH, check_of, part_of
from pytest_dvwiki.triage.settle import settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Failure, News, Occurrence, Run, RunRecord, Verdict
    from pytest_dvwiki.pipeline.services import Services


def recalled(run: Run, services: Services, archived_as: str) -> Archived:
    """Classify artefacts that are already archived. Nothing is written, and no cause counts as new."""
    settings, classifier, history = services.settings, services.classifier, services.history
    verdicts = settle(run.failures, [classifier.classify(failure) for failure in run.failures], run.results)
    verdicts = _with_last_causes(run.failures, verdicts, history)
    causes = causes_of(
        run.failures,
        verdicts,
        history,
        root=settings.layout.root,
        lacks=lambda _: False,
        cause_of=lambda each: CauseOfRun(each.fingerprint if SLASH in each.fingerprint else history.cause_of(each, "")),
        in_full=classifier.in_full,
    )
    waived, _ = waived_in(run, verdicts, services)
    return Archived(
        causes=tuple(
            replace(
                cause,
                occurrence=_with_origin_on_record(cause),
                news="KNOWN",
                archived_as=archived_as,
                waived=tuple(each for each in waived if each.fingerprint == cause.occurrence.fingerprint),
                page_to_read=shown(settings.layout, cause.page.path if cause.page else None),
            )
            for cause in causes
        )
    )


def _with_last_causes(
    failures: Sequence[Failure], verdicts: Sequence[Verdict], history: History
) -> tuple[Verdict, ...]:
    """Return the verdicts; if a check has several causes, each test gets the one with which it last failed."""
    tests: dict[str, set[str]] = {}
    for failure, verdict in zip(failures, verdicts, strict=True):
        tests.setdefault(verdict.fingerprint, set()).add(failure.nodeid)
    last = {fingerprint: history.last_causes(fingerprint, names) for fingerprint, names in tests.items()}
    return tuple(
        replace(verdict, fingerprint=last[verdict.fingerprint].get(failure.nodeid, verdict.fingerprint))
        for failure, verdict in zip(failures, verdicts, strict=True)
    )


def _with_origin_on_record(cause: Cause) -> Occurrence:
    """Return the occurrence with its recorded origin, because artefacts do not show earlier changes."""
    return replace(cause.occurrence, origin=cause.history.origin) if cause.history is not None else cause.occurrence


def causes_of_record(record: RunRecord, services: Services, *, is_archived: bool = False) -> tuple[Cause, ...]:
    """Return the causes of a record, compared with the other records of the archive.

    If `is_archived`, the history already includes the record, as the newest one.
    """
    history, causes = services.history, []
    taken: dict[str, list[str]] = {}
    for occurrence in sorted(record.occurrences, key=lambda each: part_of(each.fingerprint)):
        fingerprint = occurrence.fingerprint
        changes = [row for row in record.since_fix if row.fingerprint == fingerprint]
        undone = [row for row in record.undone if row.fingerprint == fingerprint]
        without_fix = fingerprint in record.without_fix
        others = taken.setdefault(check_of(fingerprint), [])
        name = history.cause_of(
            occurrence, record.task_id, changes, undone=undone, without_fix=without_fix, taken=others
        )
        others.append(name)
        found = known = history.cause(name)
        if is_archived:
            known = before(found, occurrence, is_report=record.caller_task is not None)
        cause = known or Cause(name=name, occurrence=occurrence, page=found.page if found else None)
        news: News = "REGRESSED" if fingerprint in record.regressed else "KNOWN" if known else "NEW"
        names = {fingerprint, name, history.reference(name)}
        cause = replace(
            cause,
            occurrence=occurrence,
            news=news,
            fix_in_place=changes[0].in_place if len(changes) == 1 else None,
            changed_since_fix=bool(changes),
            matrix=(),  # a matrix would lack the runs that are on record elsewhere
            waived=tuple(each for each in record.waived if each.fingerprint == fingerprint),
            first_bad=next((each for each in record.first_bad if each.fingerprint in names), cause.first_bad),
            page_to_read=shown(services.settings.layout, cause.page.path if cause.page else None),
        )
        causes.append(cause)
    return tuple(causes)
