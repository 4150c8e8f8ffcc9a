"""Page search: the base class of the backends, and the two backends that need no index.

`pytest_dvwiki.backends` lists all backends; `indexed` contains the one with an index on disk.
"""

from __future__ import annotations

import abc
import hashlib
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from msgspec import Struct

from pytest_dvwiki import backends
from pytest_dvwiki.search.relevance import rank
from pytest_dvwiki.search.snippet import snippet
from pytest_dvwiki.search.tokenizer import tokens
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.kinds.marks import is_gone
from pytest_dvwiki.wiki.page_files import NOWHERE, State, list_pages, state_of
from pytest_dvwiki.wiki.page_summary import CATEGORIES, check_category, page_name, status_of
from pytest_dvwiki.wiki.review import FOLDER
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.markdown import one_line, plain
from pytest_dvwiki.wiki.text.notes import UNREVIEWED, is_marked
from pytest_dvwiki.wiki.unaccepted import is_unaccepted, unaccepted
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pytest_dvwiki.search.relevance import Ranking, Words
    from pytest_dvwiki.wiki.page_files import PageListing

EXCERPT = 200
FOLDERS = (*CATEGORIES, FOLDER)
"""The folders whose pages are searched."""
_TITLE, _LABEL, _TEXT = 3, 2, 1


class SearchResult(Struct, frozen=True):
    """A page that matches a query."""

    page_path: str
    """Path of the page, relative to the wiki."""
    score: float
    """Relevance of the page; only comparable within the results of one query."""
    excerpt: str
    """The first 200 characters of the page's text, on one line."""
    frontmatter: dict[str, Any]
    snippet: str = ""
    """The best-matching part of the page, on one line, with the query's words between double asterisks."""
    title: str = ""
    unreviewed: bool = False
    """True if the page has text that no person has accepted; set only by a search with `unreviewed`."""

    @property
    def warning(self) -> str:
        """Return a warning if the page has unreviewed text, else an empty string.

        A proposal needs no warning, because `unreviewed` is its status.
        """
        is_page = not self.page_path.startswith(f"{FOLDER}/")
        return f"contains {UNREVIEWED} text" if self.unreviewed and is_page else ""


class Facets(NamedTuple):
    """The properties of a page that `Filters` compares."""

    category: str = ""
    status: str = ""
    error_class: str = ""
    failure_subtype: str = ""
    ip_type: str = ""
    first: str = ""
    """Date of the failure's first occurrence; empty for a page without a failure."""
    last: str = ""
    """Date of the failure's last occurrence; empty for a page without a failure."""

    @classmethod
    def of(cls, path: str, metadata: Mapping[str, Any]) -> Self:
        """Return the facets of a page, from its path in the wiki and its frontmatter."""

        def text(*keys: str) -> str:
            return next((str(metadata[key]) for key in keys if metadata.get(key) is not None), "")

        return cls(
            category=path.partition("/")[0],
            status=shown_status(path, metadata),
            error_class=text("error_class"),
            failure_subtype=text("failure_subtype"),
            ip_type=text("ip_type"),
            first=text("first_seen")[:10],
            last=text("last_updated", "last_seen")[:10],
        )


def shown_status(path: str, metadata: Mapping[str, Any]) -> str:
    """Return a page's status as shown in lists and compared by filters."""
    if path.startswith(f"{FOLDER}/"):
        return str(metadata.get("decision") or UNREVIEWED)
    if metadata.get("filled") is True:
        return "filled"
    return "stale" if is_gone(metadata) else status_of(metadata) or str(metadata.get("action_class") or "")


class Filters(Struct, frozen=True, kw_only=True):
    """Conditions on pages; a condition that is None accepts any value.

    Raises:
        ValueError: `since` or `until` is not a date, or the category does not exist.
    """

    category: str | None = None
    status: str | None = None
    """Status of a bug or clarification; for a coverage bin, its action class or `filled`.

    A bug that came back after it was closed has the status `regressed`; a bug that is gone without a fix, `stale`.
    """
    label: str | None = None
    """Error class, failure subtype, or both with a slash between them."""
    ip_type: str | None = None
    since: str | None = None
    """`YYYY-MM-DD`: find only failures that were last seen on or after this date."""
    until: str | None = None
    """`YYYY-MM-DD`: find only failures that were first seen on or before this date."""

    def __post_init__(self) -> None:
        check_category(self.category)
        for name in ("since", "until"):
            day = getattr(self, name)
            try:
                is_day = day is None or date.fromisoformat(day).isoformat() == day
            except ValueError:
                is_day = False
            if not is_day:
                raise ValueError(f"{name} {day!r}: expected a day, YYYY-MM-DD")

    def accepts(self, page: Facets) -> bool:
        """Return whether a page meets all conditions."""
        plain = (self.category, page.category), (self.status, page.status), (self.ip_type, page.ip_type)
        return (
            all(wanted is None or wanted == found for wanted, found in plain)
            and self._has_label(page)
            and (self.since is None or page.last >= self.since)
            and (self.until is None or "" < page.first <= self.until)
        )

    def _has_label(self, page: Facets) -> bool:
        if self.label is None:
            return True
        error_class, slash, subtype = (part.strip() for part in self.label.partition("/"))
        if not slash:
            return error_class in {page.error_class, page.failure_subtype}
        return (error_class, subtype) == (page.error_class, page.failure_subtype)


class WikiSearchIndex(abc.ABC):
    """Base class of the search backends; call `create` to get a backend."""

    INDEX_DIR = ".search_index"

    def __init__(self, wiki_dir: Path) -> None:
        self.wiki_dir = wiki_dir
        self.listing: PageListing | None = None
        """The state of all files, set by a caller that keeps the index up to date with `refresh`.

        If None, each query looks for changed files itself.
        """
        self._given: dict[str, _Given] = {}

    @classmethod
    def create(cls, backend: str, wiki_dir: Path) -> WikiSearchIndex:
        """Return a search with the given backend.

        Args:
            backend: `bm25`, which searches without an index if bm25s is not installed; `keyword`; `none`, which finds
                nothing; or the name of a backend from another package.
            wiki_dir: The wiki's folder.

        Raises:
            ValueError: The backend does not exist, or cannot be loaded.
        """
        try:
            kind = backends.load(backend)
        except backends.BackendError as error:
            raise backends.BackendError(f"search_backend: {error}") from error
        made: WikiSearchIndex = kind(wiki_dir)
        return made

    def build(self, wiki_dir: Path | None = None) -> None:
        """Rebuild the index from all pages.

        Args:
            wiki_dir: The folder of another wiki, to search from now on; None keeps the present wiki.
        """
        if wiki_dir is not None:
            self.wiki_dir = wiki_dir
        self._given.clear()

    def update(self, page_path: Path | str, content: str) -> None:
        """Index a page with the given content instead of its file's, until the file changes.

        Args:
            page_path: The page, absolute or relative to the wiki.
            content: The page's full text.
        """
        file, data = self.wiki_dir / page_path, content.encode()
        path = file.relative_to(self.wiki_dir).as_posix()
        self._given.pop(path, None)
        if self.data(path) != data:
            digest = int.from_bytes(hashlib.sha256(data).digest()[:7])
            self._given[path] = _Given(data, State(-1, digest), state_of(file))

    def refresh(self) -> bool:
        """Update the index from the pages; return whether there is an index."""
        return False

    @abc.abstractmethod
    def ranking(self, query: str) -> Iterable[tuple[str, float]]:
        """Return the path and score of each page that shares a word with the query, best first."""

    def search(
        self,
        query: str,
        top_k: int = 5,
        *,
        category: str | None = None,
        filters: Filters | None = None,
        unreviewed: bool = False,
    ) -> list[SearchResult]:
        """Return the best pages for a query.

        Args:
            query: Words to search for; an identifier matches as a whole and by its parts.
            top_k: Maximum number of results.
            category: Only pages of this category.
            filters: Only pages that meet these conditions.
            unreviewed: Also find undecided proposals, and mark results that contain unreviewed text. A model may have
                written that text, so show it as unreviewed and keep it out of prompts.

        Returns:
            The results, the best first; each contains at least one word of the query.

        Raises:
            ValueError: The category does not exist.
        """
        check_category(category)
        wanted = set(tokens(query))
        written = unaccepted(self.wiki_dir) if unreviewed else {}
        found: list[SearchResult] = []
        for path, score in self.ranking(query):
            if len(found) >= top_k:
                break
            if category is not None and not path.startswith(f"{category}/"):
                continue
            if path.startswith(f"{FOLDER}/") and not (unreviewed and self.facets(path).status == UNREVIEWED):
                continue
            if filters is not None and not filters.accepts(self.facets(path)):
                continue
            page = self.page(path)
            if page is not None:
                text = one_line(plain(pages.without_marks(page.body)), len(page.body) + 1)
                shown = snippet(text, wanted, EXCERPT)
                is_written = path.startswith(f"{FOLDER}/") or is_marked(page.body)
                by_others = unreviewed and (is_written or is_unaccepted(path.removesuffix(".md"), written))
                title, start = pages.title_of(page.body), one_line(text, EXCERPT)
                found.append(SearchResult(path, score, start, page.metadata, shown, title, by_others))
        return found

    def present(self) -> dict[str, State]:
        """Return the state of each page's file, by path."""
        listing = self.listing or list_pages(self.wiki_dir, FOLDERS)
        found = dict(listing.pages)
        for path in listing.irregular:
            del found[path]
        for path, given in tuple(self._given.items()):
            if found.get(path, NOWHERE) == given.disk:
                found[path] = given.state
            else:
                del self._given[path]
        return found

    def state(self, path: str) -> State:
        """Return the state of one page's file."""
        return self._given[path].state if path in self._given else state_of(self.wiki_dir / path)

    def data(self, path: str) -> bytes:
        """Return the bytes of a page; empty if it is gone."""
        if path in self._given:
            return self._given[path].data
        try:
            return outside.read(self.wiki_dir, path)
        except OSError:
            return b""

    def page(self, path: str) -> pages.Page | None:
        """Return a page; None if it cannot be read."""
        return _parsed(self.data(path))

    def facets(self, path: str) -> Facets:
        """Return the facets of a page, read from its content."""
        page = self.page(path)
        return Facets.of(path, page.metadata if page else {})


class _Given(NamedTuple):
    """Page content given by a caller, valid until the file changes."""

    data: bytes
    state: State
    """An artificial state, computed from the content; no real file ever has it."""
    disk: State
    """The state of the file when the content was given."""


def _aliases(page: pages.Page) -> list[str]:
    """Return the other page names and fingerprints that a page lists as its aliases."""
    lists = (page.metadata.get(key) for key in ("aliases", "fingerprint_aliases"))
    return [str(item) for found in lists if isinstance(found, list) for item in found]


def words_of(path: str, data: bytes) -> tuple[Words, Facets]:
    """Return how often each word occurs on a page, and the page's facets; no words if the page cannot be read.

    Words in the title count three times; words in the name, or in values of the frontmatter, count twice.
    """
    page = _parsed(data)
    if page is None:
        return {}, Facets.of(path, {})
    strings = [str(value) for value in page.metadata.values() if isinstance(value, str)]
    labels = " ".join(strings + _aliases(page))
    fields = (
        (pages.title_of(page.body), _TITLE),
        (f"{labels} {page_name(path)}", _LABEL),
        (pages.without_marks(page.body), _TEXT),
    )
    counts: Counter[str] = Counter()
    for text, weight in fields:
        for word, count in Counter(tokens(text)).items():
            counts[word] += count * weight
    return counts, Facets.of(path, page.metadata)


def _parsed(data: bytes) -> pages.Page | None:
    try:
        return pages.read(data)
    except YamlError:
        return None


class NoIndex(WikiSearchIndex):
    """The search backend `none`, which finds nothing."""

    def ranking(self, query: str) -> Ranking:  # noqa: ARG002 (the signature of the base class)
        """Return no pages."""
        return []


class KeywordIndex(WikiSearchIndex):
    """The search backend `keyword`, which has no index: each query reads all pages."""

    def ranking(self, query: str) -> Ranking:
        """Return the path and score of each page that shares a word with the query, best first, as `rank` does."""
        return rank(query, ((path, words_of(path, self.data(path))[0]) for path in self.present()))
