"""What an agent system found out, archived: each call is a record of its own, and pages follow from records."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_dvwiki import reading
from pytest_dvwiki.backends import BackendError
from pytest_dvwiki.fingerprint import FINGERPRINT_VERSION, fingerprint
from pytest_dvwiki.fingerprint_v1 import fingerprint_v1
from pytest_dvwiki.model import FailedTest, LogReference, Occurrence, Origin, RunRecord
from pytest_dvwiki.records import aggregate
from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.redact import redact, shorten_paths
from pytest_dvwiki.runs import epoch, utc
from pytest_dvwiki.version import TOOL
from pytest_dvwiki.wiki import reports
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
from pytest_dvwiki.wiki.kinds.spec import Clarification
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.writing.build import archive

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from concurrent.futures import Future

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.config import WikiConfig
    from pytest_dvwiki.wiki.writing.build import ArchiveResult

UNKNOWN = "unknown"
EXCERPT_LINES = 40
_EVIDENCE = 20_000
_LINE = 4_096
_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_FINGERPRINT = re.compile(r"[0-9a-f]{12}")
_LOG_LINE = re.compile(r"(.+?):(\d+)")
_Result = TypeVar("_Result")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiIngestResult:
    """What archiving a session did; paths are relative to the wiki. All is empty where it failed."""

    task_id: str
    """As the caller gave it."""
    pages_created: list[str] = field(default_factory=list)
    pages_updated: list[str] = field(default_factory=list)
    log_entry: str = ""
    """The line of `log.md`."""
    index_updated: bool = False
    search_index_updated: bool = False


class WikiIngestService:
    """Archives what an agent system found out.

    Every call begins its work at once in a thread of the service, one after the other, and gives a coroutine that waits
    for it: the event loop is never blocked, and what was called is archived even if nobody waits. A failure is logged,
    not raised. The same call with the same arguments counts once. Texts are read by rules and redacted.

    Args:
        wiki_config: Which wiki. Its `enabled` and `auto_ingest` are for the caller to heed.
        llm: The caller's model client, taken for the sake of a common signature; no rule asks it.
    """

    def __init__(self, wiki_config: WikiConfig, llm: object | None = None) -> None:
        self.config = wiki_config
        self.llm = llm
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dvwiki-ingest")

    def ingest_session(
        self,
        session_report: str,
        failure_summary: str | None,
        classification: str | None,
        coverage_summary: str | None,
        task_id: str,
    ) -> Coroutine[Any, Any, WikiIngestResult]:
        """Archives what one session found: its failure, the failure's origin, and coverage holes.

        Args:
            session_report: Kept as evidence.
            failure_summary: Fields such as `error_class`, `failure_subtype`, `primary`, `test`, `seed`, `log`.
            classification: Fields such as `bug_type`, `confidence`, `rationale`.
            coverage_summary: Fields `covergroup`, `bin`, `action_class`, `scenario`, `priority`, `filled`.
            task_id: The caller's.
        """
        texts = (session_report, failure_summary, classification, coverage_summary)

        def work() -> WikiIngestResult:
            occurrences = self._session(failure_summary, classification)
            done = self._archive(
                "session",
                task_id,
                {"texts": texts},
                occurrences=occurrences,
                coverage=tuple(reports.holes(coverage_summary)),
                evidence=tuple(redact(text)[:_EVIDENCE] for text in texts if text),
            )
            return done.result

        return self._begin(work, WikiIngestResult(task_id=task_id))

    def ingest_pattern(  # noqa: PLR0917 (the specification's signature)
        self,
        failure_subtype: str,
        error_class: str,
        context_lines: list[str],
        fix_applied: str | None,
        success: bool,  # noqa: FBT001 (the specification's signature)
        task_id: str,
    ) -> Coroutine[Any, Any, None]:
        """Counts an occurrence of a subtype on its page `patterns/{failure_subtype}.md`, with the fix that was tried.

        Args:
            failure_subtype: One of the taxonomy, or the caller's own.
            error_class: Likewise.
            context_lines: Of the log, the first one that tells of the failure first.
            fix_applied: What was done; None where nothing was tried.
            success: Whether that helped.
            task_id: The caller's.
        """
        lines = list(context_lines)
        arguments = {
            "failure_subtype": failure_subtype,
            "error_class": error_class,
            "context_lines": lines,
            "fix_applied": fix_applied,
            "success": success,
        }
        text = " ".join(redact(fix_applied or "").split())
        fix = {
            "failure_subtype": failure_subtype,
            "text": text,
            "by": "agent",
            "commits": [],
            "result": "held" if success else "failed",
        }

        def work() -> None:
            values = {"failure_subtype": failure_subtype, "error_class": error_class}
            occurrence = self._occurrence(values, lines, Origin(type="UNKNOWN", confidence=0.0))
            self._archive("pattern", task_id, arguments, occurrences=(occurrence,), fixes=(fix,) if text else ())

        return self._begin(work, None)

    def ingest_bug(
        self, classification_result: object, evidence: list[str], task_id: str, log_path: str
    ) -> Coroutine[Any, Any, str]:
        """Makes or updates the page of a bug.

        Args:
            classification_result: Text, mapping or object with `bug_type`, `confidence`, `rationale`, `error_class`,
                `failure_subtype`; a `fingerprint` says of which known cause it speaks.
            evidence: Lines of the log, the first one that tells of the failure first.
            task_id: The caller's.
            log_path: Of the log, with `:` and a line number where known.

        Returns:
            The page's path relative to the wiki; empty where there is none.
        """
        values = {"log": log_path} | reports.of_result(classification_result)
        lines = list(evidence)

        def work() -> str:
            arguments = {"classification": values, "evidence": lines}
            occurrence = self._occurrence(values, lines, reports.origin(values))
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
        """Makes or updates `coverage/{covergroup}_{bin}.md`.

        Args:
            covergroup: Its name.
            bin_name: Of one of its bins.
            action_class: `actionable`, `protocol_blocked`, `design_excluded` or `needs_investigation`.
            scenario: What would fill it, or did.
            filled: Whether it is covered now.
            task_id: The caller's.
        """
        row = {
            "covergroup": covergroup,
            "bin": bin_name,
            "action_class": action_class,
            "scenario": " ".join(redact(scenario).split()),
            "filled": filled,
        }

        def work() -> None:
            self._archive("coverage", task_id, row, coverage=(row,))

        return self._begin(work, None)

    def ingest_spec_clarification(
        self, feature: str, clarification_type: str, text: str, spec_section: str | None, task_id: str
    ) -> Coroutine[Any, Any, str]:
        """Makes `specs/{feature}_clarification.md`, or adds to it.

        Args:
            feature: Of the design, as the verification plan calls it.
            clarification_type: What was open: `ambiguous`, `missing`, `contradiction`, …
            text: How it is to be read.
            spec_section: Where the specification speaks of it, if it does.
            task_id: The caller's.

        Returns:
            The page's path relative to the wiki; empty where it could not be written.
        """
        values = {
            "feature": _words(feature),
            "kind": _words(clarification_type) or UNKNOWN,
            "text": _words(text),
            "section": _words(spec_section or ""),
        }

        def work() -> str:
            told = Clarification(**values, date="", task_id="")
            done = self._archive("spec", task_id, values, evidence=(values["text"],), clarification=told)
            return "" if told.path in dict(done.refused) else told.path

        return self._begin(work, "")

    # The way of every call

    def _begin(self, work: Callable[[], _Result], otherwise: _Result) -> Coroutine[Any, Any, _Result]:
        """Starts the work, and gives a coroutine that waits for it."""

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
    ) -> _Done:
        """Writes the record of a call, and what follows from it; the one that is there already, if there is one."""
        layout = self.config.layout
        call = json.dumps([kind, task_id, arguments], sort_keys=True, default=str).encode("utf-8", "backslashreplace")
        name = _NO_NAME.sub("-", task_id).strip("-.")[:60] or "agent"
        identity = f"{name}_{kind}_{hashlib.sha256(call).hexdigest()[:12]}"
        known, now = _known(layout, identity), _now(layout, parts.get("coverage", ()))
        record = RunRecord(
            task_id=identity,
            caller_task=redact(task_id),
            tool=TOOL,
            registry="",
            fingerprint_version=FINGERPRINT_VERSION,
            started=now,
            finished=now,
            duration_s=0.0,
            **parts,
        )
        try:
            done = archive(layout, known or record, clarification=_of_record(clarification, known or record))
        except WikiError:
            # Another process that makes the same call may have been faster by a second.
            known = None if known else _known(layout, identity)
            if known is None:
                raise
            done = archive(layout, known, clarification=_of_record(clarification, known))
        result = _result(layout, task_id, identity, done, searchable=self._index(layout))
        return _Done(result, done.page_of, done.refused)

    def _index(self, layout: Layout) -> bool:
        """Brings the search index up to date, and tells whether there is one."""
        try:
            return WikiSearchIndex.create(self.config.search_backend, layout.wiki).refresh()
        except BackendError as error:
            _logger.warning("pages were archived, and cannot be searched: %s", error)
            return False

    def _session(self, failure_summary: str | None, classification: str | None) -> tuple[Occurrence, ...]:
        """The failure that a session tells of, if it tells of one."""
        judged = reports.first_fields(classification)
        values = judged | reports.first_fields(failure_summary)
        if not values.keys() & {"error_class", "failure_subtype", "bug_type"}:
            return ()
        origin = reports.origin(values) if "bug_type" in values else Origin(type="UNKNOWN", confidence=0.0)
        lines = [*values.get("primary", "").splitlines(), *values.get("context", "").splitlines()]
        return (self._occurrence(values, lines, origin),)

    def _occurrence(self, values: Mapping[str, str], lines: Sequence[str], origin: Origin) -> Occurrence:
        root = self.config.layout.root
        text = shorten_paths(redact("\n".join(line[:_LINE] for line in lines)), root)
        kept = [line.rstrip() for line in text.split("\n") if line.strip()][:EXCERPT_LINES]
        error_class = reports.word(values.get("error_class", "")) or UNKNOWN
        subtype = reports.word(values.get("failure_subtype", "")) or UNKNOWN
        primary = kept[0].strip() if kept else f"{error_class} {subtype}"
        told = reports.word(values.get("fingerprint", ""))
        is_told = _FINGERPRINT.fullmatch(told) is not None
        return Occurrence(
            fingerprint=told if is_told else _identity(fingerprint, error_class, primary),
            fingerprint_v1=None if is_told else _identity(fingerprint_v1, error_class, primary),
            error_class=redact(error_class),
            failure_subtype=redact(subtype),
            pattern=None,
            origin=replace(origin, reasons=tuple(shorten_paths(redact(reason), root) for reason in origin.reasons)),
            primary=primary,
            tests=_tests(values),
            excerpt="\n".join(kept),
            log=_log(reports.word(values.get("log", "")), root),
            ip_type=redact(reports.word(values.get("ip_type", ""))) or None,
        )


@dataclass(frozen=True, slots=True)
class _Done:
    """What came of a call."""

    result: WikiIngestResult
    pages: Mapping[str, str]
    """By fingerprint."""
    refused: Sequence[tuple[str, str]]
    """Pages that were left alone, each with the reason."""


async def _wait(future: Future[_Result]) -> _Result:
    # Who stops waiting, or closes the loop, does not take the call back.
    return await asyncio.shield(asyncio.wrap_future(future))


def _words(text: str) -> str:
    return " ".join(redact(text).split())


def _of_record(clarification: Clarification | None, record: RunRecord) -> Clarification | None:
    """A clarification with the record that archives it, and its day."""
    return clarification and replace(clarification, task_id=record.task_id, date=record.finished[:10])


def _known(layout: Layout, identity: str) -> RunRecord | None:
    with WikiHistory(layout) as history:
        return history.archive.record(identity)


def _now(layout: Layout, coverage: Sequence[Mapping[str, Any]]) -> str:
    """The time; of what is said of a bin a second time in one second, a second later, so that the order stays."""
    now = utc(time.time())
    with WikiHistory(layout) as history:
        holes = [aggregate.hole(history.archive, row["covergroup"], row["bin"]) for row in coverage]
    newest = max((hole.rows[0].finished for hole in holes if hole), default="")
    return now if newest < now else utc(epoch(newest) + 1)


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


def _identity(of: Callable[..., str], error_class: str, primary: str) -> str:
    return of(report_class=error_class, file=None, message_id=None, function=None, source_line=None, text=primary)


def _tests(values: Mapping[str, str]) -> tuple[FailedTest, ...]:
    name = redact(reports.word(values.get("test", "")))
    seed = redact(reports.word(values.get("seed", ""))) or None
    return (FailedTest(nodeid=name, seed=seed),) if name else ()


def _log(path: str, root: PurePath) -> LogReference | None:
    """A log as records name it: relative to the root, or by its last two parts."""
    if not path:
        return None
    found = _LOG_LINE.fullmatch(path)
    place, line = (found[1], int(found[2])) if found else (path, None)
    file = PurePath(redact(place))
    if file.is_absolute():
        file = file.relative_to(root) if file.is_relative_to(root) else PurePath(*file.parts[-2:])
    return LogReference(path=file.as_posix(), line=line)
