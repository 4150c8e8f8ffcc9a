"""The rules of every store of pages: who may write what, versions, read caps and handoffs.

A version is the hash of the content that was read, so that a write never overwrites what somebody else wrote in
between. A refusal is a return value, not an exception: it gives the reason, and what would be allowed. Where the pages
are kept, a subclass knows.
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
from pytest_dvwiki.wiki.page_summary import CATEGORIES, REQUIRED
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
from pytest_dvwiki.wiki.store_protocol import Fetched, HandedOff, PageEntry, Turn, Written
from pytest_dvwiki.wiki.text import pages, parts, splice
from pytest_dvwiki.wiki.text.markdown import plain
from pytest_dvwiki.wiki.text.names import file_name, is_file_name
from pytest_dvwiki.wiki.text.notes import note
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date

    from pytest_dvwiki.wiki.page_summary import PageSummary
    from pytest_dvwiki.wiki.review import Kind

_LARGEST = 1 << 20
_LONGEST_LINE = 4000
"""Maximum number of characters of a line that is added to a section such as `log`."""
_MOST_LISTED = 50
"""Number of pages above which a list shows sub-folders instead of their pages."""
_TASK = re.compile(r"[\w.-]{0,100}")
_WRITTEN_BY = re.compile(
    r"^## \[[^\]]*\] commit \| - \| (?P<page>[^#\n]+?)(?:#[^\n]*)? by (?P<role>\S+)$", re.MULTILINE
)
_HANDED = re.compile(r"^## \[[^\]]*\] handoff \| (?P<task>\S+) \| ", re.MULTILINE)
_LINE_BY = re.compile(r"^## \[[^\]]*\] (?:note \| - \| (?P<note>\S+):|handoff \| \S+ \| (?P<handoff>\S+) ->)")


class CheckedStore(abc.ABC):
    """A session of one reader and writer, without the place where the pages are.

    Long by the rules of each call, which belong together.

    Args:
        role: A role of the schema.

    Raises:
        ValueError: The role does not exist.
    """

    def __init__(self, role: str) -> None:
        if role not in self.schema.roles:
            raise ValueError(f"there is no role {role!r}; there are {', '.join(self.schema.roles)}")
        self.role = role
        self._turn = Turn()

    # The place of the pages

    @property
    @abc.abstractmethod
    def schema(self) -> Schema:
        """Return the sections and roles."""

    @abc.abstractmethod
    def _schema_text(self) -> str:
        """Return the text of the schema."""

    @abc.abstractmethod
    def _summaries(self, categories: Sequence[str]) -> list[PageSummary]:
        """Return the pages of some categories, each by path."""

    @abc.abstractmethod
    def _read(self, path: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            OSError: There is none, or it may not be read.
        """

    @abc.abstractmethod
    def _replace(self, path: str, decide: Callable[[bytes | None], bytes | None], log_text: str) -> str | None:
        """Write what `decide` returns for the present bytes of a page, while nobody else writes; None is no change.

        Returns:
            Why it could not be written.
        """

    @abc.abstractmethod
    def _add_line(self, path: str, title: str, make: Callable[[str], str | None]) -> None:
        """Add what `make` returns for the present text of a file, while nobody else writes; None is no change."""

    @abc.abstractmethod
    def _propose(self, kind: Kind, target: str, text: str, reason: str) -> str:
        """Put a proposal into the review queue, and return its id."""

    def _keeper(self, place: Address) -> Address | None:  # noqa: ARG002 (where pages are merged)
        """Return the same place on the page that keeps the cause, if a bug page is gone or a pointer; else None."""
        return None

    # Reading

    def list(self, folder: str | None = None) -> list[PageEntry]:
        """Return the pages of a category or sub-folder, or of all, by name.

        Where there are more than 50, each sub-folder is one entry. An unreadable page has only its cause as metadata.
        """
        folder = (folder or "").strip("/")
        categories = [each for each in CATEGORIES if not folder or folder.split("/")[0] == each]
        listed = [page for page in self._summaries(categories) if not folder or page.path.startswith(f"{folder}/")]
        shown: dict[str, list[PageSummary]] = {}
        for page in listed:
            base = folder or page.category
            below = page.path[len(base) + 1 :].split("/")
            is_folded = len(listed) > _MOST_LISTED and len(below) > 1
            shown.setdefault(f"{base}/{below[0]}/" if is_folded else page.path, []).append(page)
        authors, day = self._authors(), today()
        entries = [
            _folded(path, found) if path.endswith("/") else self._entry(found[0], authors, day)
            for path, found in shown.items()
        ]
        files = [each for each in self.schema.files() if folder == each.address.category]
        files = files or ([each for each in self.schema.files() if each.address.category != LOG] if not folder else [])
        return entries + [entry for section in files for entry in self._file_entry(section, authors)]

    def _authors(self) -> Mapping[str, str]:
        """Return the role that last wrote each page through a store."""
        return {found["page"]: found["role"] for found in _WRITTEN_BY.finditer(self._text_or_empty("log.md"))}

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
        """Yield the entry of a section that is a file of its own, if the file is there."""
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
        """Read a page or a part of one.

        Returns:
            The content. For a bug page that is gone: the page that has its cause now, with the address of that page. A
            refusal if there is no such place, or if the turn has reached the section's `read_cap`.
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
            return _denied(place, refusal)
        text = self._text(place)
        found = text if isinstance(text, Written) else _part(text, place)
        if isinstance(found, Written):
            return found
        if section is not None:
            self._turn.note(section, str(place))
        leads_to = f"{keeper.category}/{keeper.page}" if keeper else ""
        return Fetched(address=str(place), content=found, version=version_of(found), leads_to=leads_to)

    # Writing

    def commit(self, address: str, content: str, expected_version: str) -> Written:
        """Replace the content of a page or a part of one, or make a page.

        Args:
            address: A page or a part.
            content: The complete new content.
            expected_version: Version of the content that the new one is based on; empty for a new page.

        Returns:
            `done` with the new version; `proposed` for a new page that a person has to accept; `conflict` with the
            present content; or `denied` with the reason.

        Raises:
            WikiError: The wiki cannot be written.
        """
        place = self._writable(address, "snapshot")
        if isinstance(place, Written):
            return place
        if not expected_version and place.heading is None and not self._exists(place):
            return self._make(place, content)

        def decide(text: str) -> str | Written:
            present = _part(text, place)
            if isinstance(present, Written):
                return present
            if version_of(present) != expected_version:
                return Written(
                    status="conflict",
                    address=str(place),
                    version=version_of(present),
                    content=present,
                    reason="somebody changed it since you read it; apply your change to the content given here",
                )
            return self._with_part(text, place, content)

        return self._change(place, decide)

    def create(self, category: str, name: str, content: str) -> Written:
        """Make a page, as `commit` does, under a name in which characters that no file name may have are replaced."""
        if category not in CATEGORIES:
            return _denied(category, f"there is no category {category!r}; there are {', '.join(CATEGORIES)}")
        return self.commit(f"{category}/{file_name(name.removesuffix('.md'))}", content, "")

    def _make(self, place: Address, content: str) -> Written:
        """Make a page; what an agent writes waits for a person."""
        if place.category in OWNED and self.role != "ingest":
            return _denied(
                place,
                f"pages of {place.category} are made from records; call WikiIngestService, or write to specs or topics",
            )
        problem = _problem_of(content, place) or _missing(content, place)
        if problem:
            return _denied(place, problem)
        new = _ended(redact(content))
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
        """Add a text at the end of a part whose mode is `log`, or a line to a section such as `log`.

        On a page the text of an agent is a note that is marked as unreviewed.

        Args:
            address: The part or the section.
            text: What to add.
            commit: The commit of the fix that an agent proposes, in hex digits; empty if it proposes none.

        Returns:
            `done` with the part's new version, or `denied` with the reason.

        Raises:
            WikiError: The wiki cannot be written.
        """
        place = self._writable(address, "log")
        if isinstance(place, Written):
            return place
        if place.category not in CATEGORIES:
            line = " ".join(redact(text).split())
            problem = _problem_of_line(line)
            if problem:
                return _denied(place, problem)
            self._add_line(place.path, self._title(place), lambda _: f"note | - | {self.role}: {line}")
            self._turn.end()
            return Written(status="done", address=str(place))

        def decide(page: str) -> str | Written:
            present = _part(page, place)
            if isinstance(present, Written):
                return present
            added = text if self.role in DIRECTLY else note(text, self.role, today(), commit)
            addition = splice.cleaned(added, page)
            # The entry of a list would hold a heading, too; it is refused as from anybody else.
            breakout = _refuse_breakout(page, place, text) or _refuse_breakout(page, place, addition)
            return _too_long(place, addition) or breakout or splice.appended(page, _found(page, place), addition)

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
        """Propose a new section; it takes effect when a person accepts it.

        Returns:
            `proposed`, or `denied` with the reason.

        Raises:
            WikiError: The review queue cannot be written.
        """
        keys: dict[str, Any] = {"title": redact(title), "description": redact(description), "mode": mode}
        keys |= {"writable_by": list(writable_by), "read_cap": read_cap}
        entry = ", ".join(f"{key}: {yamlio.flow(value)}" for key, value in keys.items() if value != "")
        line = f"{yamlio.flow(name)}: {{{entry}}}"
        try:
            with_section(self._schema_text(), line)
        except SchemaError as error:
            return _denied(name, str(error))
        if not reason.strip():
            return _denied(name, "say in `reason` what the section is for")
        proposal = self._propose("section", name, line, reason)
        return Written(
            status="proposed",
            address=name,
            proposal=proposal,
            reason=f"a person has to accept it: `dvwiki review accept {proposal}`",
        )

    def handoff(self, target: str, summary: str, task: str = "") -> HandedOff:
        """Pass the work on to a later role of the pipeline.

        Args:
            target: The role; for the same one or an earlier one the next role takes its place, the last one stays.
            summary: What the next role has to know.
            task: What the work is about; the handoffs of each task are counted separately.

        Returns:
            `done` with the role that has the work now; `denied` after `max_steps` handoffs, or without a summary.

        Raises:
            WikiError: The wiki cannot be written.
        """
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
                " of schema.yaml); stop and ask a person, or name the task if it is another one"
            )
            return HandedOff(status="denied", by=self.role, task=task, step=most, max_steps=most, reason=reason)
        self._turn.end()
        why = f"{target} is not later than {self.role} in {' -> '.join(pipeline)}; it was noted as an attempt"
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
            return "schema.yaml names no pipeline; a person adds one, such as `pipeline: [agent, reviewer, human]`"
        if self.role not in pipeline:
            return f"the role {self.role} is not in the pipeline {' -> '.join(pipeline)}"
        if target not in pipeline:
            return f"there is no role {target!r:.60} in the pipeline {' -> '.join(pipeline)}"
        if not _TASK.fullmatch(task):
            return f"the task {task!r:.60} is not a name of letters, digits, `.`, `_` and `-`"
        if not words:
            return "the summary is mandatory: say what the next role has to know"
        return _problem_of_line(words)

    def _title(self, place: Address) -> str:
        section = self.schema.section_of(place)
        return (section and section.title) or place.category.capitalize()

    # Common to all writes

    def _change(self, place: Address, decide: Callable[[Any], str | Written], *, may_create: bool = False) -> Written:
        """Read a page, decide, and write it, while no other process writes."""
        refusal: list[Written] = []

        def replace(data: bytes | None) -> bytes | None:
            if data is None and not may_create:
                refusal.append(_denied(place, "there is no such page; the list names all there are"))
                return None
            text = None if data is None else _decoded(data)
            if data is not None and text is None:
                refusal.append(_denied(place, "the page is not UTF-8; a person has to correct it"))
                return None
            if text is not None and may_create:
                reason = "there is a page of this name; read it, and commit a change to it"
                refusal.append(
                    Written(
                        status="conflict", address=str(place), version=version_of(text), content=text, reason=reason
                    )
                )
                return None
            decided = decide(text)
            if isinstance(decided, Written):
                refusal.append(decided)
                return None
            return decided.encode()

        reason = self._replace(place.path, replace, f"{place} by {self.role}")
        if refusal:
            return refusal[0]
        if reason is not None:
            return _denied(place, reason)
        text = self._text(place)
        found = text if isinstance(text, Written) else _part(text, place)
        if isinstance(found, Written):
            return found
        self._turn.end()
        return Written(status="done", address=str(place), version=version_of(found))

    def _with_part(self, text: str, place: Address, content: str) -> str | Written:
        """Return a page with new content at a place, or a refusal if that would change what the writer does not own."""
        content = splice.cleaned(content, text)
        refusal = _too_long(place, content)
        if refusal:
            return refusal
        if place.heading is None:
            changed = splice.whole(text, content)
            return _refuse_owned_changes(text, changed, place, may_remove=self.role == "human") or changed
        return _refuse_breakout(text, place, content) or splice.replaced(text, _found(text, place), content)

    # Places

    def _place(self, address: str) -> Address | Written:
        place = Address.of(address)
        known = {*CATEGORIES, *(section.address.category for section in self.schema.files())}
        if place is None or place.category not in known or (place.page or "").endswith("*"):
            return _denied(
                address, f"{address!r} is not a place in the wiki; write `category/page` or `category/page#Heading`"
            )
        if place.page is not None and not (all(map(is_file_name, place.page.split("/"))) or self._is_listed(place)):
            return _denied(address, f"no page can be called {place.page!r:.80}; the list names all there are")
        return place

    def _is_listed(self, place: Address) -> bool:
        """Tell whether a page exists under a name that only people would give."""
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
        """Return the place if the role may write there in this mode, else a refusal."""
        place = self._place(address)
        if isinstance(place, Written):
            return place
        section = self.schema.section_of(place)
        if section is None or self.role not in section.writable_by:
            return _denied(place, self._may_write(section))
        if section.mode != mode:
            way = "append" if section.mode == "log" else "commit"
            return _denied(place, f"{section.address} is a {section.mode}: write it with `{way}`")
        if place.category in CATEGORIES and place.page is None:
            return _denied(place, f"{place} is a category; name a page of it, or a new one")
        if mode == "log" and place.category in CATEGORIES and place.heading is None:
            return _denied(place, f"{place} is a page; name the part to append to, as in `{place}#Resolution`")
        return place

    def _may_write(self, section: Section | None) -> str:
        mine = ", ".join(self.schema.writable(self.role)) or "nothing"
        theirs = f"{section.address} is for {', '.join(section.writable_by)}" if section else "no section covers it"
        return f"{theirs}; the role {self.role} may write {mine} (schema.yaml)"

    def _text(self, place: Address) -> str | Written:
        """Return the page or log of a place as it is now, or a refusal."""
        try:
            text = _decoded(self._read(place.path))
        except outside.OutsideError:
            return _denied(place, outside.REASON)
        except (FileNotFoundError, IsADirectoryError):
            return _denied(place, "there is no such page; the list names all there are")
        except OSError as error:
            return _denied(place, f"it cannot be read: {error.strerror}")
        return _denied(place, "the page is not UTF-8; a person has to correct it") if text is None else text


def _denied(address: Address | str, reason: str) -> Written:
    return Written(status="denied", address=str(address), reason=reason)


def _folded(path: str, found: Sequence[PageSummary]) -> PageEntry:
    """Return the entry of a sub-folder."""
    name = path.rstrip("/").rpartition("/")[2]
    return PageEntry(
        address=path, category=found[0].category, title=name, summary=count(len(found), "page"), pages=len(found)
    )


def _problem_of_line(line: str) -> str | None:
    """Return why a text cannot be one line of a section; None if it can."""
    if not line:
        return "there is no text"
    if len(line) > _LONGEST_LINE:
        return f"it has {len(line)} characters; a line may have {_LONGEST_LINE}, name a page for the rest"
    return None


def _part(text: str, place: Address) -> str | Written:
    if place.heading is None:
        return text
    found = parts.part(text, place.heading)
    if found is None:
        return _denied(place, f"the page has no heading {place.heading!r}")
    return text[found[0] : found[1]].strip("\r\n")


def _found(text: str, place: Address) -> tuple[int, int]:
    """Return the start and end of a part that is known to exist."""
    found = parts.part(text, place.heading or "")
    assert found is not None  # noqa: S101 (it was found before)
    return found


def _too_long(place: Address, content: str) -> Written | None:
    if len(content) <= _LARGEST:
        return None
    return _denied(place, f"it has {len(content)} characters; a page may have {_LARGEST}, link to the rest")


def _refuse_breakout(text: str, place: Address, content: str) -> Written | None:
    """Return a refusal if the content would end the part that it is put into; else None."""
    outside = parts.breaks_out(content, parts.level_of(text, place.heading or ""))
    if outside is None:
        return None
    return _denied(place, f"the line {outside!r} would end the part; use a lower heading, or a fenced block")


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _problem_of(content: str, place: Address) -> str | None:
    """Return why a text cannot be a page; None if it can."""
    if len(content) > _LARGEST:
        return f"it has {len(content)} characters; a page may have {_LARGEST}, link to the rest"
    if place.category not in CATEGORIES:
        return None
    try:
        page = pages.read(content.encode("utf-8", "surrogatepass"))
    except YamlError as error:
        return f"its frontmatter cannot be read: {error}"
    return None if page.metadata else "it has no frontmatter; begin it with keys between two lines of three dashes"


def _missing(content: str, place: Address) -> str | None:
    """Return which keys a new page lacks, for which `dvwiki lint` would name it; None if it has them."""
    if place.category not in REQUIRED:
        return None
    keys = pages.read(content.encode("utf-8", "surrogatepass")).metadata
    missing = [key for key in REQUIRED[place.category] if keys.get(key) in (None, "")]
    return f"its frontmatter lacks {' and '.join(missing)}" if missing else None


def _refuse_owned_changes(before: str, after: str, place: Address, *, may_remove: bool) -> Written | None:
    """Return a refusal if the tool's keys or regions would change, since they are made from records; else None."""
    problem = _problem_of(after, place)
    if problem:
        return _denied(place, problem)
    old, new = before.encode(), after.encode()
    then, now = pages.read(old).metadata, pages.read(new).metadata
    keys = [key for key in OWNED.get(place.category, ()) if repr(then.get(key)) != repr(now.get(key))]
    if keys:
        return _denied(place, f"{', '.join(keys)} {'are' if len(keys) > 1 else 'is'} the tool's, made from the records")
    were, are = pages.regions(old), pages.regions(new)
    if isinstance(are, pages.Refused):
        return _denied(place, are.reason)
    if isinstance(were, pages.Refused):
        return None
    changed = [name for name, text in were.items() if are.get(name, text if may_remove else None) != text]
    if changed:
        return _denied(
            place,
            f"between the marks of {', '.join(changed)} the tool writes, from the records; write above or below them",
        )
    return None
