"""Reading and writing of single pages by agents, reviewers and scripts.

A version is the hash of the content that was read, so that a write never overwrites what somebody else wrote in
between. `schema.yaml` says who may write what. A refusal is a return value, not an exception: it gives the reason, and
what would be allowed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_dvwiki.redact import redact
from pytest_dvwiki.runs import today
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.age import tag
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.kinds.owned import OWNED
from pytest_dvwiki.wiki.lock import TIMEOUT_S
from pytest_dvwiki.wiki.page_cache import PageCache
from pytest_dvwiki.wiki.page_summary import CATEGORIES
from pytest_dvwiki.wiki.schema import LOG, ROLES, Address, Role, load_schema
from pytest_dvwiki.wiki.text import pages, parts, splice
from pytest_dvwiki.wiki.text.markdown import plain
from pytest_dvwiki.wiki.text.names import file_name, is_file_name
from pytest_dvwiki.wiki.writing import build
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_dvwiki.wiki.config import WikiConfig
    from pytest_dvwiki.wiki.schema import Section

_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEntry:
    """A page in a list: its frontmatter without the text."""

    address: str
    category: str
    title: str
    metadata: Mapping[str, Any]
    age: str
    """How long its content has been known, as of today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A page, or a part of one, as read."""

    address: str
    content: str
    version: str
    """To be passed to a later write."""
    leads_to: str = ""
    """Address of the page that keeps its cause, if this one only points there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The outcome of a write."""

    status: Literal["done", "conflict", "denied"]
    address: str
    version: str = ""
    """Version of the present content; empty if it was not read."""
    content: str = ""
    """The present content, if it is not what the writer had read."""
    reason: str = ""
    """Why nothing was written, and what to do instead."""


class WikiStore:
    """A session of one reader and writer of pages.

    Long by the docstrings of its methods, which are the reference of the API.

    An address is `category`, `category/page` or `category/page#Heading`, for example
    `bugs/RTL_20261121_480127#Resolution`. Every call reads and writes files and returns when that is done; from an
    event loop call it in a thread.

    Args:
        config: Which wiki.
        role: `ingest`, `agent`, `reviewer` or `human`.
        lock_timeout: Seconds to wait for another process that writes.

    Raises:
        ValueError: The role does not exist.
        SchemaError: The wiki's `schema.yaml` is invalid.
    """

    def __init__(self, config: WikiConfig, role: Role, *, lock_timeout: float = TIMEOUT_S) -> None:
        if role not in ROLES:
            raise ValueError(f"there is no role {role!r}; there are {', '.join(ROLES)}")
        self._layout = config.layout
        self._role: Role = role
        self._lock_timeout = lock_timeout
        self._schema = load_schema(self._layout.wiki)
        self._reads: Counter[str] = Counter()

    # Reading

    def list(self, category: str | None = None) -> list[PageEntry]:
        """Return the pages of a category, or of all, by name; an unreadable one has only its cause as metadata."""
        wanted = [category] if category in CATEGORIES else [] if category else CATEGORIES
        day = today()
        with self._page_cache() as page_cache:
            return [
                PageEntry(
                    address=page.path.removesuffix(".md"),
                    category=name,
                    title=plain(page.title),
                    metadata=page.metadata,
                    age=tag(page, day),
                )
                for name in wanted
                for page in page_cache.all(name)
            ]

    def fetch(self, address: str) -> Fetched | Written:
        """Read a page or a part of one.

        Returns:
            The content. For a bug page that is gone: the page that has its cause now, with the address of that page. A
            refusal if there is no such place, or if the session has reached the section's `read_cap`.
        """
        place = self._place(address)
        if isinstance(place, Written):
            return place
        keeper = self._keeper(place)
        if keeper is not None and not (self._layout.wiki / _path(place)).exists():
            place, keeper = keeper, None
        section = self._schema.section_of(place)
        if section is not None and self._reads[str(section.address)] >= section.read_cap:
            return _denied(
                place,
                f"this session has read {section.address} {section.read_cap} times, which is its read_cap; choose from"
                " the list what you need, or begin a new session",
            )
        text = self._text(place)
        found = text if isinstance(text, Written) else _part(text, place)
        if isinstance(found, Written):
            return found
        if section is not None:
            self._reads[str(section.address)] += 1
        leads_to = f"{keeper.category}/{keeper.page}" if keeper else ""
        return Fetched(address=str(place), content=found, version=version_of(found), leads_to=leads_to)

    def _keeper(self, place: Address) -> Address | None:
        """Return the same place on the page that keeps the cause, if a bug page is gone or a pointer; else None."""
        if place.category != "bugs" or place.page is None:
            return None
        with self._page_cache() as page_cache:
            page = page_cache.get(_path(place))
            if page is None:
                found = page_cache.causes.formerly_named(place.page)
            else:
                found = page_cache.causes.pages_of(*page.fingerprints())[:1] if bug.is_pointer(page) else []
        return Address(place.category, found[0].name, place.heading) if len(found) == 1 else None

    def _page_cache(self) -> PageCache:
        """Return the pages as they are now."""
        cache = self._layout.wiki / ".cache" / "pages.sqlite"
        page_cache = PageCache(self._layout.wiki, cache if self._layout.wiki.is_dir() else None)
        page_cache.refresh()
        return page_cache

    # Writing

    def commit(self, address: str, content: str, expected_version: str) -> Written:
        """Replace the content of a page or a part of one.

        Args:
            address: A page or a part.
            content: The complete new content.
            expected_version: Version of the content that the new one is based on.

        Returns:
            `done` with the new version; `conflict` with the present content; or `denied` with the reason.

        Raises:
            WikiError: The wiki cannot be written.
        """
        place = self._writable(address, "snapshot")
        if isinstance(place, Written):
            return place

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

    def append(self, address: str, text: str) -> Written:
        """Add a text at the end of a part whose mode is `log`, or a line to `log`.

        Returns:
            `done` with the part's new version, or `denied` with the reason.

        Raises:
            WikiError: The wiki cannot be written.
        """
        place = self._writable(address, "log")
        if isinstance(place, Written):
            return place
        if place.category == LOG:
            build.note(self._layout, "status", redact(" ".join(text.split())), lock_timeout=self._lock_timeout)
            return Written(status="done", address=LOG)

        def decide(page: str) -> str | Written:
            present = _part(page, place)
            if isinstance(present, Written):
                return present
            addition = splice.cleaned(text, page)
            refusal = _too_long(place, addition) or _refuse_breakout(page, place, addition)
            return refusal or splice.appended(page, _found(page, place), addition)

        return self._change(place, decide)

    def create(self, category: str, name: str, content: str) -> Written:
        """Make a page.

        Args:
            category: One of the wiki's.
            name: Name of the page; characters that are not allowed in file names are replaced.
            content: The page, frontmatter included.

        Returns:
            `done` with the page's address; `conflict` with the present page of that name; or `denied` with the reason.

        Raises:
            WikiError: The wiki cannot be written.
        """
        if category not in CATEGORIES:
            return _denied(category, f"there is no category {category!r}; there are {', '.join(CATEGORIES)}")
        place = self._writable(f"{category}/{file_name(name.removesuffix('.md'))}", "snapshot")
        if isinstance(place, Written):
            return place
        if category in OWNED and self._role != "ingest":
            return _denied(
                place,
                f"pages of {category} are made from records; call WikiIngestService, or write to specs or topics",
            )
        problem = _problem_of(content)
        if problem:
            return _denied(place, problem)

        def decide(present: str | None) -> str | Written:
            if present is None:
                return _ended(redact(content))
            return Written(
                status="conflict",
                address=str(place),
                version=version_of(present),
                content=present,
                reason="there is a page of this name; read it, and commit a change to it",
            )

        return self._change(place, decide, may_create=True)

    # Common to all writes

    def _change(self, place: Address, decide: Callable[[Any], str | Written], *, may_create: bool = False) -> Written:
        """Read a page, decide, and write it, while no other process writes."""
        if outside.leads_out(self._layout.wiki, self._layout.wiki / _path(place)):
            return _denied(place, outside.REASON)  # before its content could get into an answer
        refusal: list[Written] = []

        def replace(data: bytes | None) -> bytes | None:
            if data is None and not may_create:
                refusal.append(_denied(place, "there is no such page; the list names all there are"))
                return None
            text = None if data is None else _decoded(data)
            if data is not None and text is None:
                refusal.append(_denied(place, "the page is not UTF-8; a person has to correct it"))
                return None
            decided = decide(text)
            if isinstance(decided, Written):
                refusal.append(decided)
                return None
            return decided.encode()

        entry = f"{place} by {self._role}"
        reason = build.change_page(self._layout, _path(place), replace, log_text=entry, lock_timeout=self._lock_timeout)
        if refusal:
            return refusal[0]
        if reason is not None:
            return _denied(place, reason)
        text = self._text(place)
        found = text if isinstance(text, Written) else _part(text, place)
        return (
            found
            if isinstance(found, Written)
            else Written(status="done", address=str(place), version=version_of(found))
        )

    def _with_part(self, text: str, place: Address, content: str) -> str | Written:
        """Return a page with new content at a place, or a refusal if that would change what the writer does not own."""
        content = splice.cleaned(content, text)
        refusal = _too_long(place, content)
        if refusal:
            return refusal
        if place.heading is None:
            changed = splice.whole(text, content)
            return _refuse_owned_changes(text, changed, place, may_remove=self._role == "human") or changed
        return _refuse_breakout(text, place, content) or splice.replaced(text, _found(text, place), content)

    # Places

    def _place(self, address: str) -> Address | Written:
        place = Address.of(address)
        if place is None or place.page == "*":
            return _denied(
                address, f"{address!r} is not a place in the wiki; write `category/page` or `category/page#Heading`"
            )
        if place.page is not None and not (is_file_name(place.page) or self._is_listed(place)):
            return _denied(address, f"no page can be called {place.page!r:.80}; the list names all there are")
        return place

    def _is_listed(self, place: Address) -> bool:
        """Tell whether a page exists under a name that only people would give."""
        with self._page_cache() as page_cache:
            return page_cache.get(_path(place)) is not None

    def _writable(self, address: str, mode: Literal["snapshot", "log"]) -> Address | Written:
        """Return the place if the role may write there in this mode, else a refusal."""
        place = self._place(address)
        if isinstance(place, Written):
            return place
        section = self._schema.section_of(place)
        if section is None or self._role not in section.writable_by:
            return _denied(place, self._may_write(section))
        if section.mode != mode:
            way = "append" if section.mode == "log" else "commit"
            return _denied(place, f"{section.address} is a {section.mode}: write it with `{way}`")
        if place.category != LOG and place.page is None:
            return _denied(place, f"{place} is a category; name a page of it, or `create` one")
        if mode == "log" and place.category != LOG and place.heading is None:
            return _denied(place, f"{place} is a page; name the part to append to, as in `{place}#Resolution`")
        return place

    def _may_write(self, section: Section | None) -> str:
        mine = ", ".join(self._schema.writable(self._role)) or "nothing"
        theirs = f"{section.address} is for {', '.join(section.writable_by)}" if section else "no section covers it"
        return f"{theirs}; the role {self._role} may write {mine} (schema.yaml)"

    def _text(self, place: Address) -> str | Written:
        """Return the page or log of a place as it is on disk, or a refusal."""
        try:
            text = _decoded(outside.read(self._layout.wiki, _path(place)))
        except outside.OutsideError:
            return _denied(place, outside.REASON)
        except (FileNotFoundError, IsADirectoryError):
            return _denied(place, "there is no such page; the list names all there are")
        except OSError as error:
            return _denied(place, f"it cannot be read: {error.strerror}")
        return _denied(place, "the page is not UTF-8; a person has to correct it") if text is None else text


def version_of(content: str) -> str:
    """Return the version of a content: a hash of its bytes."""
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _denied(address: Address | str, reason: str) -> Written:
    return Written(status="denied", address=str(address), reason=reason)


def _path(place: Address) -> str:
    if place.page is None:
        return "log.md" if place.category == LOG else f"{place.category}/_index.md"
    return f"{place.category}/{place.page}.md"


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


def _problem_of(content: str) -> str | None:
    """Return why a text cannot be a page; None if it can."""
    if len(content) > _LARGEST:
        return f"it has {len(content)} characters; a page may have {_LARGEST}, link to the rest"
    try:
        page = pages.read(content.encode("utf-8", "surrogatepass"))
    except YamlError as error:
        return f"its frontmatter cannot be read: {error}"
    return None if page.metadata else "it has no frontmatter; begin it with keys between two lines of three dashes"


def _refuse_owned_changes(before: str, after: str, place: Address, *, may_remove: bool) -> Written | None:
    """Return a refusal if the tool's keys or regions would change, since they are made from records; else None."""
    problem = _problem_of(after)
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
