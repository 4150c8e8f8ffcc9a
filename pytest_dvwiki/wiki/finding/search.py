"""Search over the pages of a wiki: what every way to search has in common, and the two that need no index.

`pytest_dvwiki.backends` names the ways; `indexed` and `tantivy` are those with an index on disk.
"""

from __future__ import annotations

import abc
import contextlib
import hashlib
import os
from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pytest_dvwiki import backends
from pytest_dvwiki.search import keyword
from pytest_dvwiki.search.snippet import snippet
from pytest_dvwiki.search.tokenizer import tokens
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.catalogue import is_page, title_of
from pytest_dvwiki.wiki.listed import CATEGORIES, status_of
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.markdown import one_line, plain
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pytest_dvwiki.search.relevance import Ranking, Words

EXCERPT = 200
_TITLE, _LABEL, _TEXT = 3, 2, 1


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page that was found."""

    page_path: str
    """Relative to the wiki."""
    score: float
    """Comparable within one answer only."""
    excerpt: str
    """The first 200 characters of the page's text, on one line."""
    frontmatter: dict[str, Any]
    snippet: str = ""
    """Where the page answers the query, on one line, the query's words between two asterisks each."""


class Facets(NamedTuple):
    """What a page can be chosen by."""

    category: str = ""
    status: str = ""
    error_class: str = ""
    failure_subtype: str = ""
    ip_type: str = ""
    first: str = ""
    """Day on which its failure was first seen; empty for a page that tells of none."""
    last: str = ""
    """Day on which it was last seen."""

    @classmethod
    def of(cls, path: str, metadata: Mapping[str, Any]) -> Self:
        """Those of a page, from its path in the wiki and its keys."""

        def text(*keys: str) -> str:
            return next((str(metadata[key]) for key in keys if metadata.get(key) is not None), "")

        return cls(
            category=path.partition("/")[0],
            status="filled" if metadata.get("filled") is True else status_of(metadata) or text("action_class"),
            error_class=text("error_class"),
            failure_subtype=text("failure_subtype"),
            ip_type=text("ip_type"),
            first=text("first_seen")[:10],
            last=text("last_updated", "last_seen")[:10],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which pages are wanted; one that is None asks for nothing.

    Raises:
        ValueError: A day is none.
    """

    category: str | None = None
    status: str | None = None
    """Of a bug (`regressed` where it came back since it was closed) or a clarification; of a coverage bin its action
    class, or `filled`."""
    label: str | None = None
    """Error class, failure subtype, or both with a slash between them."""
    ip_type: str | None = None
    since: str | None = None
    """A day, `YYYY-MM-DD`: only what was seen on it or later."""
    until: str | None = None
    """Only what was seen on this day or before it."""

    def __post_init__(self) -> None:
        for name in ("since", "until"):
            day = getattr(self, name)
            try:
                is_day = day is None or date.fromisoformat(day).isoformat() == day
            except ValueError:
                is_day = False
            if not is_day:
                raise ValueError(f"{name} {day!r}: expected a day, YYYY-MM-DD")

    def take(self, page: Facets) -> bool:
        """Whether a page is wanted."""
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


class State(NamedTuple):
    """By what a file is known to be unchanged."""

    size: int
    mtime_ns: int


class WikiSearchIndex(abc.ABC):
    """A way to find pages; `create` gives one.

    Args:
        wiki_dir: The wiki's folder; it need not exist.
    """

    INDEX_DIR = ".search_index"

    def __init__(self, wiki_dir: Path) -> None:
        self.wiki_dir = wiki_dir
        self._given: dict[str, _Given] = {}

    @classmethod
    def create(cls, backend: str, wiki_dir: Path) -> WikiSearchIndex:
        """Gives the search of a kind.

        Args:
            backend: `bm25`, which searches without an index where bm25s is not installed; `keyword`; `tantivy`;
                `none`, which finds nothing; or a name that another package provides.
            wiki_dir: The wiki's folder.

        Raises:
            ValueError: There is no such kind, or it cannot be loaded.
        """
        try:
            kind = backends.load(backend)
        except backends.BackendError as error:
            raise backends.BackendError(f"search_backend: {error}") from error
        made: WikiSearchIndex = kind(wiki_dir)
        return made

    def build(self, wiki_dir: Path | None = None) -> None:
        """Makes the index again from all pages.

        Args:
            wiki_dir: Another wiki to turn to.
        """
        if wiki_dir is not None:
            self.wiki_dir = wiki_dir
        self._given.clear()

    def update(self, page_path: Path | str, content: str) -> None:
        """Takes in one page whose content the caller knows, until its file changes.

        Args:
            page_path: Of the page, absolute or relative to the wiki.
            content: Its text.
        """
        file = self.wiki_dir / page_path
        path = file.relative_to(self.wiki_dir).as_posix()
        self._given.pop(path, None)
        if self.data(path) != content.encode():
            self._given[path] = _Given.of(file, content.encode())

    def refresh(self) -> bool:
        """Brings the index up to date with the pages, and tells whether this search has one."""
        return False

    @abc.abstractmethod
    def ranking(self, query: str) -> Iterable[tuple[str, float]]:
        """Paths of all pages that share a word with the query, with their scores, the best first."""

    def search(
        self, query: str, top_k: int = 5, *, category: str | None = None, filters: Filters | None = None
    ) -> list[SearchResult]:
        """The best pages for a query.

        Args:
            query: Words; an identifier is found whole and by its parts.
            top_k: Most results.
            category: Only pages of this one.
            filters: Only pages that these take.

        Returns:
            The best first; none that has no word of the query.
        """
        wanted = set(tokens(query))
        found: list[SearchResult] = []
        for path, score in self.ranking(query):
            if len(found) >= top_k:
                break
            if category is not None and not path.startswith(f"{category}/"):
                continue
            if filters is not None and not filters.take(self.facets(path)):
                continue
            page = self.page(path)
            if page is not None:
                text = one_line(plain(pages.without_marks(page.body)), len(page.body) + 1)
                shown = snippet(text, wanted, EXCERPT)
                found.append(SearchResult(path, score, one_line(text, EXCERPT), page.metadata, shown))
        return found

    def present(self) -> dict[str, State]:
        """Every page with the state of its file."""
        found: dict[str, State] = {}
        for category in CATEGORIES:
            with contextlib.suppress(OSError), os.scandir(self.wiki_dir / category) as entries:
                for entry in entries:
                    if is_page(entry.name) and entry.is_file():
                        status = entry.stat()
                        found[f"{category}/{entry.name}"] = State(status.st_size, status.st_mtime_ns)
        for path, given in tuple(self._given.items()):
            if found.get(path) == given.disk:
                found[path] = given.state
            else:
                del self._given[path]
        return found

    def state(self, path: str) -> State | None:
        """The state of one page's file, None where there is none."""
        given = self._given.get(path)
        try:
            status = (self.wiki_dir / path).stat()
        except OSError:
            return given.state if given else None
        return given.state if given else State(status.st_size, status.st_mtime_ns)

    def data(self, path: str) -> bytes:
        """The bytes of a page, empty where it is gone."""
        if path in self._given:
            return self._given[path].data
        try:
            return outside.read(self.wiki_dir, path)
        except OSError:
            return b""

    def page(self, path: str) -> pages.Page | None:
        """A page, None where it cannot be read."""
        return _parsed(self.data(path))

    def facets(self, path: str) -> Facets:
        """What a page can be chosen by."""
        page = self.page(path)
        return Facets.of(path, page.metadata if page else {})


class _Given(NamedTuple):
    """A page's content that a caller gave, while its file is as it was then."""

    data: bytes
    state: State
    """Made of the content; no file has it."""
    disk: State | None

    @classmethod
    def of(cls, file: Path, data: bytes) -> Self:
        state = State(-1, int.from_bytes(hashlib.sha256(data).digest()[:7]))
        try:
            status = file.stat()
        except OSError:
            return cls(data, state, None)
        return cls(data, state, State(status.st_size, status.st_mtime_ns))


def _aliases(page: pages.Page) -> list[str]:
    """Names and fingerprints that a page has besides its own."""
    lists = (page.metadata.get(key) for key in ("aliases", "fingerprint_aliases"))
    return [str(item) for found in lists if isinstance(found, list) for item in found]


def words_of(path: str, data: bytes) -> tuple[Words, Facets]:
    """What a page is found and chosen by; it has no words where it cannot be read.

    A word of the title counts three times, one of the labels and of the name twice.
    """
    page = _parsed(data)
    if page is None:
        return {}, Facets.of(path, {})
    strings = [str(value) for value in page.metadata.values() if isinstance(value, str)]
    labels = " ".join(strings + _aliases(page))
    name = path.rsplit("/", 1)[-1].removesuffix(".md")
    fields = ((title_of(page.body), _TITLE), (f"{labels} {name}", _LABEL), (pages.without_marks(page.body), _TEXT))
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
    """Search switched off."""

    def ranking(self, query: str) -> Ranking:  # noqa: ARG002 (whatever is asked)
        """Nothing."""
        return []


class KeywordIndex(WikiSearchIndex):
    """Search without an index: every page is read for every query."""

    def ranking(self, query: str) -> Ranking:
        """What `keyword.rank` finds."""
        return keyword.rank(query, ((path, words_of(path, self.data(path))[0]) for path in self.present()))
