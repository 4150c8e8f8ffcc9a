"""The rows of the index files, and a list of the outdated rows, so that only these are rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.wiki.page_cache import PageCache


class IndexRows:
    """The rows that the index files have, and the rows that they should have."""

    def __init__(self, cache: PageCache) -> None:
        self._cache = cache

    def rows(self, category: str) -> list[tuple[str, str]]:
        """Return the name and index cells of each page of a category, sorted by name."""
        query = "SELECT path, cells FROM pages WHERE category = ? AND cells IS NOT NULL ORDER BY path"
        found = self._cache.db.execute(query, (category,))
        return [(path[len(category) + 1 : -len(".md")], cells) for path, cells in found]

    def left_out(self) -> int:
        """Return the number of pages that are left out of the index."""
        found: int = self._cache.db.execute("SELECT COUNT(*) FROM pages WHERE cells IS NULL").fetchone()[0]
        return found

    def commits(self) -> list[tuple[str, str]]:
        """Return the page name, and the commit or range of commits, of each bug with a known introducing commit."""
        query = "SELECT path, came_with FROM pages WHERE came_with != '' ORDER BY path"
        return [(path[len("bugs/") : -len(".md")], commit) for path, commit in self._cache.db.execute(query)]

    def changed(self) -> dict[str, tuple[str | None, str | None]]:
        """Return the old and new cells of each outdated row, by page path; None means no row."""
        query = "SELECT u.path, u.cells, p.cells FROM unlisted u LEFT JOIN pages p ON p.path = u.path"
        rows = self._cache.db.execute(query)
        return {path: (before, now) for path, before, now in rows}

    def is_current(self, files: Iterable[str]) -> bool:
        """Return whether nobody has changed these index files since dvwiki last wrote them."""
        states = {path: (size, mtime) for path, size, mtime in self._cache.db.execute("SELECT * FROM index_files")}
        return all(states.get(path, ()) == self._cache.state(path) for path in files)

    def note_written(self, files: Iterable[str]) -> None:
        """Note that these index files have just been written: no row is outdated."""
        with self._cache.batch():
            self._cache.db.execute("DELETE FROM unlisted")
            rows = [(path, *self._cache.state(path)) for path in files]
            self._cache.db.executemany("INSERT OR REPLACE INTO index_files VALUES (?, ?, ?)", rows)

    def mark_outdated(self, path: str, now: str | None) -> None:
        """Mark a page's row as outdated if its cells have changed.

        Args:
            path: The page.
            now: The new cells, not yet stored in the cache; None if the page no longer has a row.
        """
        row = self._cache.db.execute("SELECT cells FROM pages WHERE path = ?", (path,)).fetchone()
        before = row[0] if row else None
        if before != now:
            self._cache.db.execute("INSERT OR IGNORE INTO unlisted VALUES (?, ?)", (path, before))
