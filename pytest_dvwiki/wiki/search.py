"""Search over the pages of a wiki, by BM25 or without an index.

The index stands in `.search_index` of the wiki, with the list of its pages, their hashes and the version of the
tokeniser. It is compared with the pages at every search; what is stale, broken or of another version is made again.
"""

from __future__ import annotations

import abc
import contextlib
import hashlib
import logging
import os
import re
import secrets
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import msgspec

from pytest_dvwiki.records.disk import replace
from pytest_dvwiki.search import bm25, keyword
from pytest_dvwiki.search.tokenizer import VERSION, tokens
from pytest_dvwiki.wiki import pages
from pytest_dvwiki.wiki.catalogue import is_page, title_of
from pytest_dvwiki.wiki.config import BACKENDS
from pytest_dvwiki.wiki.listed import CATEGORIES
from pytest_dvwiki.wiki.markdown import one_line
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EXCERPT = 200
_TITLE, _LABEL, _TEXT = 3, 2, 1
_FORMAT = 2
_WORDS = "words.json"
_LIST = "pages.json"
_FOLDER = re.compile(r"[0-9a-f]{8}")
_logger = logging.getLogger(__name__)


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
            backend: `bm25`, which becomes `keyword` where bm25s is not installed; `keyword`; or `none`, which finds
                nothing.
            wiki_dir: The wiki's folder.

        Raises:
            ValueError: There is no such kind.
        """
        match backend:
            case "bm25" if bm25.is_installed():
                return _Bm25Index(wiki_dir)
            case "bm25" | "keyword":
                return _KeywordIndex(wiki_dir)
            case "none":
                return _NoIndex(wiki_dir)
        raise ValueError(f"search_backend: expected one of {', '.join(BACKENDS)}, got {backend!r}")

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
        if self._data(path) != content.encode():
            self._given[path] = _Given.of(file, content.encode())

    def refresh(self) -> bool:
        """Brings the index up to date with the pages, and tells whether this search has one."""
        return False

    @abc.abstractmethod
    def ranking(self, query: str) -> list[tuple[str, float]]:
        """Paths of all pages that share a word with the query, with their scores, the best first, equals by path."""

    def search(self, query: str, top_k: int = 5, *, category: str | None = None) -> list[SearchResult]:
        """The best pages for a query.

        Args:
            query: Words; an identifier is found whole and by its parts.
            top_k: Most results.
            category: Only pages of this one.

        Returns:
            The best first; none that has no word of the query.
        """
        found: list[SearchResult] = []
        for path, score in self.ranking(query):
            if category is not None and not path.startswith(f"{category}/"):
                continue
            page = self._page(path)
            if page is not None and len(found) < top_k:
                found.append(SearchResult(path, score, _excerpt(page.body), page.metadata))
        return found

    def _paths(self) -> Iterator[tuple[str, _State]]:
        """Every page with the state of its file, in order of the paths."""
        present: dict[str, _State] = {}
        for category in CATEGORIES:
            with contextlib.suppress(OSError), os.scandir(self.wiki_dir / category) as entries:
                for entry in entries:
                    if is_page(entry.name) and entry.is_file():
                        status = entry.stat()
                        present[f"{category}/{entry.name}"] = _State(status.st_size, status.st_mtime_ns)
        for path, given in tuple(self._given.items()):
            if present.get(path) == given.disk:
                present[path] = given.state
            else:
                del self._given[path]
        yield from sorted(present.items())

    def _data(self, path: str) -> bytes:
        """The bytes of a page, empty where it is gone."""
        if path in self._given:
            return self._given[path].data
        try:
            return (self.wiki_dir / path).read_bytes()
        except OSError:
            return b""

    def _page(self, path: str) -> pages.Page | None:
        """A page, None where it cannot be read."""
        try:
            return pages.read(self._data(path))
        except YamlError:
            return None

    def _fields(self, path: str) -> list[tuple[str, float]]:
        """The texts of a page with the weight of a word in them; none where it cannot be read."""
        page = self._page(path)
        if page is None:
            return []
        labels = " ".join([str(value) for value in page.metadata.values() if isinstance(value, str)] + _aliases(page))
        name = path.rsplit("/", 1)[-1].removesuffix(".md")
        return [(title_of(page.body), _TITLE), (f"{labels} {name}", _LABEL), (pages.without_marks(page.body), _TEXT)]


class _State(NamedTuple):
    """By what a file is known to be unchanged."""

    size: int
    mtime_ns: int


class _Given(NamedTuple):
    """A page's content that a caller gave, while its file is as it was then."""

    data: bytes
    state: _State
    """Made of the content; no file has it."""
    disk: _State | None

    @classmethod
    def of(cls, file: Path, data: bytes) -> Self:
        state = _State(-1, int.from_bytes(hashlib.sha256(data).digest()[:7]))
        try:
            status = file.stat()
        except OSError:
            return cls(data, state, None)
        return cls(data, state, _State(status.st_size, status.st_mtime_ns))


def _aliases(page: pages.Page) -> list[str]:
    """Names and fingerprints that a page has besides its own."""
    lists = (page.metadata.get(key) for key in ("aliases", "fingerprint_aliases"))
    return [str(item) for found in lists if isinstance(found, list) for item in found]


def _excerpt(body: str) -> str:
    return one_line(pages.without_marks(body), EXCERPT)


class _NoIndex(WikiSearchIndex):
    """Search switched off."""

    def ranking(self, query: str) -> list[tuple[str, float]]:  # noqa: ARG002 (whatever is asked)
        return []


class _KeywordIndex(WikiSearchIndex):
    """Search without an index: every page is read for every query."""

    def ranking(self, query: str) -> list[tuple[str, float]]:
        return keyword.rank(query, {path: self._fields(path) for path, _ in self._paths()})


class _Listed(msgspec.Struct, frozen=True, array_like=True):
    """A page as the index has it."""

    path: str
    size: int
    mtime_ns: int
    sha256: str


class _Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in `pages.json`."""

    format: int
    tokenizer: int
    engine: str
    folder: str
    files: dict[str, str]
    """Hashes of the files in the folder."""
    pages: tuple[_Listed, ...]


class _Index(NamedTuple):
    """An index that agrees with the pages."""

    listed: tuple[_Listed, ...]
    words: tuple[str, ...] | None
    """Of each page, joined by blanks; None where they were not needed yet."""
    engine: bm25.Bm25


class _Bm25Index(WikiSearchIndex):
    """Search by BM25 with an index on disk; one that cannot be written is kept in memory."""

    def __init__(self, wiki_dir: Path) -> None:
        super().__init__(wiki_dir)
        self._index: _Index | None = None

    def build(self, wiki_dir: Path | None = None) -> None:
        super().build(wiki_dir)
        self._index = None
        self._bring_up_to_date(trust_old=False)

    def update(self, page_path: Path | str, content: str) -> None:
        super().update(page_path, content)
        self._bring_up_to_date()

    def refresh(self) -> bool:
        return self._bring_up_to_date() is not None

    def ranking(self, query: str) -> list[tuple[str, float]]:
        index = self._bring_up_to_date()
        if index is None:
            return []
        found = [(index.listed[number].path, score) for number, score in index.engine.scores(tokens(query))]
        return sorted(found, key=lambda item: (-item[1], item[0]))

    @property
    def _home(self) -> Path:
        return self.wiki_dir / self.INDEX_DIR

    def _bring_up_to_date(self, *, trust_old: bool = True) -> _Index | None:
        """The index of the pages as they are now, None where there are none."""
        present = list(self._paths())
        if not present:
            return None
        old = self._index or (self._load() if trust_old else None)
        if old is None or [(item.path, item.size, item.mtime_ns) for item in old.listed] != [
            (path, *state) for path, state in present
        ]:
            old = self._made(present, old)
        self._index = old
        return old

    def _made(self, present: list[tuple[str, _State]], old: _Index | None) -> _Index:
        """Makes the index again; the words of a page that did not change are taken from the old one."""
        known = self._known(old) if old else {}
        listed, words = [], []
        for path, state in present:
            # A page's name is among its words.
            digest = hashlib.sha256(path.encode() + b"\0" + self._data(path)).hexdigest()
            listed.append(_Listed(path, *state, digest))
            words.append(known[digest] if digest in known else " ".join(self._tokens(path)))
        index = _Index(tuple(listed), tuple(words), bm25.Bm25.of([text.split() for text in words]))
        try:
            self._save(index)
        except OSError as error:
            _logger.debug("the search index stays in memory: %s", error)
        return index

    def _tokens(self, path: str) -> Iterator[str]:
        """The words of a page, each as often as it weighs."""
        for text, weight in self._fields(path):
            yield from tokens(text) * int(weight)

    def _known(self, index: _Index) -> dict[str, str]:
        """The words of an index's pages by the pages' hashes, as far as they are still to be had."""
        words = index.words
        if words is None:
            stored = self._stored()
            # Another process may have put its own index there.
            words = self._stored_words(stored) if stored and stored.pages == index.listed else ()
        return {item.sha256: text for item, text in zip(index.listed, words, strict=False)}

    def _stored_words(self, stored: _Stored) -> tuple[str, ...]:
        try:
            data = (self._home / stored.folder / _WORDS).read_bytes()
            if hashlib.sha256(data).hexdigest() == stored.files.get(_WORDS):
                return msgspec.json.decode(data, type=tuple[str, ...])
        except (OSError, msgspec.MsgspecError):
            pass
        return ()

    # Files

    def _save(self, index: _Index) -> None:
        folder = self._home / secrets.token_hex(4)
        folder.mkdir(parents=True)
        (folder / _WORDS).write_bytes(msgspec.json.encode(index.words))
        index.engine.save(folder)
        files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}
        stored = _Stored(_FORMAT, VERSION, bm25.version(), folder.name, files, index.listed)
        replace(self._home / _LIST, msgspec.json.encode(stored))
        for other in self._home.iterdir():
            if other.is_dir() and other != folder:
                shutil.rmtree(other, ignore_errors=True)

    def _stored(self) -> _Stored | None:
        """What the disk says of an index of this version, None where it says nothing that can be used."""
        try:
            stored = msgspec.json.decode((self._home / _LIST).read_bytes(), type=_Stored)
        except (OSError, msgspec.MsgspecError):
            return None
        ours = (_FORMAT, VERSION, bm25.version())
        if (stored.format, stored.tokenizer, stored.engine) != ours or not _FOLDER.fullmatch(stored.folder):
            return None
        return stored

    def _load(self) -> _Index | None:
        """The index on disk, None where it is missing or not as it was written."""
        stored = self._stored()
        if stored is None:
            return None
        folder = self._home / stored.folder
        try:
            for name, digest in stored.files.items():
                if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
                    return None
            engine = bm25.Bm25.load(folder)
        except (OSError, ValueError):
            return None
        return _Index(stored.pages, None, engine) if engine.count == len(stored.pages) else None
