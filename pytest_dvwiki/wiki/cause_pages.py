"""Finds the bug pages of a cause, and chooses the page to keep if there are several."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_dvwiki.wiki.text.names import bug_date

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.page_summary import PageSummary

_OF_RUNS = "SELECT DISTINCT fingerprint FROM causes WHERE instr(fingerprint, '/')"


class CausePages:
    """Finds the bug pages of causes."""

    def __init__(self, cache: PageCache) -> None:
        self._cache = cache
        self._paths: dict[str, str | None] = {}
        """Cache of `paths`: the page to keep for each cause; cleared when a bug page changes."""
        self._joined: frozenset[str] = frozenset()
        """Causes that turned out to be the same as an earlier cause; the earlier cause keeps its page."""
        self._different: frozenset[str] = frozenset()
        """Causes that share a fingerprint with an earlier cause, but are different."""
        self._named_now: Callable[[Sequence[str]], Sequence[str]] = tuple
        self._with_task_id: tuple[str, ...] | None = None
        """The cause names with a task id (`…/…`) that are used on pages; None until first needed."""
        self._current_names: dict[str, str] = {}
        """Cache of `_current_name`."""

    def forget_paths(self) -> None:
        """Clear the cached page paths; to be called when bug pages change."""
        self._paths.clear()
        self._with_task_id = None

    def forget_names(self, names: Iterable[str]) -> None:
        """Clear the caches that a change to a bug page with these cause names invalidates."""
        self._paths.clear()
        if self._with_task_id or any("/" in name for name in names):
            self._with_task_id = None

    def join(self, archive: Archive) -> None:
        """Read from the records which causes are the same, and which share a fingerprint but differ."""
        joined, further = archive.joined(), archive.further()
        if joined != self._joined or further or self._different:
            self._joined, self._different = joined, further
            self._paths.clear()
        self._named_now = archive.present
        self._current_names.clear()
        self._with_task_id = None

    def _all_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return all names that pages may use for these causes.

        These are the given names, and names with a task id (`…/…`) that refer to the same causes.
        """
        asked = tuple(dict.fromkeys(names))
        if self._with_task_id is None:
            self._with_task_id = tuple(name for (name,) in self._cache.db.execute(_OF_RUNS))
        if not self._with_task_id:
            return asked
        wanted = {self._current_name(name) for name in asked}
        return (
            *asked,
            *(name for name in self._with_task_id if name not in asked and self._current_name(name) in wanted),
        )

    def _current_name(self, name: str) -> str:
        """Return the current name of a cause, given its current or a former name."""
        if "/" not in name and not self._different:
            return name
        if name not in self._current_names:
            self._current_names[name] = next(iter(self._named_now((name,))), name)
        return self._current_names[name]

    def pages_of(self, *fingerprints: str) -> list[PageSummary]:
        """Return all pages of the cause that has, or once had, one of the fingerprints; the page to keep comes first.

        This includes pages that people marked as replaced, and the pages that replace them.
        """
        found: dict[str, PageSummary] = {}
        more = self._kin(fingerprints, (), ())
        while more:
            found |= {page.path: page for page in more}
            more = self._kin(
                [name for page in found.values() for name in page.fingerprints()],
                [page.name for page in found.values()],
                [f"bugs/{page.leads_to}.md" for page in found.values() if page.leads_to],
                beside=found,
            )
        return sorted(found.values(), key=self._seniority)

    def _seniority(self, page: PageSummary) -> tuple[bool, bool, str, str]:
        """Return a sort key that puts the page to keep first."""
        day = bug_date(page.name) or page.text("first_seen").replace("-", "")
        return page.leads_to != "", self.is_joined(page), day, page.name

    def is_joined(self, page: PageSummary) -> bool:
        """Return whether a page's cause turned out to be the same as an earlier cause."""
        return page.cause in self._joined or ("/" in page.cause and self._current_name(page.cause) != page.cause)

    def _kin(
        self, fingerprints: Sequence[str], names: Sequence[str], paths: Sequence[str], *, beside: Iterable[str] = ()
    ) -> list[PageSummary]:
        """Return pages that have one of the fingerprints, point to one of the page names, or are at one of the paths.

        A page at one of `paths` is returned only if it has a cause. Pages in `beside` are skipped.
        """
        asked = self._all_names(fingerprints)
        if not names and not paths and len(asked) == 1:
            of_one = "WHERE path IN (SELECT path FROM causes WHERE fingerprint = ?)"
            return list(self._cache.select(of_one, *asked))
        where = (
            "WHERE path IN (SELECT path FROM causes WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " UNION SELECT path FROM pages WHERE leads_to IN (SELECT value FROM json_each(?))"
            " UNION SELECT path FROM causes WHERE path IN (SELECT value FROM json_each(?)))"
            " AND path NOT IN (SELECT value FROM json_each(?))"
        )
        return list(self._cache.select(where, *map(json.dumps, (asked, names, paths, list(beside)))))

    def superseded(self) -> list[PageSummary]:
        """Return the bug pages that people marked as replaced by another page, sorted by name."""
        return list(self._cache.select("WHERE leads_to > '' ORDER BY path"))

    def still_open(self, fingerprints: Sequence[str]) -> list[str]:
        """Return which of the given causes have an open page, sorted.

        Stale pages do not count, unless they are stale because they cite missing code.
        """
        query = (
            "SELECT DISTINCT fingerprint FROM causes JOIN pages USING (path)"
            " WHERE is_open AND fingerprint IN (SELECT value FROM json_each(?)) ORDER BY fingerprint"
        )
        found = {row[0] for row in self._cache.db.execute(query, (json.dumps(self._all_names(fingerprints)),))}
        return sorted({self._current_name(name) if "/" in name else name for name in found})

    def with_aliases(self) -> list[PageSummary]:
        """Return the readable pages with more than one fingerprint."""
        return list(self._cache.select("WHERE names > 1 AND problem = '' ORDER BY path"))

    def merged_into(self, page: PageSummary) -> set[str]:
        """Return the fingerprints of all pages that were merged into a page, directly or through other pages."""
        found: dict[str, PageSummary] = {}
        names = [page.name]
        while names:
            where = "WHERE leads_to IN (SELECT value FROM json_each(?))"
            more = [other for other in self._cache.select(where, json.dumps(names)) if other.path not in found]
            found |= {other.path: other for other in more}
            names = [other.name for other in more]
        return {name for other in found.values() for name in other.fingerprints()}

    def owns(self, fingerprint: str) -> bool:
        """Return whether a page has this fingerprint as its main fingerprint, not only as an alias."""
        where = "WHERE path IN (SELECT path FROM causes WHERE fingerprint = ?)"
        return any(page.cause == fingerprint for page in self._cache.select(where, fingerprint))

    def paths(self, causes: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
        """Return, for each cause, the path of the page to keep; None if the cause has no page.

        Args:
            causes: Maps a name of each cause to its current and former fingerprints. Paths are cached by name, so use
                the same name for a cause in every call.
        """
        unknown = {name: prints for name, prints in causes.items() if name not in self._paths}
        if unknown:
            self._paths |= self._paths_of(unknown)
        return {name: self._paths[name] for name in causes}

    def _paths_of(self, causes: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
        causes = {name: self._all_names(fingerprints) for name, fingerprints in causes.items()}
        rows = self._cache.db.execute(
            "SELECT DISTINCT c.fingerprint, p.path, p.leads_to FROM json_each(?) n"
            " JOIN causes c ON c.fingerprint = n.value JOIN pages p ON p.path = c.path",
            (json.dumps([each for fingerprints in causes.values() for each in fingerprints]),),
        ).fetchall()
        pages_of: dict[str, set[tuple[str, str]]] = {}
        for fingerprint, *page in rows:
            pages_of.setdefault(fingerprint, set()).add(tuple(page))
        paths: dict[str, str | None] = {}
        for name, fingerprints in causes.items():
            found = {page for each in fingerprints for page in pages_of.get(each, ())}
            plain = len(found) == 1 and not any(leads_to for _, leads_to in found)
            kept = [path for path, _ in found] if plain else [page.path for page in self.pages_of(*fingerprints)]
            paths[name] = kept[0] if found else None
        return paths

    def formerly_named(self, name: str) -> list[PageSummary]:
        """Return the bug pages that list this page name as an alias, sorted by name."""
        where = (
            "WHERE category = 'bugs' AND EXISTS (SELECT 1 FROM json_each(metadata, '$.aliases') WHERE value = ?)"
            " ORDER BY path"
        )
        return list(self._cache.select(where, name))

    def shared(self) -> list[str]:
        """Return the causes that may have more than one page, sorted.

        These are the fingerprints on several pages, and the current names of causes that a page calls by a former name.
        """
        query = "SELECT fingerprint FROM causes GROUP BY fingerprint HAVING COUNT(*) > 1 ORDER BY fingerprint"
        shared = {row[0] for row in self._cache.db.execute(query)}
        rows = self._cache.db.execute(_OF_RUNS)
        return sorted(shared.union(now for (name,) in rows.fetchall() if (now := self._current_name(name)) != name))
