"""Archives what an agent system found: each call becomes a record, and pages are made from the records."""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.backends import BackendError
from pytest_dvwiki.intake import findings, waiting
from pytest_dvwiki.intake.fields import of_result
from pytest_dvwiki.intake.occurrence import UNKNOWN, occurrence_of, task_id_of
from pytest_dvwiki.intake.session import SessionReader, lines_of
from pytest_dvwiki.llm.client import tell
from pytest_dvwiki.llm.model import ModelError
from pytest_dvwiki.model import BinRow, FixRow, Occurrence, Origin, RunRecord
from pytest_dvwiki.records import bins
from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.redact import redact
from pytest_dvwiki.runs import epoch, now, today, utc
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
from pytest_dvwiki.wiki.kinds.spec import Clarification
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import archive

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from concurrent.futures import Future

    from pytest_dvwiki.intake.waiting import Texts
    from pytest_dvwiki.llm.model import Model
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.config import WikiConfig
    from pytest_dvwiki.wiki.writing.build import ArchiveResult

_NO_ORIGIN = "the report does not say where the fault lies"
_EVIDENCE = 20_000
_Result = TypeVar("_Result")
_logger = logging.getLogger(__name__)


class WikiIngestResult(Struct, frozen=True, kw_only=True):
    """The result of archiving a session; paths are relative to the wiki.

    If archiving failed, all fields but the task id are empty.
    """

    task_id: str
    """The task id as the caller gave it."""
    pages_created: list[str] = field(default_factory=list)
    pages_updated: list[str] = field(default_factory=list)
    log_entry: str = ""
    """The line about the call in `log.md`."""
    index_updated: bool = False
    search_index_updated: bool = False
    lessons: list[str] = field(default_factory=list)
    """The page of each lesson that a transcript added or confirmed."""
    problem: str = ""
    """Why no lessons were extracted from the transcript; repeating the call tries again."""


class WikiIngestService:
    """Service that archives the findings of an agent system.

    This class is long because its docstrings are the API reference.

    Each call queues its work for the service's only thread, and returns a coroutine that waits for the result. The
    event loop is never blocked, and the work is done even if nobody waits. An error in the work is logged, not raised.
    A repeated call with the same arguments is not counted again. Texts are read by rules, and secrets in them are
    masked.

    Args:
        wiki_config: The wiki. The caller checks its `enabled` and `auto_ingest`; this class does not.
        llm: A model that extracts lessons from transcripts, and failures from reports in which rules find none; None
            for rules alone.
    """

    def __init__(self, wiki_config: WikiConfig, llm: Model | None = None) -> None:
        self.config = wiki_config
        self.llm = llm
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dvwiki-ingest")

    def ingest_session(  # noqa: PLR0917 (the specification's signature)
        self,
        session_report: str,
        failure_summary: str | None,
        classification: str | None,
        coverage_summary: str | None,
        task_id: str,
        transcript: str | None = None,
    ) -> Coroutine[Any, Any, WikiIngestResult]:
        """Archive the findings of one session, if there are any: failures, their origins, and coverage holes.

        Args:
            session_report: Read like the failure summary, and kept as evidence. Passes that it reports are ignored.
            failure_summary: Fields such as `error_class`, `failure_subtype`, `primary`, `test`, `seed`, `log`.
            classification: Fields such as `bug_type`, `confidence`, `rationale`.
            coverage_summary: Fields `covergroup`, `bin`, `action_class`, `scenario`, `priority`, `filled`.
            task_id: The caller's task id.
            transcript: The full session. A model extracts lessons from it; without a model, only lessons that it lists
                are kept.
        """
        texts = (session_report, failure_summary, classification, coverage_summary)

        def work() -> WikiIngestResult:
            return self.archive_all(texts, task_id, transcript)

        return self._begin(work, WikiIngestResult(task_id=task_id))

    def archive_all(self, texts: Texts, task_id: str, transcript: str | None) -> WikiIngestResult:
        """Do the work of `ingest_session` in the calling thread.

        Raises:
            ModelError: The report is prose, and no model answered. The next call reads the report again.
            WikiError: The wiki could not be written.
        """
        done = self.archive_session(texts, task_id)
        result = done.result if done else WikiIngestResult(task_id=task_id)
        return self._with_lessons(result, transcript, texts) if transcript else result

    def archive_session(self, texts: Texts, task_id: str) -> Done | None:
        """Archive the findings in the texts of a session; with a model, then also the reports that wait for one.

        Returns:
            None if the texts mention no failure and no coverage hole.

        Raises:
            ModelError: The report is prose, and no model answered. The next call reads the report again.
            WikiError: The wiki could not be written.
        """
        done = self._archive_session(texts, task_id)
        if self.llm is not None:
            for task, kept in waiting.all_waiting(self.config.layout):
                try:
                    late = self._archive_session(kept, task)
                    end = "was read and archived" if late else "was read and mentions no failure"
                    tell(self.llm, "stage", "report", f"{task}, which waited for a model, {end}")
                except ModelError as error:
                    _logger.warning("the report of %s is still waiting for a model: %s", task, error)
                    break
        return done

    def _archive_session(self, given: Texts, task_id: str) -> Done | None:
        layout = self.config.layout
        report, failure_summary, classification, coverage_summary = (text and redact(text) for text in given)
        texts = (report, failure_summary, classification, coverage_summary)
        identity = _identity_of("session", task_id, {"texts": texts})
        is_known = _known(layout, identity) is not None
        try:
            occurrences = () if is_known else self._failures(report, failure_summary, classification)
        except ModelError as error:
            if not error.rules:
                waiting.keep(layout, identity, task_id, texts)
                raise
            occurrences = ()
        rows = {(row.covergroup, row.bin): row for text in (report, coverage_summary) for row in findings.holes(text)}
        coverage = tuple(rows.values())
        done = None
        if occurrences or coverage or is_known:
            evidence = tuple(text[:_EVIDENCE] for text in texts if text)
            done = self._archive(
                "session", task_id, {"texts": texts}, occurrences=occurrences, coverage=coverage, evidence=evidence
            )
        else:
            _logger.info("nothing was archived: the report of %s mentions no failure or coverage hole", task_id)
        waiting.place_of(layout, identity).unlink(missing_ok=True)
        return done

    def _with_lessons(self, result: WikiIngestResult, transcript: str, texts: Texts) -> WikiIngestResult:
        """Archive a transcript if it has lessons, then put them on their pages, each with the record as its source.

        A transcript that no model could read is also archived, and the next call with it tries again.
        """
        from pytest_dvwiki.librarian import lessons  # noqa: PLC0415  # only a transcript needs the librarian
        from pytest_dvwiki.llm.configuration import LibrarianSettings  # noqa: PLC0415
        from pytest_dvwiki.wiki.kinds import topic  # noqa: PLC0415

        layout, given = self.config.layout, {"transcript": transcript}
        identity = _identity_of("transcript", result.task_id, given)
        if lessons.is_noted(layout, identity):
            return result
        found = lessons.of_session(LibrarianSettings.of(layout), transcript, texts, self.llm)
        if found.text and (found.drafts or found.problem):
            self._archive("transcript", result.task_id, given, evidence=(found.text,))
        if found.problem:
            return replace(result, problem=found.problem)
        source = topic.source(identity, today().isoformat())
        try:
            done = lessons.learn(layout, found.drafts, source, model=self.llm, by=found.by)
        except ModelError as error:
            return replace(result, problem=str(error))
        for page, reason in done.refused:
            _logger.warning("no lesson was put on %s: %s", page, reason)
        lessons.note(layout, identity, done)
        return replace(result, lessons=[*done.added, *done.confirmed])

    def ingest_pattern(  # noqa: PLR0917 (the specification's signature)
        self,
        failure_subtype: str,
        error_class: str,
        context_lines: list[str],
        fix_applied: str | None,
        success: bool,  # noqa: FBT001 (the specification's signature)
        task_id: str,
    ) -> Coroutine[Any, Any, None]:
        """Count an occurrence of a subtype on its page `patterns/{failure_subtype}.md`, with the fix that was tried.

        Args:
            failure_subtype: A subtype of the taxonomy, or the caller's own.
            error_class: A class of the taxonomy, or the caller's own.
            context_lines: Lines of the log; the first one describes the failure.
            fix_applied: The fix; None if none was tried.
            success: Whether the fix helped.
            task_id: The caller's task id.
        """
        lines = list(context_lines)
        values = {"failure_subtype": failure_subtype, "error_class": error_class}
        arguments = {**values, "context_lines": lines, "fix_applied": fix_applied, "success": success}
        text = " ".join(redact(fix_applied or "").split())
        fix = FixRow(
            failure_subtype=failure_subtype, text=text, by="agent", commits=(), result="held" if success else "failed"
        )

        def work() -> None:
            occurrence = occurrence_of(values, lines, Origin(type="UNKNOWN", confidence=0.0), self.config)
            self._archive("pattern", task_id, arguments, occurrences=(occurrence,), fixes=(fix,) if text else ())

        return self._begin(work, None)

    def ingest_bug(
        self, classification_result: object, evidence: list[str], task_id: str, log_path: str
    ) -> Coroutine[Any, Any, str]:
        """Create or update the page of a bug.

        Args:
            classification_result: Text, mapping or object with `bug_type`, `confidence`, `rationale`, `error_class`,
                `failure_subtype`; `fingerprint` identifies a known cause.
            evidence: Lines of the log; the first one describes the failure.
            task_id: The caller's task id.
            log_path: Path of the log, with `:` and a line number if known.

        Returns:
            The page's path relative to the wiki; empty if there is none.
        """
        values = {"log": log_path} | of_result(classification_result)
        lines = list(evidence)

        def work() -> str:
            arguments = {"classification": values, "evidence": lines}
            occurrence = occurrence_of(values, lines, findings.origin(values), self.config)
            done = self._archive("bug", task_id, arguments, occurrences=(occurrence,))
            return done.pages.get(occurrence.fingerprint, "")

        return self._begin(work, "")

    def ingest_coverage_hole(  # noqa: PLR0917 (the specification's signature)
        self,
        covergroup: str,
        bin_name: str,
        action_class: str,
        scenario: str,
        filled: bool,  # noqa: FBT001 (the specification's signature)
        task_id: str,
    ) -> Coroutine[Any, Any, None]:
        """Create or update the page `coverage/{covergroup}_{bin}.md`.

        Args:
            covergroup: Name of the covergroup.
            bin_name: Name of one of its bins.
            action_class: `actionable`, `protocol_blocked`, `design_excluded` or `needs_investigation`.
            scenario: What would fill the bin, or what filled it.
            filled: Whether the bin is covered now.
            task_id: The caller's task id.

        Raises:
            ValueError: The action class does not exist.
        """
        findings.check_action(action_class)
        row: dict[str, Any] = {
            "covergroup": covergroup,
            "bin": bin_name,
            "action_class": action_class,
            "scenario": " ".join(redact(scenario).split()),
            "filled": filled,
        }

        def work() -> None:
            self._archive("coverage", task_id, row, coverage=(BinRow(**row),))

        return self._begin(work, None)

    def ingest_spec_clarification(
        self, feature: str, clarification_type: str, text: str, spec_section: str | None, task_id: str
    ) -> Coroutine[Any, Any, str]:
        """Create the page `specs/{feature}_clarification.md`, or add to it.

        Args:
            feature: Feature of the design, as named in the verification plan.
            clarification_type: The kind of open point: `ambiguous`, `missing`, `contradiction`, …
            text: The clarification.
            spec_section: Section of the specification, if known.
            task_id: The caller's task id.

        Returns:
            The page's path relative to the wiki; empty if it could not be written.
        """
        values = {
            "feature": _words(feature),
            "kind": _words(clarification_type) or UNKNOWN,
            "text": _words(text),
            "section": _words(spec_section or ""),
        }

        def work() -> str:
            given = Clarification(**values, date="", task_id="")
            done = self._archive("spec", task_id, values, evidence=(values["text"],), clarification=given)
            return "" if given.path in dict(done.refused) else given.path

        return self._begin(work, "")

    # Common to all calls

    def _begin(self, work: Callable[[], _Result], otherwise: _Result) -> Coroutine[Any, Any, _Result]:
        """Start work in the service's thread, and return a coroutine that waits for its result."""

        def guarded() -> _Result:
            try:
                return work()
            except Exception:
                _logger.exception("nothing was archived in %s", self.config.wiki_dir)
                return otherwise

        return _wait(self._threads.submit(guarded))

    def _archive(
        self,
        kind: str,
        task_id: str,
        arguments: Mapping[str, Any],
        clarification: Clarification | None = None,
        **parts: Any,
    ) -> Done:
        """Archive the record of a call and update the pages; if the call is on record already, use that record."""
        layout = self.config.layout
        identity = _identity_of(kind, task_id, arguments)
        before = known = _known(layout, identity)
        record = RunRecord.stated(
            identity, _moment(layout, parts.get("coverage", ())), caller_task=redact(task_id), **parts
        )
        try:
            done = archive(layout, known or record, clarification=_of_record(clarification, known or record))
        except WikiError:
            # Another process may have archived the same call just before this one.
            known = None if known else _known(layout, identity)
            if known is None:
                raise
            done = archive(layout, known, clarification=_of_record(clarification, known))
        result = _result(layout, task_id, identity, done, searchable=self._index(layout))
        return Done(identity, result, done.page_of, done.refused, before is not None)

    def _index(self, layout: Layout) -> bool:
        """Bring the search index up to date; return whether there is an index."""
        try:
            return WikiSearchIndex.create(self.config.search_backend, layout.wiki).refresh()
        except BackendError as error:
            _logger.warning("pages were written, but the search index was not brought up to date: %s", error)
            return False

    def _failures(
        self, report: str | None, failure_summary: str | None, classification: str | None
    ) -> tuple[Occurrence, ...]:
        """Return the failures that a session reports, one for each cause."""
        found: dict[str, Occurrence] = {}
        with SessionReader(self.config.layout, self.llm) as session:
            for values in session.failures(report, failure_summary, classification):
                origin = findings.origin(values)
                if "bug_type" not in values:
                    origin = replace(origin, reasons=(_NO_ORIGIN,))
                one = occurrence_of(values, lines_of(values), origin, self.config)
                known = found.setdefault(one.fingerprint, one)
                if known is not one:
                    tests = dict.fromkeys((*known.tests, *one.tests))
                    found[one.fingerprint] = replace(known, tests=tuple(tests))
        return tuple(found.values())


class Done(Struct, frozen=True):
    """The outcome of archiving one call: its result, and the pages that belong to it or were left unchanged."""

    identity: str
    """The name of the call's record."""
    result: WikiIngestResult
    pages: Mapping[str, str]
    """Maps each fingerprint to the path of its page."""
    refused: Sequence[tuple[str, str]]
    """Pages that were left unchanged, each with the reason."""
    was_known: bool
    """Whether the call was on record before."""


async def _wait(future: Future[_Result]) -> _Result:
    # Cancelling the wait, or closing the loop, must not cancel the work.
    return await asyncio.shield(asyncio.wrap_future(future))


def _identity_of(kind: str, task_id: str, arguments: Mapping[str, Any]) -> str:
    """Return the name of a call's record, made of the caller's task id and a hash of the arguments."""
    return task_id_of(task_id, kind, json.dumps([kind, task_id, arguments], sort_keys=True, default=str))


def _words(text: str) -> str:
    return " ".join(redact(text).split())


def _of_record(clarification: Clarification | None, record: RunRecord) -> Clarification | None:
    """Return a clarification with the id and the day of the record that archives it."""
    return clarification and replace(clarification, task_id=record.task_id, date=record.finished[:10])


def _known(layout: Layout, identity: str) -> RunRecord | None:
    with WikiHistory(layout) as history:
        return history.archive.record(identity)


def _moment(layout: Layout, coverage: Sequence[BinRow]) -> str:
    """Return the current time, but at least one second after the bins' newest report, to keep reports in order."""
    if not coverage:
        return now()
    with WikiHistory(layout) as history:
        holes = [bins.hole(history.archive, row.covergroup, row.bin) for row in coverage]
    newest = max((hole.rows[0].finished for hole in holes if hole), default="")
    return max(now(), utc(epoch(newest) + 1)) if newest else now()


def _result(layout: Layout, task_id: str, identity: str, done: ArchiveResult, *, searchable: bool) -> WikiIngestResult:
    log = reading.read_bytes(layout.wiki / "log.md").decode("utf-8", "replace")
    return WikiIngestResult(
        task_id=task_id,
        pages_created=done.pages_created,
        pages_updated=done.pages_updated,
        log_entry=next((line for line in reversed(log.splitlines()) if f" | {identity} | " in line), ""),
        index_updated=True,
        search_index_updated=searchable,
    )
