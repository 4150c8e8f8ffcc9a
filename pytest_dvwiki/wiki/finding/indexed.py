"""BM25 search with an index on disk, in `.search_index` of the wiki.

`pages.json` lists the indexed pages and the memory-mapped index files with their hashes, and the versions of the
tokenizer and the BM25 library. `changes.json` lists pages that changed later; they are scored with the word statistics
of the index. The index is rebuilt after many changes, or if it is damaged or has another version. Each search first
looks for changed pages, unless a caller keeps the index up to date.
"""

from __future__ import annotations

import functools
import hashlib
import heapq
import logging
import re
import secrets
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec

from pytest_dvwiki import reading
from pytest_dvwiki.records.disk import replace
from pytest_dvwiki.search import bm25
from pytest_dvwiki.search.relevance import Statistics, ranked, score
from pytest_dvwiki.search.tokenizer import VERSION, tokens
from pytest_dvwiki.umask import as_open_as
from pytest_dvwiki.wiki.finding.search import Facets, KeywordIndex, WikiSearchIndex, words_of
from pytest_dvwiki.wiki.page_files import NOWHERE, State

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from pytest_dvwiki.search.relevance import Ranking, Words

MOST_CHANGES = 1000
"""Number of changed pages at which the index is rebuilt."""
_SHARE = 50
"""The index is also rebuilt if 1 in `_SHARE` pages changed: in a small wiki, every page shifts the statistics."""
LARGE = 2_000
"""Above this number of pages, a separate process can rebuild the index while queries use the old one."""
_REBUILD = """
import os, sys
from pathlib import Path
from pytest_dvwiki.wiki.finding.indexed import bm25_search
getattr(os, "nice", int)(10)
bm25_search(Path(sys.argv[1])).refresh()
"""
_FORMAT = 5
_LIST, _CHANGES = "pages.json", "changes.json"
_FOLDER = re.compile(r"[0-9a-f]{8}")
_DIGEST = 64
_Kind = TypeVar("_Kind")
_logger = logging.getLogger(__name__)


def bm25_search(wiki_dir: Path) -> WikiSearchIndex:
    """Return a BM25 search, or a search that reads every page if the BM25 library is not installed."""
    return _Bm25Index(wiki_dir) if bm25.is_installed() else KeywordIndex(wiki_dir)


class _IndexedPage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page in the index."""

    path: str
    state: State
    sha256: str
    encoded: msgspec.Raw
    """The page's facets as JSON, decoded only when a filter needs them."""

    @classmethod
    def of(cls, path: str, state: State, sha256: str, facets: Facets) -> Self:
        return cls(path, state, sha256, msgspec.Raw(msgspec.json.encode(facets)))

    @property
    def facets(self) -> Facets:
        return msgspec.json.decode(self.encoded, type=Facets)


class _Change(msgspec.Struct, frozen=True, array_like=True):
    """A page that changed since the index was made."""

    page: _IndexedPage
    words: dict[str, int] | None
    """How often each word occurs on the page; None if the page is gone."""


class _Pages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `pages.json`."""

    format: int
    tokenizer: int
    """Version of the tokenizer."""
    engine: str
    """Name and version of the BM25 library."""
    folder: str
    """Name of the folder with the index files."""
    files: dict[str, str]
    """Maps the name of each file in the index folder to its SHA-256."""
    pages: tuple[_IndexedPage, ...]


class _Changes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `changes.json`."""

    folder: str
    """Folder of the index that the changes apply to."""
    changes: tuple[_Change, ...]


class _Index:
    """An index, and the pages that changed since it was made.

    Args:
        listed: The indexed pages, in the order of the engine's documents.
        engine: Holds one document per page.
        folder: The folder of the index; None for an index in memory.
        files: SHA-256 of each file in the index folder, by name.
    """

    def __init__(
        self, listed: tuple[_IndexedPage, ...], engine: bm25.Bm25, folder: Path | None, files: dict[str, str]
    ) -> None:
        self.listed = {item.path: item for item in listed}
        self.paths = [item.path for item in listed]
        self.numbers = {path: number for number, path in enumerate(self.paths)}
        self.engine = engine
        self.folder = folder
        self.files = files
        self.changes: dict[str, _Change] = {}

    def states(self) -> dict[str, State]:
        """Return, by path, the state that each page's file had when it was indexed; deleted pages are left out."""
        states = {path: item.state for path, item in self.listed.items()}
        for path, change in self.changes.items():
            if change.words is None:
                states.pop(path, None)
            else:
                states[path] = change.page.state
        return states

    def get(self, path: str) -> _IndexedPage | None:
        """Return a page as it was last read; None if the page is unknown or gone."""
        change = self.changes.get(path)
        if change is None:
            return self.listed.get(path)
        return None if change.words is None else change.page

    @property
    def needs_rebuild(self) -> bool:
        """Return whether so many pages changed that the index should be rebuilt."""
        return len(self.changes) >= max(1, min(MOST_CHANGES, len(self.paths) // _SHARE))

    def ranking(self, query: str) -> Iterator[tuple[str, float]]:
        """Yield the path and score of each page that shares a word with the query, best first, then by path."""
        wanted, changes = dict.fromkeys(tokens(query)), self.changes
        found = ((self.paths[number], value) for number, value in self.engine.best(wanted))
        unchanged = (hit for hit in found if hit[0] not in changes)
        return heapq.merge(unchanged, self._changed(wanted, changes), key=lambda hit: (-hit[1], hit[0]))

    def _changed(self, wanted: dict[str, None], changes: dict[str, _Change]) -> Ranking:
        changed = [(change.page.path, change.words) for change in changes.values() if change.words]
        statistics = self.engine.statistics

        def frequency(word: str) -> int:
            # A word that is not in the index occurs only in changed pages.
            return statistics.frequency(word) or sum(word in words for _, words in changed)

        with_new_words = Statistics(statistics.documents, statistics.mean_length, functools.cache(frequency))
        matching = ((path, words) for path, words in changed if not wanted.keys().isdisjoint(words))
        return ranked((path, score(words, sum(words.values()), wanted, with_new_words)) for path, words in matching)


class _Bm25Index(WikiSearchIndex):
    """Search by BM25 with an index on disk; an index that cannot be written is kept in memory.

    This class is long because one lock covers reading, changing and writing the index.
    """

    def __init__(self, wiki_dir: Path) -> None:
        super().__init__(wiki_dir)
        self._index: _Index | None = None
        self._writing = threading.RLock()
        """Held while the index changes; a query takes this lock only if it has to look for changed pages itself."""
        self._rebuild: subprocess.Popen[bytes] | None = None
        """The process that rebuilds the index; queries use the old index until the process ends."""

    def build(self, wiki_dir: Path | None = None) -> None:
        with self._writing:
            super().build(wiki_dir)
            present = self.present()
            self._index = self._new_index(present) if present else None

    def update(self, page_path: Path | str, content: str) -> None:
        with self._writing:
            super().update(page_path, content)
            self._update(page_path)

    def _update(self, page_path: Path | str) -> None:
        index = self._index = self._index or self._load()
        if index is None:
            self._bring_up_to_date()
            return
        path = (self.wiki_dir / page_path).relative_to(self.wiki_dir).as_posix()
        state = self.state(path)
        if state != NOWHERE and self._note_changes(index, {path: state}, set()):
            self._index = self._settled(index, changed=True)

    def refresh(self) -> bool:
        return self._bring_up_to_date() is not None

    def ranking(self, query: str) -> Iterator[tuple[str, float]]:
        index = self._index if self.listing else self._bring_up_to_date()
        return index.ranking(query) if index else iter(())

    def facets(self, path: str) -> Facets:
        listed = self._index.get(path) if self._index else None
        return listed.facets if listed else super().facets(path)

    @property
    def _home(self) -> Path:
        return self.wiki_dir / self.INDEX_DIR

    def _bring_up_to_date(self) -> _Index | None:
        """Bring the index up to date and return it; None if there are no pages."""
        with self._writing:
            self._index = self._current()
            return self._index

    def _current(self) -> _Index | None:
        present = self.present()
        if not present:
            return None
        index = self._rebuilt(present) or self._index or self._load()
        if index is None:
            return self._new_index(present)
        states, changed = index.states(), False
        if present != states:
            different = {path: state for path, state in present.items() if states.get(path) != state}
            changed = self._note_changes(index, different, states.keys() - present.keys())
        return self._settled(index, changed=changed) if changed or index.needs_rebuild else index

    def _rebuilt(self, present: dict[str, State]) -> _Index | None:
        """Return the new index if the rebuilding process has ended since the last call; else None."""
        if self._rebuild is None or self._rebuild.poll() is None:
            return None
        self._rebuild = None
        index = self._load()
        before = self._index
        if index and before and index.folder == before.folder:
            return self._new_index(present, before)  # the process made no new index
        return index

    def _settled(self, index: _Index, *, changed: bool) -> _Index:
        """Save the changes of an index, or rebuild the index after many changes; return the index to use."""
        is_beside = self.listing is not None and index.folder is not None and len(index.paths) > LARGE
        if index.needs_rebuild and not is_beside:
            return self._new_index(self.present(), index)
        if changed:
            self._write_changes(index)
        if index.needs_rebuild and self._rebuild is None:
            self._rebuild = subprocess.Popen(
                [sys.executable, "-c", _REBUILD, str(self.wiki_dir)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        return index

    def _note_changes(self, index: _Index, different: dict[str, State], gone: set[str]) -> bool:
        """Record which pages changed or were deleted; return whether this altered the index's `changes`."""
        changes = dict(index.changes)  # a copy: queries may be reading the current changes
        touched = False
        for path in gone:
            known = index.listed.get(path)
            if known:
                changes[path] = _Change(known, None)
            else:
                del changes[path]
        for path, state in different.items():
            data = self.data(path)
            digest = _digest_of(path, data)
            known = index.listed.get(path)
            if known and known.sha256 == digest:
                # Only the modification time differs, as after a checkout.
                index.listed[path] = _IndexedPage(path, state, digest, known.encoded)
                changes.pop(path, None)
                touched = True
                continue
            words, facets = words_of(path, data)
            changes[path] = _Change(_IndexedPage.of(path, state, digest, facets), dict(words))
        before, index.changes = index.changes, changes
        if touched and index.folder is not None:
            self._try(lambda: self._write_list(index))
        return before != changes

    def _new_index(self, present: dict[str, State], old: _Index | None = None) -> _Index:
        """Rebuild the index; the words of unchanged pages are taken from the old index."""
        listed: list[_IndexedPage] = []
        engine = bm25.Bm25.of(self._documents(dict(sorted(present.items())), old, listed))
        index = _Index(tuple(listed), engine, None, {})
        self._try(lambda: self._save(index))
        return index

    def _documents(self, present: dict[str, State], old: _Index | None, listed: list[_IndexedPage]) -> Iterator[Words]:
        """Yield the words of each page, and append the page to `listed`."""
        kept = self._kept(present, old) if old else {}
        stored = old.engine.documents(old.numbers[path] for path in kept) if old else iter(())
        for path, state in present.items():
            change = old.changes.get(path) if old else None
            if path in kept:
                listed.append(kept[path])
                yield next(stored)
            elif change and change.words is not None and change.page.state == state:
                listed.append(change.page)
                yield change.words
            else:
                data = self.data(path)
                words, facets = words_of(path, data)
                listed.append(_IndexedPage.of(path, state, _digest_of(path, data), facets))
                yield words

    @staticmethod
    def _kept(present: dict[str, State], old: _Index) -> dict[str, _IndexedPage]:
        """Return, by path, the pages that did not change since the old index was made.

        If the words stored in the old index are damaged, no page is returned.
        """
        if old.folder is not None and not _is_sound(old.folder, old.files, bm25.DOCUMENTS):
            return {}
        return {
            path: old.listed[path]
            for path, state in present.items()
            if path in old.listed and path not in old.changes and old.listed[path].state == state
        }

    # Files

    def _try(self, write: Callable[[], None]) -> None:
        try:
            with as_open_as(self._home.parent):
                write()
        except OSError as error:
            _logger.debug("the search index stays in memory: %s", error)

    def _save(self, index: _Index) -> None:
        folder = self._home / secrets.token_hex(4)
        folder.mkdir(parents=True)
        index.engine.save(folder)
        index.files = {path.name: _digest_of_file(path) for path in sorted(folder.iterdir())}
        index.folder = folder
        before = self._stored()
        self._write_list(index)
        # Keep the previous index: another process may have mapped its files, and on some file systems a mapping loses
        # its content when the file is deleted.
        kept = {folder.name, before.folder if before else ""}
        for other in self._home.iterdir():
            if other.is_dir() and other.name not in kept:
                shutil.rmtree(other, ignore_errors=True)

    def _write_list(self, index: _Index) -> None:
        assert index.folder is not None  # noqa: S101 (only an index on the disk has a list there)
        stored = _Pages(
            _FORMAT,
            VERSION,
            bm25.version(),
            index.folder.name,
            index.files,
            tuple(map(index.listed.__getitem__, index.paths)),
        )
        _write(self._home / _LIST, stored)

    def _write_changes(self, index: _Index) -> None:
        if index.folder is not None:
            changes = _Changes(index.folder.name, tuple(index.changes.values()))
            self._try(lambda: _write(self._home / _CHANGES, changes))

    def _stored(self) -> _Pages | None:
        """Return the content of `pages.json`; None if it is missing, damaged, or of another version."""
        stored = _read(self._home / _LIST, _Pages)
        if stored is None:
            return None
        ours = (_FORMAT, VERSION, bm25.version())
        if (stored.format, stored.tokenizer, stored.engine) != ours or not _FOLDER.fullmatch(stored.folder):
            return None
        return stored

    def _load(self) -> _Index | None:
        """Return the index on disk; None if it is missing, damaged, or of another version."""
        stored = self._stored()
        if stored is None:
            return None
        folder = self._home / stored.folder
        if not _is_sound(folder, stored.files, stored.files.keys() - bm25.DOCUMENTS):
            return None
        try:
            engine = bm25.Bm25.load(folder)
        except (OSError, ValueError):
            return None
        if engine.count != len(stored.pages):
            return None
        index = _Index(stored.pages, engine, folder, stored.files)
        changes = _read(self._home / _CHANGES, _Changes)
        if changes and changes.folder == stored.folder:
            index.changes = {change.page.path: change for change in changes.changes}
        return index


def _digest_of(path: str, data: bytes) -> str:
    """Return a hash of a page and its path; the path is included because the page's name is indexed, too."""
    return hashlib.sha256(path.encode() + b"\0" + data).hexdigest()


def _digest_of_file(path: Path) -> str:
    with reading.open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_sound(folder: Path, files: dict[str, str], names: Collection[str]) -> bool:
    """Return whether the files `names` of an index still have the hashes recorded in `files`."""
    try:
        return all(_digest_of_file(folder / name) == files.get(name) for name in names)
    except OSError:
        return False


def _write(path: Path, value: msgspec.Struct) -> None:
    """Write a value's hash and the value to a file."""
    data = msgspec.json.encode(value)
    replace(path, hashlib.sha256(data).hexdigest().encode() + b"\n" + data)


def _read(path: Path, kind: type[_Kind]) -> _Kind | None:
    """Read a file that `_write` wrote; None if it is missing or damaged."""
    try:
        data = reading.read_bytes(path)
        if hashlib.sha256(memoryview(data)[_DIGEST + 1 :]).hexdigest().encode() != data[:_DIGEST]:
            return None
        return msgspec.json.decode(memoryview(data)[_DIGEST + 1 :], type=kind)
    except (OSError, msgspec.MsgspecError):
        return None
