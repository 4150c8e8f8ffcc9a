"""The tools: each calls what the command of the same name calls."""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_dvwiki import reading, runs
from pytest_dvwiki.agent.budget import Block
from pytest_dvwiki.agent.page_blocks import PageBlocks
from pytest_dvwiki.agent.untrusted import named, prose, quoted
from pytest_dvwiki.backends import BackendError
from pytest_dvwiki.causes.again import as_data, tests_again
from pytest_dvwiki.causes.statements import Advice, standing, statements
from pytest_dvwiki.causes.words import sentence, text
from pytest_dvwiki.extensions import further_patterns
from pytest_dvwiki.logtext.logs import blocks
from pytest_dvwiki.mcp.answers import Answer, Row, denied
from pytest_dvwiki.mcp.schemas import TOOLS
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.model.verdict_data import details
from pytest_dvwiki.pipeline.services import Services
from pytest_dvwiki.records import overview
from pytest_dvwiki.records.command import masked_note
from pytest_dvwiki.redact import clean
from pytest_dvwiki.report.attention import ProjectData
from pytest_dvwiki.tokens import counting
from pytest_dvwiki.upkeep.lint import Depth, lint, report
from pytest_dvwiki.upkeep.lookup import commit_called
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.finding.search import Facets, Filters, WikiSearchIndex
from pytest_dvwiki.wiki.store import WikiStore
from pytest_dvwiki.wiki.store_protocol import Fetched, Written
from pytest_dvwiki.wiki.text.markdown import plain
from pytest_dvwiki.wiki.text.notes import UNREVIEWED
from pytest_dvwiki.wiki.unaccepted import is_unaccepted, unaccepted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.settings import Settings
    from pytest_dvwiki.triage.texts.reading import Reading
    from pytest_dvwiki.wiki.query import WikiHistory

MOST_OF_A_TEXT = 1_000_000
"""Maximum length of a log in a call, in characters."""
MOST_OF_A_LOG = 256 << 20
"""Maximum size of a log that is read, in bytes."""
_BLOCK = 1 << 20
_LIMIT = 10
_NEWS = ("NEW", "REGRESSED", "KNOWN", "WAIVED")
_MOST_FIXES = 3
_LONGEST_ADVICE = 300
_LONGEST_COMMAND = 1000
_QUOTATION = "Quoted page, version, no instructions:\n```markdown\n```"


class Project:
    """The wiki of one project, as the tools show it.

    Args:
        settings: The project.
        allowed: Further folders from which logs may be read.
    """

    def __init__(self, settings: Settings, allowed: Sequence[Path] = ()) -> None:
        self.settings = settings
        self.layout = settings.layout
        self.config = WikiConfig.of(settings)
        self.count = counting(settings.tokenizer)
        self._folders = (self.layout.root, *allowed)
        self._open = contextlib.ExitStack()
        self._searching = threading.Lock()
        self._index: WikiSearchIndex | None = None

    def close(self) -> None:
        """End what follows the pages for searches."""
        self._open.close()

    def call(self, name: str, arguments: dict[str, Any], store: WikiStore) -> Answer:
        """Answer a call.

        Args:
            name: The tool.
            arguments: Its arguments, which its schema has accepted.
            store: The pages, as the caller may read and write them.
        """
        if not self.layout.wiki.is_dir():
            return denied("the project has no wiki yet; `pytest --dvwiki` makes it at the first failure")
        tools: dict[str, Callable[..., Answer]] = {
            "dvwiki_list": self._list,
            "dvwiki_search": self._search,
            "dvwiki_get": self.get,
            "dvwiki_match_failure": self._match,
            "dvwiki_commit": self._commit,
            "dvwiki_append": self._append,
            "dvwiki_handoff": self._hand_off,
            "dvwiki_lint": self._lint,
        }
        given = {key: value for key, value in arguments.items() if key not in {"project", "reader", "budget"}}
        if name == "dvwiki_get":
            given["budget"] = self.budget(arguments)
        answer = tools[name](store, **given)
        if TOOLS[name].writes and not answer.is_refused:
            with self._searching:
                if self._index is not None:
                    self._index.refresh()  # a client finds at once what it wrote
        return answer

    def addresses(self) -> list[str]:
        """Return the addresses of all pages that a list names."""
        return [entry.address for entry in WikiStore(self.config, "agent").list() if not entry.pages]

    def file(self, name: str) -> str:
        """Return a file that the tool writes, or what to do if there is none."""
        try:
            text = outside.read(self.layout.wiki, name).decode("utf-8", "replace")
            return quoted(text, 1 << 20, data=name, language="markdown")
        except OSError:
            return f"{name} is not there; `dvwiki build` makes it"

    def budget(self, arguments: dict[str, Any]) -> int:
        """Return the maximum number of tokens of an answer."""
        return int(arguments.get("budget", self.settings.max_context_tokens))

    def _list(self, store: WikiStore, folder: str | None = None) -> Answer:
        rows, written = [], unaccepted(self.layout.wiki)
        for entry in store.list(folder):
            unreviewed = is_unaccepted(entry.address, written)
            facts = (entry.status, UNREVIEWED if unreviewed else "", entry.age)
            about = ", ".join(filter(None, (*facts, count(entry.pages, "page") if entry.pages else "")))
            shown = f"- {named(entry.address)}{f' ({prose(about)})' if about else ''}: {quoted(entry.title)}"
            data = {key: getattr(entry, key) for key in _LISTED}
            rows.append(Row({**data, "unreviewed": unreviewed}, Block(shown)))
        return Answer(
            text="" if rows else "no page", key="pages", rows=rows, more=", name a folder or search for words"
        )

    def _search(self, _: WikiStore, query: str, limit: int = _LIMIT, **chosen: str) -> Answer:
        if self.settings.search_backend == "none":
            return denied("search_backend is none in project.yaml, which switches searching off; read the list")
        with self._searching:
            if self._index is None:
                try:
                    index = WikiSearchIndex.create(self.settings.search_backend, self.layout.wiki)
                except BackendError as error:
                    return denied(str(error))
                self._open.enter_context(index.followed())
                self._index = index
            results = self._index.search(query, limit, filters=Filters(**chosen), unreviewed=True)
        rows = []
        for found in results:
            status = Facets.of(found.page_path, found.frontmatter).status
            data = {key: getattr(found, key) for key in ("page_path", "score", "title", "unreviewed", "snippet")}
            known = ", ".join(filter(None, (status, found.warning)))
            shown = f"- {named(found.page_path)}{f' ({prose(known)})' if known else ''}: {quoted(plain(found.title))}"
            rows.append(Row({**data, "status": status}, Block(f"{shown}: {quoted(found.snippet)}")))
        nothing = "" if rows else "no page contains a word of the query and passes the filters"
        return Answer(text=nothing, key="results", rows=rows, more=", use more specific words")

    def get(self, store: WikiStore, page: str, section: str | None = None, *, budget: int) -> Answer:
        """Return a page or a section of it, cut at a line if it is longer than the budget."""
        address = _address(page, section)
        found = store.fetch(address)
        if isinstance(found, Written):
            return denied(found.reason)
        shown = replace(found, content=clean(found.content))
        room = budget - self.count(f"{address} {found.version} {_QUOTATION}")
        if self.count(shown.content) > room:
            most = self.count(f"(left out: {self._left_out(shown.shortened(0, self.count))})")
            shown = shown.shortened(max(0, room - most), self.count)
        role = unaccepted(self.layout.wiki).get(shown.address)
        version = f", version {shown.version}" if shown.version else ""
        version += f", unreviewed, by {role}" if role else ""
        leads = f"Its cause is kept by {named(shown.leads_to)}.\n" if shown.leads_to else ""
        quotation = quoted(shown.content, 1 << 20, data=f"page {named(shown.address)}{version}", language="markdown")
        data = {key: getattr(shown, key) for key in ("address", "content", "version", "leads_to")}
        return Answer(data=data, text=f"{leads}{quotation}", left_out=tuple(filter(None, (self._left_out(shown),))))

    def _left_out(self, found: Fetched) -> str:
        """Return what was left out of a page; the caller knows the address before each part."""
        return found.left_out.replace(f"{found.address}#", "")

    def _commit(
        self, store: WikiStore, page: str, content: str, expected_version: str, section: str | None = None
    ) -> Answer:
        return self._written(store.commit(_address(page, section), content, expected_version))

    def _append(self, store: WikiStore, page: str, text: str, section: str | None = None, commit: str = "") -> Answer:
        try:
            proposed = commit_called(self.settings, commit) if commit else ""
        except LookupError as error:
            return denied(str(error))
        return self._written(store.append(_address(page, section), text, proposed))

    def _written(self, outcome: Written) -> Answer:
        """Return the outcome of a write; the present content comes along with a conflict."""
        data = {key: value for key in ("address", "version", "content", "proposal") if (value := getattr(outcome, key))}
        said = f"{outcome.status}: {named(outcome.address)}{f', version {outcome.version}' if outcome.version else ''}"
        present = (
            quoted(outcome.content, 1 << 20, data="present content", language="markdown") if outcome.content else ""
        )
        shown = "\n".join(filter(None, ("" if outcome.reason else said, present)))
        return Answer(data=data, text=shown, status=outcome.status, reason=outcome.reason)

    def _hand_off(self, store: WikiStore, target: str, summary: str, task: str = "") -> Answer:
        outcome = store.handoff(target, summary, task)
        keys = ("by", "to", "asked_for", "task", "step", "max_steps")
        data = {key: value for key in keys if (value := getattr(outcome, key))}
        said = f"{outcome.to} has the work now, handoff {outcome.step} of at most {outcome.max_steps}"
        return Answer(
            data=data, text=said if outcome.status == "done" else "", status=outcome.status, reason=outcome.reason
        )

    def _match(self, _: WikiStore, text: str | None = None, path: str | None = None) -> Answer:
        if text is not None and path is not None:
            return denied("give text or path, not both")
        if path is not None:
            try:
                return self.match_failure(self._read(path))
            except OSError as error:
                return denied(f"{path}: {reading.reason(error)}")
        if text is None:
            return self.newest_run()
        if len(text) > MOST_OF_A_TEXT:
            return denied(f"text has {len(text)} characters, more than {MOST_OF_A_TEXT}; give the path of the log")
        data = text.encode("utf-8", "surrogatepass")
        return self.match_failure(data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))

    def match_failure(self, log: Iterator[bytes]) -> Answer:
        """Return what failed in a log, and what is known of it.

        Raises:
            OSError: The log cannot be read.
        """
        with self._services() as services:
            classifier = services.text_classifier
            sieve = classifier.sieve()
            for block in blocks(log):
                sieve.feed(block)
            return self._named(classifier.conclude(sieve.finish()), services.history)

    def _services(self) -> Services:
        notes: list[str] = []  # `dvwiki patterns test` reports them
        return Services(
            self.settings, extra_patterns=lambda: further_patterns(self.settings, notes.append), note=notes.append
        )

    def _read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file below the project or an allowed folder, reached through no link.

        Raises:
            OSError: It must not or cannot be read.
        """
        file = Path(os.path.normpath(self.layout.root / path))
        folder = next((each for each in self._folders if file.is_relative_to(each)), None)
        if folder is None or "\0" in path:
            raise reading.UnreadableError(1, "is outside the project and the folders of --allow", path)
        inside = file.parent.relative_to(folder)
        if os.path.realpath(file.parent) != str(Path(os.path.realpath(folder)) / inside):
            raise reading.UnreadableError(1, "is behind a link; name the file itself", path)
        with os.fdopen(reading.handle_below(folder, file, os.O_RDONLY), "rb") as stream:
            if os.fstat(stream.fileno()).st_size > MOST_OF_A_LOG:
                size = f"is larger than {MOST_OF_A_LOG >> 20} MiB; `dvwiki scan` reads logs of any size"
                raise reading.UnreadableError(1, size, path)
            yield from iter(partial(stream.read, _BLOCK), b"")

    def _named(self, found: Reading, history: WikiHistory) -> Answer:
        """Return the causes in a text: the first one with all that the verdict says, then the others."""
        rows: list[Row] = []
        for each in found.causes:
            verdict = found.verdict if not rows else None
            cause = history.cause(each.fingerprint)
            said = details(verdict) if verdict else {}
            data = {
                "word": cause.word if cause is not None else "NEW",
                "cause": cause.name if cause is not None else each.fingerprint,
                "label": f"{each.error_class} / {each.failure_subtype}",
                "error_class": each.error_class,
                "failure_subtype": each.failure_subtype,
                "fingerprint": each.fingerprint,
                "primary": each.primary,
                "line": said.get("line", each.line),
                "pattern": each.pattern,
                "fix": each.fix,
                **({"origin": said["origin"]} if verdict else {}),
            }
            place = f"line {data['line']}, pattern {each.pattern}, fingerprint {each.fingerprint}"
            head = f"{data['word']} {data['label']} ({place}): {quoted(each.primary)}"
            advice = (f"Fix: {prose(each.fix)}",) if each.fix and cause is None else ()
            rows.append(self._cause(data, head, advice, cause, history))
        text = "" if rows else "no failure found in this text"
        return Answer(data={"run": None}, text=text, key="causes", rows=rows, more=", give a larger budget")

    def newest_run(self) -> Answer:
        """Return the causes of the newest run, new and regressed ones first, and what is known of them."""
        with ProjectData(self.layout) as sources:
            history = sources.history
            run = overview.newest_run(history.archive)
            if run is None:
                return Answer(data={"run": None, "causes": []}, text="no run is on record")
            names = [history.archive.called_in(run.task_id, each.fingerprint) for each in run.occurrences]
            causes = filter(None, map(history.cause, dict.fromkeys(names)))
            items = [item for item in (sources.item(cause, run.finished) for cause in causes) if item is not None]
            items.sort(key=lambda each: (_NEWS.index(each.word) if each.word in _NEWS else 2, -each.tests))
            rows = []
            for each in items:
                cause, newest = each.cause, each.cause.occurrence
                word = each.word if each.word in _NEWS else "KNOWN"
                tests = f" ({count(each.tests, 'test')})" if each.tests else ""
                data = {
                    "word": word,
                    "cause": cause.name,
                    "label": cause.label,
                    "error_class": newest.error_class,
                    "failure_subtype": newest.failure_subtype,
                    "fingerprint": newest.fingerprint,
                    "primary": newest.primary,
                    "pattern": newest.pattern,
                    "origin": {
                        "type": newest.origin.type,
                        "confidence": newest.origin.confidence,
                        "reasons": list(newest.origin.reasons),
                    },
                }
                head = f"{word} {cause.label}{tests}: {quoted(each.first_cause)}"
                rows.append(self._cause(data, head, (), cause, history))
            totals = run.totals
            failed = totals.failed + totals.errors
            shown = {
                "task_id": run.task_id,
                "finished": run.finished,
                "commit": run.vcs.commit,
                "passed": totals.passed,
                "failed": failed,
            }
            said = f"Newest run {named(run.task_id)}: {failed} failed, {totals.passed} passed"
            return Answer(data={"run": shown}, text=said, key="causes", rows=rows, more=", give a larger budget")

    def _cause(
        self, data: dict[str, Any], head: str, advice: tuple[str, ...], cause: Cause | None, history: WikiHistory
    ) -> Row:
        """Return a cause with what is known of it."""
        if cause is None:
            return Row(
                {**data, "page": None, "tests": 0, "fixes": [], "statements": [], "rerun": None}, Block(head, advice)
            )
        renderer = PageBlocks(self.layout, history, runs.today())
        page = next(iter(history.bug_pages(cause.name)), None)
        cause = renderer.with_advice(page, cause) if page is not None else cause
        said = tuple(
            f"Fix: {prose(words, _LONGEST_ADVICE)}" if isinstance(each, Advice) else sentence(words)
            for each in statements(cause)
            if (words := text(each, renderer.style))
        )
        runnable = (each for each in tests_again(cause, history.archive, "") if not masked_note(each.command))
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
        lines = [*advice, *said]
        if page is not None:
            lines.insert(0, f"Page: {named(page.path)}")
        failed = cause.occurrence.tests[0] if cause.occurrence.tests else None
        if failed is not None:
            seed = f", seed {named(failed.seed)}" if failed.seed else ""
            lines.append(f"Test: {quoted(failed.nodeid)}{seed}")
        # A command that is cut or changed would not work.
        if rerun is not None and rerun["line"] in (shown := quoted(rerun["line"], _LONGEST_COMMAND)):
            lines.append(f"Run again: {shown}")
        return Row(
            {
                **data,
                "page": page.path if page is not None else None,
                "tests": len(cause.tests),
                "test": failed.nodeid if failed is not None else None,
                "seed": failed.seed if failed is not None else None,
                "fix": data.get("fix") or cause.advice or None,
                "fixes": fixes,
                "statements": list(said),
                "rerun": rerun,
            },
            Block(head, tuple(lines)),
        )

    def _lint(self, _: WikiStore, depth: Depth = "full") -> Answer:
        found = report(lint(self.layout, depth))
        rows = [
            Row(
                {"page": each.page, "line": each.line, "kind": each.kind, "text": each.text, "remedy": each.remedy},
                Block(f"- {named(each.page)}:{each.line}: {each.kind}: {quoted(each.text)}; {prose(each.remedy)}"),
            )
            for each in found.findings
        ]
        data = {"human_review_required": found.human_review_required}
        text = count(len(rows), "finding") if rows else "the wiki is sound"
        return Answer(data=data, text=text, key="findings", rows=rows, more=", give a larger budget")


_LISTED = ("address", "category", "title", "summary", "version", "last_author", "words", "status", "age", "pages")


def _address(page: str, section: str | None) -> str:
    return f"{page.removesuffix('.md')}{f'#{section}' if section else ''}"
