"""Knowledge for a process that answers many queries: the wiki is looked at beside the queries, not at each of them."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import TYPE_CHECKING, Self

from pytest_dvwiki.agent.knowledge import Knowledge
from pytest_dvwiki.wiki.finding.search import REST, WikiSearchIndex
from pytest_dvwiki.wiki.query import WikiHistory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.settings import Layout

EVERY_S = 1.0
_logger = logging.getLogger(__name__)


class FollowedWiki(contextlib.AbstractContextManager["FollowedWiki"]):
    """A wiki whose caches and search index a thread keeps up to date while the context lasts.

    Where the caches cannot be written, as in a read-only checkout, a query looks at the wiki itself, at most once in
    `every` seconds.

    Args:
        layout: Where the wiki is; it need not exist yet.
        backend: How its pages are searched, one of `backends.names()`.
        every: Seconds between two looks at the files.

    Raises:
        ValueError: The backend does not exist, or cannot be loaded.
    """

    def __init__(self, layout: Layout, backend: str = "bm25", *, every: float = EVERY_S) -> None:
        self._layout = layout
        self._every = every
        self._index = WikiSearchIndex.create(backend, layout.wiki)
        self._history = WikiHistory(layout)
        self._asking = threading.Lock()
        self._stop = threading.Event()
        self._open = contextlib.ExitStack()
        self._versions: tuple[int, ...] = ()
        self._looked = 0.0
        self._is_followed = False
        self._began = threading.Event()
        """Set after the thread's first look, for which queries wait."""

    def __enter__(self) -> Self:
        self._open.enter_context(self._index.followed(self._every))
        thread = threading.Thread(target=self._follow, name="dvwiki-pages", daemon=True)
        self._open.callback(thread.join)
        self._open.callback(self._stop.set)
        thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self._history.close()

    @contextlib.contextmanager
    def knowledge(self) -> Iterator[Knowledge]:
        """Return the wiki as of the last look, for one query; queries of other threads wait."""
        with self._asking:
            self._bring_up_to_date()
            yield Knowledge(self._layout, history=self._history, index=self._index)

    def _bring_up_to_date(self) -> None:
        self._began.wait()
        if self._is_followed:
            if self._versions != self._history.versions():
                self._history.close()
                self._history = WikiHistory(self._layout, reads=False)
                self._versions = self._history.versions()
        elif time.monotonic() - self._looked >= self._every:
            self._history.refresh(in_place=True)
            self._looked = time.monotonic()

    def _follow(self) -> None:
        """Keep the caches on the disk up to date, through connections of this thread."""
        with WikiHistory(self._layout) as beside:
            rest = 0.0
            while not self._stop.wait(rest):
                began = time.monotonic()
                try:
                    beside.refresh(in_place=True)
                    self._is_followed = beside.is_on_disk
                except Exception:
                    self._is_followed = False
                    _logger.warning("the wiki could not be read", exc_info=True)
                self._began.set()
                rest = max(self._every, REST * (time.monotonic() - began))
