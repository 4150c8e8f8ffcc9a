"""The pages of a wiki that go into a prompt, the most useful first."""

from __future__ import annotations

import itertools
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from pytest_dvwiki import runs
from pytest_dvwiki.agent.budget import MANY
from pytest_dvwiki.agent.page_blocks import PageBlocks, family
from pytest_dvwiki.agent.prompts import CATEGORIES
from pytest_dvwiki.records import aggregate
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
from pytest_dvwiki.wiki.kinds.marks import drifted, is_left_out
from pytest_dvwiki.wiki.page_summary import REGRESSED
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.unaccepted import is_unaccepted
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import date

    from pytest_dvwiki.agent.budget import PromptBlock
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.page_summary import PageSummary

_RANKED = 1000
"""Maximum number of hits of a query that are examined."""
_AS_WRITTEN = frozenset({"specs", "topics"})
"""Categories of pages that a prompt quotes; pages of other categories are summarised."""
OPEN = frozenset({"open", "confirmed", REGRESSED})


class Knowledge(AbstractContextManager["Knowledge"]):
    """The pages of one wiki, for reading.

    Args:
        layout: Where the wiki is.
        backend: The search backend, one of `backends.names()`.
        today: The date for computing ages; defaults to the current date.
        history: Open records and pages, to be closed by the caller; if None, this object opens its own.
        index: The search index; if None, one is created with `backend`.
    """

    def __init__(
        self,
        layout: Layout,
        backend: str = "bm25",
        *,
        today: date | None = None,
        history: WikiHistory | None = None,
        index: WikiSearchIndex | None = None,
    ) -> None:
        self._layout = layout
        self.today = today or runs.today()
        self._backend = backend
        self._is_own = history is None
        self._history = history or WikiHistory(layout)
        self._index = index
        self.passed_over: dict[str, str] = {}
        """Maps the path of each page that could not be read to the reason."""

    def __exit__(self, *_: object) -> None:
        if self._is_own:
            self._history.close()

    @property
    def index(self) -> WikiSearchIndex:
        """Return the search index of the wiki's pages."""
        self._index = self._index or WikiSearchIndex.create(self._backend, self._layout.wiki)
        return self._index

    def pages(
        self, categories: Sequence[str], most: int, *, query: str | None = None, test: str | None = None
    ) -> tuple[list[PageSummary], int]:
        """Return the pages to show, the most useful first, and how many more there are; `MANY` if not all are counted.

        Args:
            categories: The categories to look in.
            most: Maximum number of pages.
            query: Words to search for; each page contains at least one of them.
            test: A node id; only pages of causes that made this test fail.
        """
        if test:
            found = self._readable(page for page in self._of_test(test) if page.category in categories)
        elif query:
            for page in self._history.page_cache.unreadable(categories):
                self._pass_over(page, page.problem)
        else:
            listed = (page for category in categories for page in self.all(category))
            found = sorted((page for page in listed if _is_current(page)), key=usefulness)
        if query:
            among = {page.path for page in found} if test else None
            ranked, has_more = self._ranked(query, categories, among)
            best = (self._history.page_cache.get(path) for path in ranked[:most])
            return [page for page in best if page and not self._is_unaccepted(page)], MANY if has_more else max(
                0, len(ranked) - most
            )
        return found[:most], max(0, len(found) - most)

    def all(self, category: str) -> list[PageSummary]:
        """Return the pages of a category that may go into a prompt, by name.

        A page marked as stale is left out, unless it is stale only because it cites code that is gone.
        """
        listed = self._readable(self._history.page_cache.all(category))
        return [page for page in listed if page.metadata.get("stale") is not True or drifted(page)]

    def _is_unaccepted(self, page: PageSummary) -> bool:
        """Return whether a prompt would show text of this page that an agent wrote and no person has accepted."""
        address, found = page.path.removesuffix(".md"), self._history.unaccepted
        return address in found or (page.category in _AS_WRITTEN and is_unaccepted(address, found))

    def _readable(self, listed: Iterable[PageSummary]) -> list[PageSummary]:
        found = []
        for page in listed:
            if page.problem:
                self._pass_over(page, page.problem)
            elif not is_left_out(page.metadata) and not self._is_unaccepted(page):
                found.append(page)
        return found

    def _pass_over(self, page: PageSummary, reason: object) -> None:
        self.passed_over[page.path] = " ".join(str(reason).split())

    def _ranked(self, query: str, categories: Sequence[str], among: Collection[str] | None) -> tuple[list[str], bool]:
        """Return the paths of pages that contain a word of the query, best first, and whether there may be more.

        Thousands of pages can contain one of the words; without `among`, only the best `_RANKED` hits are examined.

        Args:
            query: Words to search for.
            categories: The categories to look in.
            among: The paths to choose from; None for all pages.
        """
        ranking = (path for path, _ in self.index.ranking(query) if path.partition("/")[0] in categories)
        hits = list(itertools.islice(ranking, _RANKED if among is None else None))
        # A page that points to another page can match by what people wrote on it; the other page is then shown.
        pointers = self._history.page_cache.pointers()
        found = list(dict.fromkeys(self._keeper(path) if path in pointers else path for path in hits))
        wanted = self._history.page_cache.not_stale(categories, found) if among is None else among
        return [path for path in found if path in wanted], among is None and len(hits) == _RANKED

    def _keeper(self, path: str) -> str:
        """Return the path of the main page of the given page's cause, to which the cause's other pages refer."""
        page = self._history.page_cache.get(path)
        return family(self._history, page)[0].path if page else path

    def _of_test(self, test: str) -> list[PageSummary]:
        """Return the bug pages of a test's causes, newest first, each followed by the page of its subtype."""
        found: dict[str, PageSummary] = {}
        for fingerprint, subtype in aggregate.causes_of_test(self._history.archive, test):
            bugs = self._history.bug_pages(fingerprint)[:1]
            kind = self._history.pattern_page(subtype)
            for page in (*bugs, *([kind] if kind else [])):
                found.setdefault(page.path, page)
        return list(found.values())

    def blocks(self, listed: Iterable[PageSummary]) -> list[PromptBlock]:
        """Return pages as blocks of a prompt; unreadable pages, and topics without a lesson to show, are skipped."""
        found = []
        renderer = PageBlocks(self._layout, self._history, self.today)
        for page in listed:
            try:
                block = renderer.block(page)
                if block.lines or page.category != "topics":
                    found.append(block)
            except (OSError, YamlError) as error:
                self._pass_over(page, error)
        return found


def _is_current(page: PageSummary) -> bool:
    if page.category == "bugs":
        return (page.status or "open") in OPEN
    return page.category != "coverage" or is_open_hole(page)


def is_open_hole(page: PageSummary) -> bool:
    """Return whether a bin still has to be covered: it is not filled, and people did not exclude it."""
    return page.metadata.get("filled") is not True and page.text("action_class") != "design_excluded"


def usefulness(page: PageSummary) -> tuple[int, bool, float, str]:
    """Return the sort key of a page: patterns by hits, bugs by confidence (regressed bugs first), holes by priority."""
    key = {"patterns": "hit_count", "bugs": "confidence", "coverage": "priority"}.get(page.category, "")
    value = page.metadata.get(key)
    last = float("inf") if key == "priority" else 0.0
    number = float(value) if isinstance(value, int | float) else last
    order = CATEGORIES.index(page.category)
    return order, not page.metadata.get("regressed"), number if key == "priority" else -number, page.name
