"""The causes in a log or in the newest run, with what is known about them, for `dvwiki_match_failure`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_dvwiki import runs
from pytest_dvwiki.agent.budget import PromptBlock
from pytest_dvwiki.agent.page_blocks import PageBlocks
from pytest_dvwiki.agent.untrusted import named, prose, quoted
from pytest_dvwiki.causes.again import as_data, reruns_of
from pytest_dvwiki.causes.statements import Advice, standing, statements
from pytest_dvwiki.causes.words import sentence, text
from pytest_dvwiki.extensions import further_patterns
from pytest_dvwiki.logtext.logs import blocks
from pytest_dvwiki.mcp.answers import Row, ToolAnswer
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.records import overview
from pytest_dvwiki.records.command import masked_note
from pytest_dvwiki.report.attention import state_of
from pytest_dvwiki.triage.texts.reading import TextClassifier, details

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.model import Occurrence
    from pytest_dvwiki.settings import Layout, Settings
    from pytest_dvwiki.triage.texts.reading import Reading, Sighting
    from pytest_dvwiki.wiki.query import WikiHistory

    Opened = Callable[[], AbstractContextManager[WikiHistory]]

_NEWS = ("NEW", "REGRESSED", "KNOWN", "WAIVED")
_MOST_FIXES = 3
_LONGEST_ADVICE = 300
_LONGEST_COMMAND = 1000
_MORE = ", give a larger budget"


def in_log(settings: Settings, log: Iterator[bytes], opened: Opened) -> ToolAnswer:
    """Return the causes in a log, and what is known about them.

    Args:
        settings: The project.
        log: The content of the log in blocks of any size.
        opened: Opens the records and pages; they are not held open while the log is read.

    Raises:
        OSError: The log cannot be read.
    """
    notes: list[str] = []  # about invalid patterns; dropped, because `dvwiki patterns test` reports these
    extra = partial(further_patterns, settings, notes.append)
    registry = Services(settings, extra_patterns=extra, note=notes.append).registry
    sieve = TextClassifier(registry).sieve()
    for block in blocks(log):
        sieve.feed(block)
    kept = sieve.finish()
    with opened() as history:
        return _Known(settings.layout, history).named(TextClassifier(registry, history).conclude(kept))


def in_newest_run(settings: Settings, opened: Opened) -> ToolAnswer:
    """Return the causes of the newest run, new and regressed causes first, and what is known about them."""
    with opened() as history:
        return _Known(settings.layout, history).newest_run()


class _Known:
    """Looks up what is known about causes."""

    def __init__(self, layout: Layout, history: WikiHistory) -> None:
        self._history = history
        self._renderer = PageBlocks(layout, history, runs.today())

    def named(self, found: Reading) -> ToolAnswer:
        """Return the causes in a log; only the first cause has the full verdict."""
        rows: list[Row] = []
        for each in found.causes:
            verdict = found.verdict if not rows else None
            cause = self._history.cause(each.fingerprint)
            decided = details(verdict) if verdict else {}
            data = {
                "word": cause.word if cause is not None else "NEW",
                "cause": cause.name if cause is not None else each.fingerprint,
                "label": f"{each.error_class} / {each.failure_subtype}",
                **_facts(each),
                "line": decided.get("line", each.line),
                "pattern": each.pattern,
                "fix": each.fix,
                **({"origin": decided["origin"]} if verdict else {}),
            }
            place = f"line {data['line']}, pattern {each.pattern}, fingerprint {each.fingerprint}"
            head = f"{data['word']} {data['label']} ({place}): {quoted(each.primary)}"
            advice = (f"Fix: {prose(each.fix)}",) if each.fix and cause is None else ()
            rows.append(self._row(data, head, advice, cause))
        text = "" if rows else "no failure found in this text"
        return ToolAnswer(data={"run": None}, text=text, key="causes", rows=rows, more=_MORE)

    def newest_run(self) -> ToolAnswer:
        """Return the causes of the newest run."""
        archive = self._history.archive
        run = overview.newest_run(archive)
        if run is None:
            return ToolAnswer(data={"run": None, "causes": []}, text="no run is on record")
        names = dict.fromkeys(archive.called_in(run.task_id, each.fingerprint) for each in run.occurrences)
        causes = filter(None, map(self._history.cause, names))
        states = ((state_of(cause, archive, run.finished), cause) for cause in causes)
        found = [(state[0] if state[0] in _NEWS else "KNOWN", cause) for state, cause in states if state is not None]
        rows = []
        for word, cause in sorted(found, key=lambda each: (_NEWS.index(each[0]), -len(each[1].tests))):
            newest = cause.occurrence
            tests = f" ({count(len(cause.tests), 'test')})" if cause.tests else ""
            data = {
                "word": word,
                "cause": cause.name,
                "label": cause.label,
                **_facts(newest),
                "pattern": newest.pattern,
                "origin": {
                    "type": newest.origin.type,
                    "confidence": newest.origin.confidence,
                    "reasons": list(newest.origin.reasons),
                },
            }
            rows.append(self._row(data, f"{word} {cause.label}{tests}: {quoted(newest.primary)}", (), cause))
        totals = run.totals
        failed = totals.failed + totals.errors
        shown = {
            "task_id": run.task_id,
            "finished": run.finished,
            "commit": run.vcs.commit,
            "passed": totals.passed,
            "failed": failed,
        }
        head = f"Newest run {named(run.task_id)}: {failed} failed, {totals.passed} passed"
        return ToolAnswer(data={"run": shown}, text=head, key="causes", rows=rows, more=_MORE)

    def _row(self, data: dict[str, Any], head: str, advice: tuple[str, ...], cause: Cause | None) -> Row:
        """Return a row about a failure; if its cause is on record, with page, fixes, statements and rerun command."""
        if cause is None:
            return Row(
                {**data, "page": None, "tests": 0, "fixes": [], "statements": [], "rerun": None},
                PromptBlock(head, advice),
            )
        page = next(iter(self._history.bug_pages(cause.name)), None)
        cause = self._renderer.with_advice(page, cause) if page is not None else cause
        stated = tuple(
            f"Fix: {prose(words, _LONGEST_ADVICE)}" if isinstance(each, Advice) else sentence(words)
            for each in statements(cause)
            if (words := text(each, self._renderer.style))
        )
        runnable = (each for each in reruns_of(cause, self._history.archive, "") if not masked_note(each.command))
        again = next(runnable, None)
        rerun = None
        if again is not None:
            row = as_data(cause, again)
            rerun = {key: row[key] for key in ("test", "seed", "simulator", "duration_s", "line", "folder")}
        fixes = [
            {
                "text": state.fix.text,
                "commits": list(state.fix.commits or ()),
                "by": state.fix.by,
                "date": state.fix.date,
                "standing": standing(state),
            }
            for state in reversed(cause.states[-_MOST_FIXES:])
        ]
        lines = [*advice, *stated]
        if page is not None:
            lines.insert(0, f"Page: {named(page.path)}")
        failed = cause.occurrence.tests[0] if cause.occurrence.tests else None
        if failed is not None:
            seed = f", seed {named(failed.seed)}" if failed.seed else ""
            lines.append(f"Test: {quoted(failed.nodeid)}{seed}")
        # A command that is cut or changed would not work.
        if rerun is not None and rerun["line"] in (shown := quoted(rerun["line"], _LONGEST_COMMAND)):
            is_this = failed is not None and (rerun["test"], rerun["seed"]) == (failed.nodeid, failed.seed)
            lines.append(f"Run again{'' if is_this else ', the shortest failing run'}: {shown}")
        return Row(
            {
                **data,
                "page": page.path if page is not None else None,
                "tests": len(cause.tests),
                "test": failed.nodeid if failed is not None else None,
                "seed": failed.seed if failed is not None else None,
                "fix": data.get("fix") or cause.advice or None,
                "fixes": fixes,
                "statements": list(stated),
                "rerun": rerun,
            },
            PromptBlock(head, tuple(lines)),
        )


def _facts(seen: Sighting | Occurrence) -> dict[str, Any]:
    return {key: getattr(seen, key) for key in ("error_class", "failure_subtype", "fingerprint", "primary")}
