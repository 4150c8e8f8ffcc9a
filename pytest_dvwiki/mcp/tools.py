"""The MCP tools; each calls the same code as a command of `dvwiki`."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.agent.budget import PromptBlock
from pytest_dvwiki.agent.followed import FollowedWiki
from pytest_dvwiki.agent.untrusted import named, prose, quoted
from pytest_dvwiki.mcp.answers import Row, ToolAnswer, denied
from pytest_dvwiki.mcp.causes import in_log, in_newest_run
from pytest_dvwiki.mcp.schemas import TOOLS
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.redact import clean
from pytest_dvwiki.tokens import counting
from pytest_dvwiki.upkeep.accept import shown as proposal_text
from pytest_dvwiki.upkeep.lint import Depth, lint, report
from pytest_dvwiki.upkeep.lookup import commit_called
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.finding.search import Filters, shown_status
from pytest_dvwiki.wiki.review import FOLDER, ReviewError, ReviewQueue
from pytest_dvwiki.wiki.store import WikiStore
from pytest_dvwiki.wiki.store_protocol import Fetched, PageEntry, Written
from pytest_dvwiki.wiki.text import parts
from pytest_dvwiki.wiki.text.markdown import plain
from pytest_dvwiki.wiki.text.notes import UNREVIEWED
from pytest_dvwiki.wiki.unaccepted import is_unaccepted, unaccepted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_dvwiki.settings import Settings

MOST_OF_A_TEXT = 1_000_000
"""Maximum length, in characters, of a log passed as text in a tool call."""
MOST_OF_A_LOG = 256 << 20
"""Maximum size of a log that is read, in bytes."""
_BLOCK = 1 << 20
_LIMIT = 10
_QUOTATION = "Quoted page, version, no instructions:\n```markdown\n```"


class Project:
    """The wiki of one project, as the tools present it.

    This class is long because each tool is a method, and all tools need the same wiki.

    Args:
        settings: The project.
        allowed: Other folders from which logs may be read.

    Raises:
        BackendError: The project's search backend does not exist, or cannot be loaded.
    """

    def __init__(self, settings: Settings, allowed: Sequence[Path] = ()) -> None:
        self.settings = settings
        self.layout = settings.layout
        self.config = WikiConfig.of(settings)
        self.count = counting(settings.tokenizer)
        self._folders = (self.layout.root, *allowed)
        self._wiki = FollowedWiki(self.layout, settings.search_backend)

    def close(self) -> None:
        """Stop the thread that follows the pages."""
        self._wiki.close()

    def store(self, role: str) -> WikiStore:
        """Return a store for reading and writing pages in a role."""
        return WikiStore(self.config, role, pages=self._wiki.pages)

    def call(self, name: str, arguments: dict[str, Any], store: WikiStore) -> ToolAnswer:
        """Return the answer to a call of a tool, which reads and writes pages through `store`."""
        if not self.layout.wiki.is_dir():
            return denied("the project has no wiki yet; `pytest --dvwiki` creates it at the first failure")
        tools: dict[str, Callable[..., ToolAnswer]] = {
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
            self._wiki.look()  # the client's next query finds what it wrote
        return answer

    def addresses(self) -> list[str]:
        """Return the addresses of all pages that `dvwiki_list` lists."""
        return [entry.address for entry in self.store("agent").list() if not entry.pages]

    def file(self, name: str) -> str:
        """Return the content of a file that dvwiki writes; if it is missing, a sentence that says how to create it."""
        try:
            text = outside.read(self.layout.wiki, name).decode("utf-8", "replace")
            return quoted(text, 1 << 20, data=name, language="markdown")
        except OSError:
            return f"{name} does not exist; `dvwiki build` creates it"

    def budget(self, arguments: dict[str, Any]) -> int:
        """Return the maximum number of tokens of an answer: the argument `budget`, else `max_context_tokens`."""
        return int(arguments.get("budget", self.settings.max_context_tokens))

    def _list(self, store: WikiStore, folder: str | None = None) -> ToolAnswer:
        entries, written = store.list(folder), unaccepted(self.layout.wiki)

        def row(entry: PageEntry) -> Row:
            unreviewed = is_unaccepted(entry.address, written)
            facts = (entry.status, UNREVIEWED if unreviewed else "", entry.age)
            about = ", ".join(filter(None, (*facts, count(entry.pages, "page") if entry.pages else "")))
            shown = f"- {named(entry.address)}{f' ({prose(about)})' if about else ''}: {quoted(entry.title)}"
            data = {key: getattr(entry, key) for key in _LISTED}
            return Row({**data, "unreviewed": unreviewed}, PromptBlock(shown))

        more = ", choose a folder or search for words"
        return ToolAnswer(text="" if entries else "no page", key="pages", rows=entries, row=row, more=more)

    def _search(self, _: WikiStore, query: str, limit: int = _LIMIT, **chosen: str) -> ToolAnswer:
        if self.settings.search_backend == "none":
            return denied("`search_backend: none` in project.yaml switches searching off; use dvwiki_list")
        with self._wiki.knowledge() as knowledge:
            results = knowledge.index.search(query, limit, filters=Filters(**chosen), unreviewed=True)
        rows = []
        for found in results:
            status = shown_status(found.page_path, found.frontmatter)
            data = {key: getattr(found, key) for key in ("page_path", "score", "title", "unreviewed", "snippet")}
            known = ", ".join(filter(None, (status, found.warning)))
            shown = f"- {named(found.page_path)}{f' ({prose(known)})' if known else ''}: {quoted(plain(found.title))}"
            rows.append(Row({**data, "status": status}, PromptBlock(f"{shown}: {quoted(found.snippet)}")))
        nothing = "" if rows else "no page that passes the filters contains any word of the query"
        return ToolAnswer(text=nothing, key="results", rows=rows, more=", use more specific words")

    def get(self, store: WikiStore, page: str, section: str | None = None, *, budget: int) -> ToolAnswer:
        """Return a page or a section of it, cut at a line if it is longer than the budget."""
        address = _address(page, section)
        is_proposal = address.startswith(f"{FOLDER}/")
        found = self._proposal(address) if is_proposal else store.fetch(address)
        if isinstance(found, Written):
            return denied(found.reason)
        shown = replace(found, content=clean(found.content))
        room = budget - self.count(f"{address} {found.version} {_QUOTATION}")
        if self.count(shown.content) > room:
            most = self.count(f"(left out: {self._left_out(shown.shortened(0, self.count))})")
            shown = shown.shortened(max(0, room - most), self.count)
        role = unaccepted(self.layout.wiki).get(shown.address)
        version = f", version {shown.version}" if shown.version else ""
        version += f", unreviewed, by {role}" if role else ", a proposal" if is_proposal else ""
        leads = f"Superseded by {named(shown.leads_to)}.\n" if shown.leads_to else ""
        quotation = quoted(shown.content, 1 << 20, data=f"page {named(shown.address)}{version}", language="markdown")
        data = {key: getattr(shown, key) for key in ("address", "content", "version", "leads_to")}
        return ToolAnswer(data=data, text=f"{leads}{quotation}", left_out=tuple(filter(None, (self._left_out(shown),))))

    def _proposal(self, address: str) -> Fetched | Written:
        """Return a proposal, or a part of it, as `dvwiki review show` prints it; a refusal if there is none."""
        name, _, heading = address.removeprefix(f"{FOLDER}/").partition("#")
        try:
            content = proposal_text(self.layout, ReviewQueue(self.layout).get(name))
        except ReviewError as error:
            return Written(status="denied", address=address, reason=str(error))
        place = parts.part(content, heading) if heading else (0, len(content))
        if place is None:
            return Written(status="denied", address=address, reason=f"the proposal has no heading {heading!r}")
        return Fetched(address=address, content=content[slice(*place)], version="")

    def _left_out(self, found: Fetched) -> str:
        """Return what was left out of a page, without the page's address, which the caller knows."""
        return found.left_out.replace(f"{found.address}#", "")

    def _commit(
        self, store: WikiStore, page: str, content: str, expected_version: str, section: str | None = None
    ) -> ToolAnswer:
        return self._written(store.commit(_address(page, section), content, expected_version))

    def _append(
        self, store: WikiStore, page: str, text: str, section: str | None = None, commit: str = ""
    ) -> ToolAnswer:
        try:
            proposed = commit_called(self.settings, commit) if commit else ""
        except LookupError as error:
            return denied(str(error))
        return self._written(store.append(_address(page, section), text, proposed))

    def _written(self, outcome: Written) -> ToolAnswer:
        """Return the outcome of a write, with the current content after a conflict."""
        data = {key: value for key in ("address", "version", "content", "proposal") if (value := getattr(outcome, key))}
        done = f"{outcome.status}: {named(outcome.address)}{f', version {outcome.version}' if outcome.version else ''}"
        present = (
            quoted(outcome.content, 1 << 20, data="current content", language="markdown") if outcome.content else ""
        )
        shown = "\n".join(filter(None, ("" if outcome.reason else done, present)))
        return ToolAnswer(data=data, text=shown, status=outcome.status, reason=outcome.reason)

    def _hand_off(self, store: WikiStore, target: str, summary: str, task: str = "") -> ToolAnswer:
        outcome = store.handoff(target, summary, task)
        keys = ("by", "to", "asked_for", "task", "step", "max_steps")
        data = {key: value for key in keys if (value := getattr(outcome, key))}
        done = f"{outcome.to} has the work now, handoff {outcome.step} of at most {outcome.max_steps}"
        return ToolAnswer(
            data=data, text=done if outcome.status == "done" else "", status=outcome.status, reason=outcome.reason
        )

    def _match(self, _: WikiStore, text: str | None = None, path: str | None = None) -> ToolAnswer:
        if text is not None and path is not None:
            return denied("give text or path, not both")
        if path is not None:
            try:
                return in_log(self.settings, self._read(path), self._wiki.history)
            except OSError as error:
                return denied(f"{path}: {reading.reason(error)}")
        if text is None:
            return in_newest_run(self.settings, self._wiki.history)
        if len(text) > MOST_OF_A_TEXT:
            return denied(f"text has {len(text)} characters, more than {MOST_OF_A_TEXT}; give the path of the log")
        data = text.encode("utf-8", "surrogatepass")
        parts = (data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))
        return in_log(self.settings, parts, self._wiki.history)

    def _read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file below the project or an allowed folder; a path through a link is refused.

        Raises:
            OSError: The file must not be read, or cannot be read.
        """
        file = Path(os.path.normpath(self.layout.root / path))
        folder = next((each for each in self._folders if file.is_relative_to(each)), None)
        if folder is None or "\0" in path:
            raise reading.UnreadableError(1, "is outside the project and the folders of --allow", path)
        inside = file.parent.relative_to(folder)
        if os.path.realpath(file.parent) != str(Path(os.path.realpath(folder)) / inside):
            raise reading.UnreadableError(1, "is reached through a link; give the path of the file itself", path)
        with os.fdopen(reading.handle_below(folder, file, os.O_RDONLY), "rb") as stream:
            if os.fstat(stream.fileno()).st_size > MOST_OF_A_LOG:
                size = f"is larger than {MOST_OF_A_LOG >> 20} MiB; `dvwiki scan` reads logs of any size"
                raise reading.UnreadableError(1, size, path)
            yield from iter(partial(stream.read, _BLOCK), b"")

    def _lint(self, _: WikiStore, depth: Depth = "full") -> ToolAnswer:
        found = report(lint(self.layout, depth))
        rows = [
            Row(
                {"page": each.page, "line": each.line, "kind": each.kind, "text": each.text, "remedy": each.remedy},
                PromptBlock(
                    f"- {named(each.page)}:{each.line}: {each.kind}: {quoted(each.text)}; {prose(each.remedy)}"
                ),
            )
            for each in found.findings
        ]
        data = {"human_review_required": found.human_review_required}
        text = count(len(rows), "finding") if rows else "the wiki is sound"
        return ToolAnswer(data=data, text=text, key="findings", rows=rows, more=", give a larger budget")


_LISTED = ("address", "category", "title", "summary", "version", "last_author", "words", "status", "age", "pages")


def _address(page: str, section: str | None) -> str:
    return f"{page.removesuffix('.md')}{f'#{section}' if section else ''}"
