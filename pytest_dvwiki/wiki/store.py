"""The pages of a wiki on disk, for agents, reviewers and scripts that read and write them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.lock import TIMEOUT_S
from pytest_dvwiki.wiki.page_cache import PageCache
from pytest_dvwiki.wiki.page_files import state_of
from pytest_dvwiki.wiki.review import ReviewQueue
from pytest_dvwiki.wiki.schema import NAME, Address, Schema, load_schema, schema_text
from pytest_dvwiki.wiki.store_rules import CheckedStore
from pytest_dvwiki.wiki.writing import build

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from pytest_dvwiki.wiki.config import WikiConfig
    from pytest_dvwiki.wiki.page_summary import PageSummary
    from pytest_dvwiki.wiki.review import Kind


class WikiStore(CheckedStore):
    """Reads and writes the pages on disk, in one role.

    An address is `category`, `category/page` or `category/page#Heading`, for example
    `bugs/RTL_20261121_480127#Resolution`, or the name of a section that is a separate file, such as `handoffs`. Each
    call blocks until its files are read and written; in an event loop, make calls in a thread.

    Args:
        config: The configuration of the wiki.
        role: `ingest`, `agent`, `reviewer`, `human`, or a role of the wiki's `schema.yaml`.
        lock_timeout: Seconds to wait for another process that writes.
        pages: Opens the pages for one call, as `FollowedWiki.pages` does; if None, each call checks all files.

    Raises:
        ValueError: The role does not exist.
        SchemaError: The wiki's `schema.yaml` is invalid.
    """

    def __init__(
        self,
        config: WikiConfig,
        role: str,
        *,
        lock_timeout: float = TIMEOUT_S,
        pages: Callable[[], AbstractContextManager[PageCache]] | None = None,
    ) -> None:
        self._layout = replace(config.layout, lock_timeout=lock_timeout)
        self._pages = pages or self._opened
        self._loaded: tuple[object, Schema] | None = None
        super().__init__(role)

    @property
    def schema(self) -> Schema:
        """Return the sections and roles, as `schema.yaml` defines them now.

        Raises:
            SchemaError: The file is invalid.
        """
        state = state_of(self._layout.wiki / NAME)
        if self._loaded is None or self._loaded[0] != state:
            self._loaded = state, load_schema(self._layout.wiki)
        return self._loaded[1]

    def _schema_text(self) -> str:
        return schema_text(self._layout.wiki)

    def _summaries(self, categories: Sequence[str]) -> list[PageSummary]:
        with self._pages() as page_cache:
            return [page for category in categories for page in page_cache.all(category)]

    def _read(self, path: str) -> bytes:
        return outside.read(self._layout.wiki, path)

    def _replace(self, path: str, decide: Callable[[bytes | None], bytes | None], log_text: str) -> str | None:
        if outside.leads_out(self._layout.wiki, self._layout.wiki / path):
            return outside.REASON  # before the content of an outside file can get into an answer
        return build.change_page(self._layout, path, decide, log_text=log_text)

    def _add_line(self, path: str, title: str, make: Callable[[str], str | None]) -> None:
        build.add_line(self._layout, path, title, make)

    def _propose(self, kind: Kind, target: str, text: str, reason: str) -> str:
        queue = ReviewQueue(self._layout)
        return queue.propose(kind, target, text, by=self.role, reason=reason).id

    def _keeper(self, place: Address) -> Address | None:
        if place.category != "bugs" or place.page is None:
            return None
        with self._pages() as page_cache:
            page = page_cache.get(place.path)
            if page is None:
                found = page_cache.causes.formerly_named(place.page)
            else:
                found = page_cache.causes.pages_of(*page.fingerprints())[:1] if bug.is_pointer(page) else []
        return Address(place.category, found[0].name, place.heading) if len(found) == 1 else None

    def _opened(self) -> PageCache:
        """Open the cache of pages, and bring it up to date."""
        cache = self._layout.wiki / ".cache" / "pages.sqlite"
        page_cache = PageCache(self._layout.wiki, cache if self._layout.wiki.is_dir() else None)
        page_cache.refresh()
        return page_cache
