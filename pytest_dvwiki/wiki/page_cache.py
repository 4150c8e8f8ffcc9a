"""A disposable cache of the frontmatter of all pages; an entry is valid until its file's size or time changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_dvwiki import reading
from pytest_dvwiki.records.cache import open_cache, transaction
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.cause_pages import CausePages
from pytest_dvwiki.wiki.index import cells, commit_of
from pytest_dvwiki.wiki.index_rows import IndexRows
from pytest_dvwiki.wiki.kinds import marks
from pytest_dvwiki.wiki.kinds.bug import is_pointer
from pytest_dvwiki.wiki.page_files import NOWHERE, State, list_pages, state_of
from pytest_dvwiki.wiki.page_summary import CATEGORIES, PageSummary
from pytest_dvwiki.wiki.text import pages, parts
from pytest_dvwiki.wiki.text.markdown import one_line, plain
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pytest_dvwiki.wiki.page_files import PageListing

VERSION = 11
_PROGRESS_EVERY = 100
_OPENING = 160
"""Maximum number of characters of a page's first line in a list of pages."""
_SCHEMA = """
CREATE TABLE pages (
  path TEXT PRIMARY KEY, category TEXT, size INTEGER, mtime_ns INTEGER, title TEXT, metadata TEXT, problem TEXT,
  cells TEXT, leads_to TEXT, is_open INTEGER, names INTEGER,
  stands INTEGER, points INTEGER, came_with TEXT, opening TEXT, version TEXT, words INTEGER);
CREATE INDEX pages_by_category ON pages (category, path, cells);
CREATE INDEX pages_by_target ON pages (leads_to, path);
CREATE INDEX pages_of_many ON pages (path) WHERE names > 1;
CREATE INDEX pages_that_point ON pages (path) WHERE points;
CREATE INDEX pages_of_commits ON pages (path, came_with) WHERE came_with != '';
CREATE INDEX pages_left_out ON pages (path) WHERE cells IS NULL;
CREATE INDEX pages_with_problem ON pages (category, path) WHERE problem != '';
CREATE TABLE causes (fingerprint TEXT, path TEXT, PRIMARY KEY (fingerprint, path)) WITHOUT ROWID;
CREATE INDEX causes_by_page ON causes (path);
CREATE INDEX causes_of_runs ON causes (fingerprint) WHERE instr(fingerprint, '/');
CREATE TABLE folders (path TEXT PRIMARY KEY, mtime_ns INTEGER) WITHOUT ROWID;
CREATE TABLE unlisted (path TEXT PRIMARY KEY, cells TEXT) WITHOUT ROWID;
CREATE TABLE index_files (path TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER) WITHOUT ROWID
"""


class PageCache(contextlib.AbstractContextManager["PageCache"]):
    """The frontmatter of one wiki's pages, in database tables.

    This class has many methods, one for each question about pages; most are a query of a few lines.

    Args:
        wiki: The wiki's folder; it need not exist.
        cache: The file with the tables; None keeps the tables in memory.
    """

    def __init__(self, wiki: Path, cache: Path | None) -> None:
        self.wiki = wiki
        self.db = open_cache(cache, _SCHEMA, VERSION)
        self.causes = CausePages(self)
        self.index = IndexRows(self)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the cache."""
        self.db.close()

    def refresh(
        self,
        progress: Callable[[int], None] | None = None,
        *,
        quick: bool = False,
        listing: PageListing | None = None,
        before: PageListing | None = None,
    ) -> None:
        """Read the pages that were added or changed, and drop those that were removed.

        Args:
            progress: Called from time to time with the number of pages read so far.
            quick: Skip folders that have had no file added or removed since they were last read. This misses pages
                changed in place, until `look_at` is called for them.
            listing: A current listing of all categories; if None, this method makes it.
            before: The listing of the last refresh, if nobody has changed the cache since: only the pages that differ
                between the listings are compared with the cache.
        """
        try:
            self._refresh(progress, quick=quick, listing=listing, before=before)
        except sqlite3.DatabaseError:
            self.db.close()
            self.db = open_cache(None, _SCHEMA, VERSION)
            self._refresh(progress, quick=False, listing=listing, before=None)

    def _refresh(
        self,
        progress: Callable[[int], None] | None,
        *,
        quick: bool,
        listing: PageListing | None,
        before: PageListing | None,
    ) -> None:
        remembered = dict(self.db.execute("SELECT path, mtime_ns FROM folders"))
        seen = {path.split("/", 1)[0] for path in remembered}
        moved = {
            path.split("/", 1)[0] for path, time in remembered.items() if quick and self.state(path).mtime_ns != time
        }
        pending = [each for each in CATEGORIES if not quick or each not in seen or each in moved]
        differing = listing.changed_since(before) if listing is not None and before is not None else None
        asked = ("category", pending) if differing is None else ("path", sorted(differing))
        known = {
            path: (size, mtime)
            for path, size, mtime in self.db.execute(
                f"SELECT path, size, mtime_ns FROM pages WHERE {asked[0]} IN (SELECT value FROM json_each(?))",  # noqa: S608
                (json.dumps(asked[1]),),
            )
        }
        listing = listing or list_pages(self.wiki, pending)
        listed = (
            listing.pages
            if differing is None
            else {path: listing.pages[path] for path in differing & listing.pages.keys()}
        )
        present = {path: state for path, state in listed.items() if path.partition("/")[0] in pending}
        changed = [path for path, state in present.items() if known.get(path) != state]
        # After `listing` was made, another process may have written a page and put it into this cache.
        gone = {path for path in known.keys() - present.keys() if self.state(path) == NOWHERE}
        times = {path: time for path, time in listing.folders.items() if path.partition("/")[0] in pending}
        read = {path: time for path, time in times.items() if time != remembered.get(path)}
        left = [path for path in remembered if path.split("/", 1)[0] in pending and path not in times]
        if not (changed or gone or read or left):
            return
        with self.batch():
            for path in gone:
                self._remove(path)
            for number, path in enumerate(changed, 1):
                self._take(path, present[path])
                if progress and number % _PROGRESS_EVERY == 0:
                    progress(number)
            self.db.executemany("INSERT OR REPLACE INTO folders VALUES (?, ?)", read.items())
            self.db.executemany("DELETE FROM folders WHERE path = ?", [(path,) for path in left])

    def look_at(self, paths: Iterable[str]) -> bool:
        """Reread the given pages that changed on disk; return whether any of them changed."""
        changed = False
        for path in paths:
            row = self.db.execute("SELECT size, mtime_ns FROM pages WHERE path = ?", (path,)).fetchone()
            state = self.state(path)
            if row != state:
                self._take(path, state)
                changed = True
        return changed

    @contextlib.contextmanager
    def writing(self, path: str) -> Iterator[None]:
        """Keep a write inside the context from making `refresh` read the page's folder again.

        If another process changed the folder before the write, `refresh` still reads it.
        """
        folder = path.rpartition("/")[0]
        before = self.state(folder).mtime_ns if folder.split("/", 1)[0] in CATEGORIES else None
        yield
        if before is not None:
            query = "UPDATE folders SET mtime_ns = ? WHERE path = ? AND mtime_ns = ?"
            self.db.execute(query, (self.state(folder).mtime_ns, folder, before))

    def _remove(self, path: str) -> None:
        self.causes.forget_paths()
        self.index.mark_outdated(path, None)
        self.db.execute("DELETE FROM pages WHERE path = ?", (path,))
        self.db.execute("DELETE FROM causes WHERE path = ?", (path,))

    def _take(self, path: str, state: State) -> None:
        file = self.wiki / path
        problem = outside.REASON if outside.leads_out(self.wiki, file) else ""
        try:
            self.put(path, reading.read_bytes(file, outside.MOST), state, problem)
        except FileNotFoundError:
            self._remove(path)
        except OSError as error:
            self.put(path, b"", state, problem or reading.reason(error))

    def batch(self) -> AbstractContextManager[None]:
        """Make all changes inside the context in one transaction."""
        return transaction(self.db)

    def put(
        self,
        path: str,
        data: bytes,
        state: State = NOWHERE,
        problem: str = "",
        *,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Store a page from its bytes.

        Args:
            path: Path of the page, relative to the wiki.
            data: The page's content.
            state: The state of the page's file, if the file is on disk.
            problem: Why the page cannot be read; if set, only the page's fingerprint is stored.
            metadata: The page's frontmatter, if already parsed.
        """
        listed = summary_of(path, data, problem, metadata)
        if path.startswith("bugs/"):
            self.causes.forget_names(listed.fingerprints())
        shown = _cells(listed)
        self.index.mark_outdated(path, shown)
        self.db.execute("DELETE FROM causes WHERE path = ?", (path,))
        self.db.execute(f"INSERT OR REPLACE INTO pages VALUES ({'?, ' * 16}?)", _row(listed, state, shown))  # noqa: S608
        self.db.executemany("INSERT INTO causes VALUES (?, ?)", [(item, path) for item in listed.fingerprints()])

    def get(self, path: str) -> PageSummary | None:
        """Return the page at a path relative to the wiki; None if there is no such page."""
        return next(self.select("WHERE path = ?", path), None)

    def below(self, name: str, categories: Sequence[str]) -> PageSummary | None:
        """Return the page with this name in any sub-folder; None if there is no such page, or more than one."""
        where = "WHERE path LIKE '%/%/%' AND category IN (SELECT value FROM json_each(?))"
        found = [page for page in self.select(where, json.dumps(categories)) if page.name == name]
        return found[0] if len(found) == 1 else None

    def not_stale(self, categories: Sequence[str], paths: Collection[str]) -> set[str]:
        """Return which of the given paths belong to readable pages that are not stale.

        A page that is stale because it cites missing code is included.

        Args:
            categories: Only pages of these categories.
            paths: Paths of pages, relative to the wiki.
        """
        query = (
            "SELECT path FROM pages WHERE path IN (SELECT value FROM json_each(?)) AND stands"
            " AND +category IN (SELECT value FROM json_each(?))"  # the plus disables the index of categories
        )
        return {path for (path,) in self.db.execute(query, (json.dumps(list(paths)), json.dumps(categories)))}

    def pointers(self) -> set[str]:
        """Return the paths of pages that only point to another page."""
        return {path for (path,) in self.db.execute("SELECT path FROM pages WHERE points")}

    def unreadable(self, categories: Sequence[str]) -> list[PageSummary]:
        """Return the pages of some categories with unreadable frontmatter, sorted by path."""
        where = "WHERE problem != '' AND category IN (SELECT value FROM json_each(?)) ORDER BY path"
        return list(self.select(where, json.dumps(categories)))

    def all(self, category: str) -> Iterator[PageSummary]:
        """Yield the pages of a category, sorted by path."""
        return self.select("WHERE category = ? ORDER BY path", category)

    def count(self, category: str) -> int:
        """Return the number of pages of a category."""
        (count,) = self.db.execute("SELECT COUNT(*) FROM pages WHERE category = ?", (category,)).fetchone()
        return int(count)

    def numbers_of_empty(self) -> set[int]:
        """Return the numbers in the names of empty bug pages, which a power cut may leave."""
        rows = self.db.execute("SELECT path FROM pages WHERE category = 'bugs' AND size = 0")
        return {int(found[0]) for (path,) in rows if (found := re.search(r"\d+(?=\.md$)", path))}

    def state(self, path: str) -> State:
        """Return the size and time of a file in the wiki; both are -1 if the file does not exist."""
        return state_of(self.wiki / path)

    def select(self, where: str, *values: str) -> Iterator[PageSummary]:
        """Yield the pages selected by an SQL clause (`WHERE …`, `ORDER BY …`)."""
        rows = self.db.execute(
            f"SELECT path, category, title, metadata, problem, opening, version, words FROM pages {where}",  # noqa: S608 (constants)
            values,
        )
        for path, category, title, metadata, *rest in rows:
            yield PageSummary(path, category, title, _metadata(metadata), *rest)


def summary_of(path: str, data: bytes, problem: str = "", known: dict[str, Any] | None = None) -> PageSummary:
    """Return the frontmatter of a page and data about its text.

    Args:
        path: Path of the page, relative to the wiki.
        data: The page's content.
        problem: Why the page cannot be read; if set, only the page's fingerprint is kept.
        known: The page's frontmatter, if already parsed.
    """
    title, metadata = "", known or {}
    text = "" if problem else data.decode("utf-8", "replace")
    body = pages.body(text)
    if problem:
        metadata = _recover_identity(data)
    elif known is not None:
        title = pages.title_of(body)
    else:
        try:
            page = pages.read(data)
            title, metadata = pages.title_of(page.body), page.metadata
        except YamlError as error:
            problem, metadata = str(error).removeprefix("page:"), _recover_identity(data)
    body = pages.without_marks(body)
    return PageSummary(
        path, path.split("/", 1)[0], title, metadata, problem, _opening(body), version_of(text), len(body.split())
    )


def version_of(content: str) -> str:
    """Return the version of a page or part: a hash of its content."""
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _opening(body: str) -> str:
    """Return the first line of a page's text that is not a heading."""
    lines = (line.strip() for _, line in parts.unfenced(body.split("\n")))
    return one_line(plain(next((line for line in lines if line and not line.startswith("#")), "")), _OPENING)


def _cells(page: PageSummary) -> str | None:
    """Return the cells of a page in the index; None if the page is left out of the index."""
    return None if marks.is_left_out(page.metadata) else cells(page)


def _row(page: PageSummary, state: State, shown: str | None) -> tuple[object, ...]:
    """Return the values of a page's row in the table `pages`."""
    is_current = page.metadata.get("stale") is not True or marks.drifted(page) is not None
    return (
        page.path,
        page.category,
        *state,
        page.title,
        json.dumps(page.metadata, default=str),
        page.problem,
        shown,
        page.leads_to if page.category == "bugs" else "",
        page.text("status") == "open" and is_current,
        len(page.fingerprints()),
        is_current and not page.problem,
        is_pointer(page),
        commit_of(page),
        page.opening,
        page.version,
        page.words,
    )


def _metadata(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = msgspec.json.decode(text)
    except msgspec.DecodeError:
        # The frontmatter has a value such as `.nan`, which Python's JSON allows, but standard JSON does not.
        found = json.loads(text)
    return found


def _recover_identity(data: bytes) -> dict[str, Any]:
    """Return the fingerprint from unreadable frontmatter, so that the cause does not get a second page."""
    found = re.search(rb"^fingerprint:[ \t]*['\"]?([0-9a-zA-Z]+)", data, re.MULTILINE)
    return {"fingerprint": found[1].decode()} if found else {}
