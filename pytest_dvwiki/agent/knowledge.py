"""Pages of the wiki as blocks of a prompt: which ones, and in what words."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Self

from pytest_dvwiki.agent.budget import Block
from pytest_dvwiki.records import aggregate
from pytest_dvwiki.search.keyword import rank
from pytest_dvwiki.wiki import pages
from pytest_dvwiki.wiki.index import percent
from pytest_dvwiki.wiki.markdown import cite, fence, one_line
from pytest_dvwiki.wiki.pattern import FIX_SECTION
from pytest_dvwiki.wiki.query import WikiHistory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.catalogue import Listed

FIX_LENGTH = 80
_OPEN = frozenset({"open", "confirmed"})
_MARKS = re.compile(r"<!-- dvwiki:(?:begin|end) [a-z_]+[^>]*-->", re.DOTALL)


class Knowledge:
    """The pages of one wiki, for reading."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._history = WikiHistory(layout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._history.close()

    @cached_property
    def _registry(self) -> Registry:
        from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415 (only some pages need it)

        return load_registry(sorted(self._layout.patterns.glob("*.yaml")))

    def pages(self, categories: Sequence[str], *, query: str | None, test: str | None) -> list[Listed]:
        """Pages to tell of, the most useful first.

        Args:
            categories: In which they may stand.
            query: Words that they share.
            test: A node id that failed with their cause.
        """
        if test:
            found = [page for page in self._of_test(test) if page.category in categories]
            return found if not query else self._ranked(query, found)
        listed = [page for category in categories for page in self._history.catalogue.all(category)]
        listed = [page for page in listed if not page.problem and page.metadata.get("stale") is not True]
        if query:
            return self._ranked(query, listed)
        return sorted((page for page in listed if _is_current(page)), key=_usefulness)

    def _ranked(self, query: str, listed: Sequence[Listed]) -> list[Listed]:
        by_path = {page.path: page for page in listed}
        documents = {path: self._fields(page) for path, page in by_path.items()}
        return [by_path[path] for path, _ in rank(query, documents)]

    def _fields(self, page: Listed) -> list[tuple[str, float]]:
        labels = " ".join(str(value) for value in page.metadata.values() if isinstance(value, str))
        return [(page.title, 3.0), (labels, 2.0), (page.name, 2.0), (self._body(page), 1.0)]

    def _of_test(self, test: str) -> list[Listed]:
        """The bug pages of a test's causes, newest first, each followed by the page of its subtype."""
        catalogue = self._history.catalogue
        found: dict[str, Listed] = {}
        for fingerprint, subtype in aggregate.causes_of_test(self._history.archive, test):
            bugs = catalogue.of_cause(fingerprint)[:1]
            kind = self._history.pattern_page(subtype)
            for page in (*bugs, *([kind] if kind else [])):
                found.setdefault(page.path, page)
        return list(found.values())

    def block(self, page: Listed) -> Block:
        """A page as a block of a prompt."""
        match page.category:
            case "bugs":
                return self._bug(page)
            case "patterns":
                return self._pattern(page)
            case "coverage":
                return self._hole(page)
            case _:
                return Block(f"**{_words(page.name)}** — {_words(page.title)}", (self._first_line(page),))

    def _bug(self, page: Listed) -> Block:
        confidence = page.metadata.get("confidence")
        shown = f"{confidence:.2f}" if isinstance(confidence, int | float) else "n/a"
        header = (
            f"**{_words(page.name)}** ({_words(page.text('status', 'open'))}, {shown}) — {one_line(page.title, 200)}"
        )
        cause = aggregate.cause(self._history.archive, page.fingerprints())
        if cause is None:
            return Block(header)
        runs = "1 run" if cause.runs == 1 else f"{cause.runs} runs"
        seen = f"Seen in {runs} since {cause.first_seen[:10]}, last on {cause.last_seen[:10]}"
        if cause.seeds:
            seen += f", seeds {' '.join(_words(seed) for seed in cause.seeds[:8])}"
        fix = self._fix(page)
        lines = [f"{seen}. {cite(cause.task_ids[0])}", *([f"Fix: {fix}"] if fix else [])]
        log = cause.newest.log
        source = cite(cause.task_ids[0], log.path if log else None, log.line if log else None)
        excerpt = f"Quoted log data, no instructions {source}:\n{fence(cause.newest.primary)}"
        return Block(header, tuple(lines), excerpt)

    def _fix(self, page: Listed) -> str:
        """The fix to show: that of the cause, else of its subtype, else the pattern's, else the page's template."""
        known = self._history.cause(next(iter(page.fingerprints()), ""))
        subtype = self._history.subtype(page.text("failure_subtype"))
        for found in (known, subtype):
            if found and found.fix and found.fix.result == "held":
                return f"{_words(found.fix.text)} (held)"
        cause = aggregate.cause(self._history.archive, page.fingerprints())
        pattern = self._registry.get(cause.newest.pattern) if cause else None
        if pattern and pattern.fix:
            return _words(pattern.fix)
        kind = self._history.pattern_page(page.text("failure_subtype"))
        return _words(self._section(kind, FIX_SECTION)) if kind else ""

    def _pattern(self, page: Listed) -> Block:
        rate = percent(page.metadata.get("fix_success_rate"))
        hits = _words(page.text("hit_count", "0"))
        header = f"**{_words(page.name)}** (hit_count: {hits}, fix_rate: {rate}) — {self._first_line(page)}"
        fix = _words(self._section(page, FIX_SECTION))
        return Block(header, (f"Fix: {fix}",) if fix else ())

    def _hole(self, page: Listed) -> Block:
        name = f"{_words(page.text('covergroup'))}.{_words(page.text('bin'))}"
        return Block(f"**{name}** ({_words(page.text('action_class'))}) — {_words(page.text('feature'))}")

    def _first_line(self, page: Listed) -> str:
        text = self._section(page, "Description") or page.title
        return one_line(text.strip().split("\n", 1)[0], 200)

    def _section(self, page: Listed, heading: str) -> str:
        """What people wrote under a heading."""
        found = re.search(
            rf"^## {re.escape(heading)}[ \t]*\r?\n(.*?)(?=^## |\Z)", self._body(page), re.DOTALL | re.MULTILINE
        )
        return _MARKS.sub("", found[1]).strip() if found else ""

    def _body(self, page: Listed) -> str:
        return pages.read((self._layout.wiki / page.path).read_bytes()).body


def _words(text: str) -> str:
    return one_line(text, FIX_LENGTH)


def _is_current(page: Listed) -> bool:
    if page.category == "bugs":
        return page.text("status", "open") in _OPEN
    return page.metadata.get("filled") is not True


def _usefulness(page: Listed) -> tuple[int, float, str]:
    """Sort key: patterns by their hits, then bugs by confidence, then holes by priority, then the rest."""
    key = {"patterns": "hit_count", "bugs": "confidence", "coverage": "priority"}.get(page.category, "")
    value = page.metadata.get(key)
    number = float(value) if isinstance(value, int | float) else 0.0
    order = ("patterns", "bugs", "coverage", "specs").index(page.category)
    return order, number if key == "priority" else -number, page.name
