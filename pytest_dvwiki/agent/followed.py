"""A wiki for a process that answers many queries: a background thread checks the files for changes."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import TYPE_CHECKING

from pytest_dvwiki.agent.knowledge import Knowledge
from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.wiki.finding.search import FOLDERS, WikiSearchIndex
from pytest_dvwiki.wiki.page_files import list_pages
from pytest_dvwiki.wiki.query import WikiHistory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.page_files import PageListing

EVERY_S = 1.0
_logger = logging.getLogger(__name__)


class FollowedWiki(contextlib.AbstractContextManager["FollowedWiki"]):
    """A wiki with a thread that updates its caches and search index, from the first query until `close` is called.

    Args:
        layout: Where the wiki is; it need not exist yet.
        backend: The search backend, one of `backends.names()`.
        every: Seconds between the starts of two checks of the files. If a check takes more than half of this time, the
            thread then pauses for as long as the check took.

    Raises:
        ValueError: The backend does not exist, or cannot be loaded.
    """

    def __init__(self, layout: Layout, backend: str = "bm25", *, every: float = EVERY_S) -> None:
        self._layout = layout
        self._every = every
        self._index = WikiSearchIndex.create(backend, layout.wiki)
        self._history = WikiHistory(layout, reads=False)
        self._asking = threading.Lock()
        self._looking = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="dvwiki-pages", daemon=True)
        self._has_looked = threading.Event()
        self._is_read = False
        self._taken: tuple[PageListing, tuple[int, ...]] | None = None
        """The last listing of pages that the page cache has read, and the state of the cache's file after that."""

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the thread, and close the caches."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._history.close()

    @contextlib.contextmanager
    def history(self) -> Iterator[WikiHistory]:
        """Return the records and pages as last read from disk, for one query; queries of other threads wait.

        Raises:
            WikiError: The wiki could not be read yet.
        """
        with self._asking:
            if self._thread.ident is None:
                self._thread.start()
        self._has_looked.wait()
        if not self._is_read:
            raise WikiError("the wiki cannot be read; the log of this process has the reason")
        with self._asking:
            self._history.catch_up()
            yield self._history

    @contextlib.contextmanager
    def pages(self) -> Iterator[PageCache]:
        """Return the pages as last read from disk, for one query."""
        with self.history() as history:
            yield history.page_cache

    @contextlib.contextmanager
    def knowledge(self) -> Iterator[Knowledge]:
        """Return the wiki as last read from disk, for one query."""
        with self.history() as history:
            yield Knowledge(self._layout, history=history, index=self._index)

    def look(self) -> None:
        """Check the files now, so that the next query finds what this process has just written."""
        with self._looking:
            seen = list_pages(self._layout.wiki, FOLDERS)
            self._index.listing = seen
            self._index.refresh()
            found = self._cache_state()
            with WikiHistory(self._layout, reads=False) as beside:
                if beside.is_on_disk:
                    beside.refresh(seen, self._taken[0] if self._taken and self._taken[1] == found else None)
                is_shared = beside.is_on_disk
            left = self._cache_state()
            # A different inode number means a new cache file, which may lack pages.
            self._taken = (seen, left) if is_shared and left[0] == found[0] else None
            with self._asking:
                if is_shared and not self._history.is_on_disk:
                    # Opened again below: until now, another process held the caches, or no wiki existed.
                    self._history.close()
                if not self._history.is_on_disk:
                    self._history.refresh(seen)
            self._is_read = True

    def _cache_state(self) -> tuple[int, ...]:
        """Return inode number, size in bytes and modification time in ns of the page cache; zeros if there is none."""
        try:
            status = (self._layout.wiki / ".cache" / "pages.sqlite").stat()
        except OSError:
            return (0, 0, 0)
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _follow(self) -> None:
        while True:
            began = time.monotonic()
            try:
                self.look()
            except Exception:
                _logger.warning("the wiki cannot be read", exc_info=True)
            self._has_looked.set()
            took = time.monotonic() - began
            if self._stop.wait(max(self._every - took, took)):
                return
