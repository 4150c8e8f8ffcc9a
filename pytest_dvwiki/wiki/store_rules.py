"""The rules of every store of pages: who may write what, versions, read caps and handoffs.

A version is a hash of the content that was read. A caller passes the version with a write, so that the write never
overwrites a change that somebody else made in between. Refusals are returned, not raised; they give the reason and what
would be allowed. A subclass of `CheckedStore` defines where the pages are kept.
"""

from __future__ import annotations

import abc
import re
from typing import TYPE_CHECKING, Any, Literal

from pytest_dvwiki import yamlio
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.redact import redact
from pytest_dvwiki.runs import today
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.age import tag
from pytest_dvwiki.wiki.finding.search import shown_status
from pytest_dvwiki.wiki.kinds.owned import OWNED
from pytest_dvwiki.wiki.page_cache import version_of
from pytest_dvwiki.wiki.page_summary import CATEGORIES
from pytest_dvwiki.wiki.schema import (
    DIRECTLY,
    HANDOFFS,
    LOG,
    READ_CAP,
    Address,
    Schema,
    SchemaError,
    Section,
    with_section,
)
from pytest_dvwiki.wiki.store_content import (
    decoded,
    denied,
    ended,
    part_of,
    problem_of,
    refuse_breakout,
    refuse_length,
    span_of,
    with_part,
)
from pytest_dvwiki.wiki.store_protocol import Fetched, HandedOff, PageEntry, Turn, Written
from pytest_dvwiki.wiki.text import splice
from pytest_dvwiki.wiki.text.markdown import plain
from pytest_dvwiki.wiki.text.names import file_name, is_file_name
from pytest_dvwiki.wiki.text.notes import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date

    from pytest_dvwiki.wiki.page_summary import PageSummary
    from pytest_dvwiki.wiki.review import Kind

_NO_PAGE = "there is no such page; `list` shows all pages"
_LONGEST_LINE = 4000
"""Maximum number of characters of a line that is added to a section such as `log`."""
_MOST_LISTED = 50
"""If a list has more pages than this, it shows sub-folders instead of the pages in them."""
_TASK = re.compile(r"[\w.-]{0,100}")
_WRITTEN_BY = re.compile(
    r"^## \[[^\]]*\] commit \| - \| (?P<page>[^#\n]+?)(?:#[^\n]*)? by (?P<role>\S+)$", re.MULTILINE
)
_HANDED = re.compile(r"^## \[[^\]]*\] handoff \| (?P<task>\S+) \| ", re.MULTILINE)
_LINE_BY = re.compile(r"^## \[[^\]]*\] (?:note \| - \| (?P<note>\S+):|handoff \| \S+ \| (?P<handoff>\S+) ->)")


class CheckedStore(abc.ABC):
    """Reads and writes pages in one role, wherever the pages are kept; implements `Store`.

    This class is long because the rules for all its methods belong together. A subclass may raise `WikiError` if its
    pages cannot be written.

    Args:
        role: A role of the schema.

    Raises:
        ValueError: The role does not exist.
    """

    def __init__(self, role: str) -> None:
        if role not in self.schema.roles:
            raise ValueError(f"there is no role {role!r}; choose from {', '.join(self.schema.roles)}")
        self.role = role
        self._turn = Turn()

    # Where the pages are kept

    @property
    @abc.abstractmethod
    def schema(self) -> Schema:
        """Return the sections and roles."""

    @abc.abstractmethod
    def _schema_text(self) -> str:
        """Return the schema as YAML text."""

    @abc.abstractmethod
    def _summaries(self, categories: Sequence[str]) -> list[PageSummary]:
        """Return the pages of some categories, sorted by path."""

    @abc.abstractmethod
    def _read(self, path: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            OSError: The file does not exist, or may not be read.
        """

    @abc.abstractmethod
    def _replace(self, path: str, decide: Callable[[bytes | None], bytes | None], log_text: str) -> str | None:
        """Replace the bytes of a page with what `decide` returns for them, under the lock; None means no change.

        Returns:
            Why the page could not be written; None if there was no problem.
        """

    @abc.abstractmethod
    def _add_line(self, path: str, title: str, make: Callable[[str], str | None]) -> None:
        """Append the line that `make` returns for a file's current text, under the lock; None means no line."""

    @abc.abstractmethod
    def _propose(self, kind: Kind, target: str, text: str, reason: str) -> str:
        """Put a proposal into the review queue, and return its id."""

    def _keeper(self, place: Address) -> Address | None:  # noqa: ARG002 (for stores that merge pages)
        """If another page now keeps a bug page's cause, return the matching address there; else None."""
        return None

    # Reading

    def list(self, folder: str | None = None) -> list[PageEntry]:
        """Return the pages of a category or sub-folder, or of all categories; see `Store.list`."""
        folder = (folder or "").strip("/")
        categories = [each for each in CATEGORIES if not folder or folder.split("/")[0] == each]
        listed = [page for page in self._summaries(categories) if not folder or page.path.startswith(f"{folder}/")]
        shown: dict[str, list[PageSummary]] = {}
        for page in listed:
            base = folder or page.category
            below = page.path[len(base) + 1 :].split("/")
            is_folded = len(listed) > _MOST_LISTED and len(below) > 1
            shown.setdefault(f"{base}/{below[0]}/" if is_folded else page.path, []).append(page)
        log, day = self._text_or_empty("log.md"), today()
        authors = {found["page"]: found["role"] for found in _WRITTEN_BY.finditer(log)}
        entries = [
            _folded(path, found) if path.endswith("/") else self._entry(found[0], authors, day)
            for path, found in shown.items()
        ]
        files = [each for each in self.schema.files() if folder == each.address.category]
        files = files or ([each for each in self.schema.files() if each.address.category != LOG] if not folder else [])
        return entries + [entry for section in files for entry in self._file_entry(section, authors)]

    def _text_or_empty(self, path: str) -> str:
        try:
            return self._read(path).decode("utf-8", "replace")
        except OSError:
            return ""

    def _entry(self, page: PageSummary, authors: Mapping[str, str], day: date) -> PageEntry:
        address = page.path.removesuffix(".md")
        return PageEntry(
            address=address,
            category=page.category,
            title=plain(page.title),
            metadata=page.metadata,
            age=tag(page, day),
            summary=page.opening,
            version=page.version,
            last_author=authors.get(address, "ingest" if page.category in OWNED else ""),
            words=page.words,
            status=shown_status(page.path, page.metadata),
        )

    def _file_entry(self, section: Section, authors: Mapping[str, str]) -> Iterator[PageEntry]:
        """Yield the entry of a section that is a separate file, if the file exists."""
        text, name = self._text_or_empty(section.address.path), section.address.category
        if text:
            last = _LINE_BY.match(text.rstrip("\n").rpartition("\n")[2])
            yield PageEntry(
                address=name,
                category=name,
                title=section.title or name,
                summary=section.description,
                version=version_of(text),
                last_author=(last and (last["note"] or last["handoff"])) or authors.get(name, ""),
                words=len(text.split()),
            )

    def fetch(self, address: str) -> Fetched | Written:
        """Read a page or a part of a page; see `Store.fetch`.

        Returns:
            The content; if a bug page is gone, the content and address of the page that now has its cause.
        """
        place = self._place(address)
        if isinstance(place, Written):
            return place
        keeper = self._keeper(place)
        if keeper is not None and not self._exists(place):
            place, keeper = keeper, None
        section = self.schema.section_of(place)
        refusal = section and self._turn.refusal(section)
        if refusal:
            return denied(place, refusal)
        text = self._text(place)
        found = text if isinstance(text, Written) else part_of(text, place)
        if isinstance(found, Written):
            return found
        if section is not None:
            self._turn.count_read(section, str(place))
        leads_to = f"{keeper.category}/{keeper.page}" if keeper else ""
        return Fetched(address=str(place), content=found, version=version_of(found), leads_to=leads_to)

    # Writing

    def commit(self, address: str, content: str, expected_version: str) -> Written:
        """Replace the content of a page or a part of a page, or create a page; see `Store.commit`."""
        place = self._writable(address, "snapshot")
        if isinstance(place, Written):
            return place
        if not expected_version and place.heading is None and not self._exists(place):
            return self._make(place, content)

        def decide(text: str) -> str | Written:
            present = part_of(text, place)
            if isinstance(present, Written):
                return present
            if version_of(present) != expected_version:
                return Written(
                    status="conflict",
                    address=str(place),
                    version=version_of(present),
                    content=present,
                    reason="somebody changed it after you read it; apply your change to the content given here",
                )
            return with_part(text, place, content, self.role)

        return self._change(place, decide)

    def create(self, category: str, name: str, content: str) -> Written:
        """Create a page with `commit`, after replacing characters that are not allowed in a file name."""
        if category not in CATEGORIES:
            return denied(category, f"there is no category {category!r}; choose from {', '.join(CATEGORIES)}")
        return self.commit(f"{category}/{file_name(name.removesuffix('.md'))}", content, "")

    def _make(self, place: Address, content: str) -> Written:
        """Create a page; an agent's page is only proposed, for a person to decide."""
        if place.category in OWNED and self.role != "ingest":
            return denied(
                place,
                f"pages of {place.category} are made from records only; archive a run with WikiIngestService, or write"
                " to specs or topics",
            )
        problem = problem_of(content, place, is_new=True)
        if problem:
            return denied(place, problem)
        new = ended(redact(content))
        if place.category in CATEGORIES and self.role not in DIRECTLY:
            proposal = self._propose("page", str(place), new, f"a new page, made by the role {self.role}")
            self._turn.end()
            return Written(
                status="proposed",
                address=str(place),
                proposal=proposal,
                reason=f"a person has to accept it: `dvwiki review accept {proposal}`",
            )
        return self._change(place, lambda _: new, may_create=True)

    def append(self, address: str, text: str, commit: str = "") -> Written:
        """Append text to a part of a page, or a line to a section such as `log`; see `Store.append`."""
        place = self._writable(address, "log")
        if isinstance(place, Written):
            return place
        if place.category not in CATEGORIES:
            line = " ".join(redact(text).split())
            problem = _problem_of_line(line)
            if problem:
                return denied(place, problem)
            self._add_line(place.path, self._title(place), lambda _: f"note | - | {self.role}: {line}")
            self._turn.end()
            return Written(status="done", address=str(place))

        def decide(page: str) -> str | Written:
            present = part_of(page, place)
            if isinstance(present, Written):
                return present
            added = text if self.role in DIRECTLY else note(text, self.role, today(), commit)
            addition = splice.cleaned(added, page)
            # A list entry can contain a heading, so a note with a heading is refused, whoever writes it.
            breakout = refuse_breakout(page, place, text) or refuse_breakout(page, place, addition)
            return refuse_length(place, addition) or breakout or splice.appended(page, span_of(page, place), addition)

        return self._change(place, decide)

    def create_section(
        self,
        name: str,
        *,
        mode: str,
        writable_by: Sequence[str],
        reason: str,
        title: str = "",
        description: str = "",
        read_cap: int = READ_CAP,
    ) -> Written:
        """Propose a new section; see `Store.create_section`."""
        keys: dict[str, Any] = {"title": redact(title), "description": redact(description), "mode": mode}
        keys |= {"writable_by": list(writable_by), "read_cap": read_cap}
        entry = ", ".join(f"{key}: {yamlio.flow(value)}" for key, value in keys.items() if value != "")
        line = f"{yamlio.flow(name)}: {{{entry}}}"
        try:
            with_section(self._schema_text(), line)
        except SchemaError as error:
            return denied(name, str(error))
        if not reason.strip():
            return denied(name, "say in `reason` what the section is for")
        proposal = self._propose("section", name, line, reason)
        return Written(
            status="proposed",
            address=name,
            proposal=proposal,
            reason=f"a person has to accept it: `dvwiki review accept {proposal}`",
        )

    def handoff(self, target: str, summary: str, task: str = "") -> HandedOff:
        """Pass the work on to a later role of the pipeline; see `Store.handoff`."""
        pipeline, most = self.schema.pipeline, self.schema.max_steps
        words = " ".join(redact(summary).split())
        problem = self._problem_of_handoff(target, words, task)
        if problem:
            return HandedOff(status="denied", by=self.role, task=task, max_steps=most, reason=problem)
        mine = pipeline.index(self.role)
        forward = pipeline.index(target) > mine
        to = target if forward else pipeline[min(mine + 1, len(pipeline) - 1)]
        asked = "" if forward else f" (asked for {target})"
        steps = 0

        def line(text: str) -> str | None:
            nonlocal steps
            steps = sum(found["task"] == (task or "-") for found in _HANDED.finditer(text)) + 1
            return None if steps > most else f"handoff | {task or '-'} | {self.role} -> {to}{asked}: {words}"

        self._add_line(f"{HANDOFFS}.md", self._title(Address(HANDOFFS)), line)
        if steps > most:
            reason = (
                f"the {count(most, 'handoff')} of {f'the task {task}' if task else 'this work'} are used up (max_steps"
                " of schema.yaml); stop and ask a person, or give `task` if this is another task"
            )
            return HandedOff(status="denied", by=self.role, task=task, step=most, max_steps=most, reason=reason)
        self._turn.end()
        why = f"{target} is not later than {self.role} in {' -> '.join(pipeline)}; the attempt was noted"
        return HandedOff(
            status="done",
            by=self.role,
            to=to,
            asked_for="" if forward else target,
            task=task,
            step=steps,
            max_steps=most,
            reason="" if forward else f"{why}, and {to} {'keeps' if to == self.role else 'has'} the work",
        )

    def _problem_of_handoff(self, target: str, words: str, task: str) -> str | None:
        """Return why a handoff cannot be made; None if it can."""
        pipeline = self.schema.pipeline
        if not pipeline:
            return "schema.yaml has no pipeline; ask a person to add one, as `pipeline: [agent, reviewer, human]`"
        if self.role not in pipeline:
            return f"the role {self.role} is not in the pipeline {' -> '.join(pipeline)}"
        if target not in pipeline:
            return f"there is no role {target!r:.60} in the pipeline {' -> '.join(pipeline)}"
        if not _TASK.fullmatch(task):
            return f"the task {task!r:.60} is not a name of letters, digits, `.`, `_` and `-`"
        if not words:
            return "the summary is empty; say what the next role has to know"
        return _problem_of_line(words)

    def _title(self, place: Address) -> str:
        section = self.schema.section_of(place)
        return (section and section.title) or place.category.capitalize()

    # Common to all writes

    def _change(self, place: Address, decide: Callable[[Any], str | Written], *, may_create: bool = False) -> Written:
        """Read a page, and write what `decide` returns for its text; no other process writes in the meantime."""
        refusal: list[Written] = []

        def outcome(data: bytes | None) -> str | Written:
            if data is None:
                return decide(None) if may_create else denied(place, _NO_PAGE)
            text = decoded(data, place)
            if isinstance(text, Written) or not may_create:
                return text if isinstance(text, Written) else decide(text)
            reason = "a page with this name already exists; read it, and commit a change to it"
            return Written(status="conflict", address=str(place), version=version_of(text), content=text, reason=reason)

        def replace(data: bytes | None) -> bytes | None:
            found = outcome(data)
            if isinstance(found, Written):
                refusal.append(found)
                return None
            return found.encode()

        reason = self._replace(place.path, replace, f"{place} by {self.role}")
        if refusal:
            return refusal[0]
        if reason is not None:
            return denied(place, reason)
        text = self._text(place)
        found = text if isinstance(text, Written) else part_of(text, place)
        if isinstance(found, Written):
            return found
        self._turn.end()
        return Written(status="done", address=str(place), version=version_of(found))

    # Places

    def _place(self, address: str) -> Address | Written:
        place = Address.of(address)
        known = {*CATEGORIES, *(section.address.category for section in self.schema.files())}
        if place is None or place.category not in known or (place.page or "").endswith("*"):
            return denied(
                address, f"{address!r} is not an address in the wiki; write `category/page` or `category/page#Heading`"
            )
        if place.page is not None and not (all(map(is_file_name, place.page.split("/"))) or self._is_listed(place)):
            return denied(address, f"{place.page!r:.80} is not a page name; `list` shows all pages")
        return place

    def _is_listed(self, place: Address) -> bool:
        """Return whether the list has a page at this address; people may use names that dvwiki would not give."""
        return any(page.path == place.path for page in self._summaries([place.category]))

    def _exists(self, place: Address) -> bool:
        try:
            self._read(place.path)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    def _writable(self, address: str, mode: Literal["snapshot", "log"]) -> Address | Written:
        """Return the parsed address if the role may write there in this mode, else a refusal."""
        place = self._place(address)
        if isinstance(place, Written):
            return place
        section = self.schema.section_of(place)
        if section is None or self.role not in section.writable_by:
            return denied(place, self._may_write(section))
        if section.mode != mode:
            way = "append" if section.mode == "log" else "commit"
            return denied(place, f"{section.address} has the mode {section.mode}: write it with `{way}`")
        if place.category in CATEGORIES and place.page is None:
            return denied(place, f"{place} is a category; give one of its pages, or a new page")
        if mode == "log" and place.category in CATEGORIES and place.heading is None:
            return denied(place, f"{place} is a page; give the part to append to, as in `{place}#Resolution`")
        return place

    def _may_write(self, section: Section | None) -> str:
        mine = ", ".join(self.schema.writable(self.role)) or "nothing"
        theirs = f"{section.address} is for {', '.join(section.writable_by)}" if section else "no section covers it"
        return f"{theirs}; the role {self.role} may write {mine} (schema.yaml)"

    def _text(self, place: Address) -> str | Written:
        """Return the current text of an address's file, or a refusal."""
        try:
            return decoded(self._read(place.path), place)
        except outside.OutsideError:
            return denied(place, outside.REASON)
        except (FileNotFoundError, IsADirectoryError):
            return denied(place, _NO_PAGE)
        except OSError as error:
            return denied(place, f"it cannot be read: {error.strerror}")


def _folded(path: str, pages: Sequence[PageSummary]) -> PageEntry:
    """Return the list entry for a sub-folder with these pages."""
    name = path.rstrip("/").rpartition("/")[2]
    return PageEntry(
        address=path, category=pages[0].category, title=name, summary=count(len(pages), "page"), pages=len(pages)
    )


def _problem_of_line(line: str) -> str | None:
    """Return why a line cannot be added to a section; None if it can."""
    if not line:
        return "the text is empty"
    if len(line) > _LONGEST_LINE:
        return f"it has {len(line)} characters, more than {_LONGEST_LINE}; put the details on a page, and cite it"
    return None
