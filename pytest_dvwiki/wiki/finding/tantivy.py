"""Search by tantivy, for wikis of 100,000 pages and more: each page is a document, replaced when the page changes.

The index is in `.search_index` of the wiki, in a folder for the version of the library. A table beside it lists the
indexed pages and the sizes of the index files, none of which changes once written. Both are compared at every search;
an index that was changed by somebody else, or is of another version, is rebuilt.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import shutil
from importlib import metadata
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from pytest_dvwiki.records.cache import discard, open_cache, transaction
from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.search.relevance import ranked
from pytest_dvwiki.search.tokenizer import VERSION, tokens
from pytest_dvwiki.umask import as_open_as
from pytest_dvwiki.wiki.finding.search import Facets, WikiSearchIndex, words_of
from pytest_dvwiki.wiki.page_files import State

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

_SCHEMA = """
CREATE TABLE pages (path TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER, sha256 TEXT, facets TEXT) WITHOUT ROWID;
CREATE TABLE files (name TEXT PRIMARY KEY, size INTEGER) WITHOUT ROWID
"""
_FORMAT = 2
_WAIT_S = 600.0
_HEAP = 64_000_000
_BATCH = 1_000
"""Number of hits fetched at a time."""
_logger = logging.getLogger(__name__)


class TantivyIndex(WikiSearchIndex):
    """Backend that searches by tantivy; an index that cannot be written is kept in memory."""

    def __init__(self, wiki_dir: Path) -> None:
        super().__init__(wiki_dir)
        self._store: _Store | None = None

    def build(self, wiki_dir: Path | None = None) -> None:
        """Rebuild the index from all pages."""
        super().build(wiki_dir)
        self._store = None
        shutil.rmtree(self._home, ignore_errors=True)
        self._bring_up_to_date()

    def update(self, page_path: Path | str, content: str) -> None:
        """Index one page with the given content, which is valid until its file changes."""
        super().update(page_path, content)
        path = (self.wiki_dir / page_path).relative_to(self.wiki_dir).as_posix()
        state = self.state(path)
        if state is not None:
            with self._opened() as store:
                store.take_in(self, {path: state}, set())

    def refresh(self) -> bool:
        """Bring the index up to date with the pages; return whether there are any."""
        return self._bring_up_to_date()

    def ranking(self, query: str) -> Iterator[tuple[str, float]]:
        """Yield the pages that contain a word of the query, fetched as needed."""
        wanted = list(dict.fromkeys(tokens(query)))
        if wanted and (self.look or self._bring_up_to_date()) and self._store:
            yield from self._store.hits(wanted)

    def facets(self, path: str) -> Facets:
        """Return the facets of a page as indexed."""
        return (self._store and self._store.facets(path)) or super().facets(path)

    @property
    def _home(self) -> Path:
        return self.wiki_dir / self.INDEX_DIR / f"tantivy-{metadata.version('tantivy')}"

    def _bring_up_to_date(self) -> bool:
        present = self.present()
        if not present:
            return False
        with self._opened() as store:
            states = store.states()
            different = {path: state for path, state in present.items() if states.get(path) != state}
            store.take_in(self, different, states.keys() - present.keys())
        return True

    @contextlib.contextmanager
    def _opened(self) -> Iterator[_Store]:
        """Open the index, and keep other processes out meanwhile.

        Raises:
            WikiError: Another process has been writing it for ten minutes.
        """
        with as_open_as(self._home.parent), self._held() as store:
            yield store

    @contextlib.contextmanager
    def _held(self) -> Iterator[_Store]:
        try:
            self._home.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._home / ".lock", timeout=_WAIT_S)
            lock.acquire()
        except Timeout as error:
            raise WikiError(f"{self._home} is being written by another process; try again when it is done") from error
        except OSError as error:
            _logger.debug("the search index stays in memory: %s", error)
            self._store = self._store or _Store(None)
            yield self._store
            return
        with lock:
            if self._store is None or not self._store.is_sound():
                self._store = _Store.of(self._home)
            yield self._store


class _Store:
    """The index, and the table of its pages.

    Args:
        home: Their folder; None for an index in memory.
    """

    def __init__(self, home: Path | None) -> None:
        import tantivy  # noqa: PLC0415 (an extra, loaded where it is used)

        self._library = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("path", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        self._schema = builder.build()
        self._folder = home / "index" if home else None
        if self._folder:
            self._folder.mkdir(parents=True, exist_ok=True)
        self._index = tantivy.Index(self._schema, str(self._folder) if self._folder else None)
        self._db: sqlite3.Connection = open_cache(home / "pages.sqlite" if home else None, _SCHEMA, _version())

    @classmethod
    def of(cls, home: Path) -> _Store:
        """Return the index in a folder; an empty one if it is missing or damaged."""
        with contextlib.suppress(ValueError, OSError):
            store = cls(home)
            if store.is_sound():
                return store
            store.close()
        shutil.rmtree(home / "index", ignore_errors=True)
        discard(home / "pages.sqlite")
        store = cls(home)
        store.note([], set())
        return store

    def close(self) -> None:
        """Close the table."""
        self._db.close()

    def is_sound(self) -> bool:
        """Tell whether the files of the index are those noted in the table."""
        return dict(self._db.execute("SELECT name, size FROM files")) == self._files()

    def states(self) -> dict[str, State]:
        """Return the pages as they were indexed."""
        rows = self._db.execute("SELECT path, size, mtime_ns FROM pages")
        return {path: State(size, mtime_ns) for path, size, mtime_ns in rows}

    def facets(self, path: str) -> Facets | None:
        """Return the facets of a page; None if it is not indexed."""
        row = self._db.execute("SELECT facets FROM pages WHERE path = ?", (path,)).fetchone()
        return Facets(*json.loads(row[0])) if row else None

    def hits(self, wanted: list[str]) -> Iterator[tuple[str, float]]:
        """Yield the pages that contain one of the words, the best first."""
        terms = [
            (self._library.Occur.Should, self._library.Query.term_query(self._schema, "words", word, "freq"))
            for word in wanted
        ]
        # The library itself notices only after a while what another process has indexed.
        self._index.reload()
        query, searcher = self._library.Query.boolean_query(terms), self._index.searcher()
        for offset in range(0, searcher.num_docs, _BATCH):
            hits = searcher.search(query, limit=_BATCH, offset=offset, count=False).hits
            yield from ranked((str(searcher.doc(address)["path"][0]), value) for value, address in hits)
            if len(hits) < _BATCH:
                return

    def take_in(self, source: WikiSearchIndex, different: dict[str, State], gone: set[str]) -> None:
        """Index pages that differ, and remove those that are gone."""
        if not different and not gone:
            return
        known = {path: rest for path, *rest in self._db.execute("SELECT path, sha256, facets FROM pages")}
        rows = []
        writer = self._index.writer(_HEAP, 1)
        for path in gone:
            writer.delete_documents_by_term("path", path)
        for path, state in different.items():
            data = source.data(path)
            digest = hashlib.sha256(data).hexdigest()
            if path in known and known[path][0] == digest:
                # Only the modification time differs, as after a checkout.
                rows.append((path, *state, *known[path]))
                continue
            words, facets = words_of(path, data)
            rows.append((path, *state, digest, json.dumps(facets)))
            writer.delete_documents_by_term("path", path)
            text = " ".join(word for word, count in words.items() for _ in range(count))
            writer.add_document(self._library.Document(path=path, words=text))
        writer.commit()
        writer.wait_merging_threads()
        self.note(rows, gone)

    def note(self, rows: list[tuple[Any, ...]], gone: set[str]) -> None:
        """Note what is indexed. If the process dies before this, the index is rebuilt."""
        with transaction(self._db):
            self._db.executemany("DELETE FROM pages WHERE path = ?", [(path,) for path in gone])
            self._db.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)", rows)
            self._db.execute("DELETE FROM files")
            self._db.executemany("INSERT INTO files VALUES (?, ?)", self._files().items())

    def _files(self) -> dict[str, int]:
        found = self._folder.iterdir() if self._folder else ()
        return {path.name: path.stat().st_size for path in found if path.suffix != ".lock"}


def _version() -> int:
    return 1_000 * VERSION + _FORMAT
