"""The frontmatter of all pages, in a disposable cache whose entries are valid for a file size and modification time.

It also knows which rows of the index files differ from the pages, so that only those rows have to be renewed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
from typing import TYPE_CHECKING, Any, Self

import msgspec

from pytest_dvwiki import reading
from pytest_dvwiki.records.cache import open_cache, transaction
from pytest_dvwiki.records.disk import is_settled
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.index import cells, commit_of
from pytest_dvwiki.wiki.kinds.bug import is_pointer
from pytest_dvwiki.wiki.kinds.marks import drifted
from pytest_dvwiki.wiki.listed import CATEGORIES, Listed, page_name
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

VERSION = 8
_PROGRESS_EVERY = 100
_SCHEMA = """
CREATE TABLE pages (
  path TEXT PRIMARY KEY, category TEXT, size INTEGER, mtime_ns INTEGER, title TEXT, metadata TEXT, problem TEXT,
  cells TEXT, leads_to TEXT, is_open INTEGER, names INTEGER,
  stands INTEGER, points INTEGER, came_with TEXT);
CREATE INDEX pages_by_category ON pages (category, path, cells);
CREATE INDEX pages_by_target ON pages (leads_to, path);
CREATE INDEX pages_of_many ON pages (path) WHERE names > 1;
CREATE INDEX pages_that_stand ON pages (category, path) WHERE stands;
CREATE INDEX pages_that_point ON pages (path) WHERE points;
CREATE INDEX pages_of_commits ON pages (path, came_with) WHERE came_with != '';
CREATE INDEX pages_with_problem ON pages (category, path) WHERE problem != '';
CREATE TABLE causes (fingerprint TEXT, path TEXT, PRIMARY KEY (fingerprint, path)) WITHOUT ROWID;
CREATE INDEX causes_by_page ON causes (path);
CREATE INDEX causes_of_runs ON causes (fingerprint) WHERE instr(fingerprint, '/');
CREATE TABLE folders (category TEXT PRIMARY KEY, mtime_ns INTEGER) WITHOUT ROWID;
CREATE TABLE unlisted (path TEXT PRIMARY KEY, cells TEXT) WITHOUT ROWID;
CREATE TABLE index_files (path TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER) WITHOUT ROWID
"""


class Catalogue:
    """The pages of one wiki.

    Args:
        wiki: Its folder; it need not exist.
        cache: File of the tables; None keeps them in memory.
    """

    def __init__(self, wiki: Path, cache: Path | None) -> None:
        self.wiki = wiki
        self._db = open_cache(cache, _SCHEMA, VERSION)
        self._paths: dict[str, str | None] = {}
        """Path of the bug page of each cause asked for so far; cleared when a bug page changes."""
        self._joined: frozenset[str] = frozenset()
        self._further: frozenset[str] = frozenset()
        self._named_now: Callable[[Sequence[str]], Sequence[str]] = tuple
        self._known: dict[str, str] = {}
        """Present names of causes, for those asked for so far."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def joins(
        self,
        fingerprints: frozenset[str],
        further: frozenset[str] = frozenset(),
        present: Callable[[Sequence[str]], Sequence[str]] = tuple,
    ) -> None:
        """Set which causes are one, and which are several although they share a fingerprint.

        Args:
            fingerprints: Causes that are one with a cause seen before them; the page of the earlier one is kept.
            further: Causes whose check had reported another one before.
            present: Returns the present names of causes.
        """
        if fingerprints != self._joined or further or self._further:
            self._joined, self._further = fingerprints, further
            self._paths.clear()
        self._named_now = present
        self._known.clear()

    def _all_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return all names under which pages may know these causes; one with a run in it may now mean another cause."""
        asked = tuple(dict.fromkeys(names))
        rows = self._db.execute("SELECT DISTINCT fingerprint FROM causes WHERE instr(fingerprint, '/')").fetchall()
        if not rows:
            return asked
        wanted = {self._present_name(name) for name in asked}
        return (*asked, *(name for (name,) in rows if name not in asked and self._present_name(name) in wanted))

    def _present_name(self, name: str) -> str:
        """Return the present name of a cause."""
        if "/" not in name and not self._further:
            return name
        if name not in self._known:
            self._known[name] = next(iter(self._named_now((name,))), name)
        return self._known[name]

    def close(self) -> None:
        """Close the cache."""
        self._db.close()

    def refresh(self, progress: Callable[[int], None] | None = None, *, quick: bool = False) -> None:
        """Read every page that was added or changed, and drop the removed ones.

        Args:
            progress: Called from time to time with the number of pages read so far.
            quick: Skip folders to which no file was added, and from which none was removed, since they were last read.
                A page that was changed in place is then only seen by `look_at`.
        """
        try:
            self._refresh(progress, quick=quick)
        except sqlite3.DatabaseError:
            self._db.close()
            self._db = open_cache(None, _SCHEMA, VERSION)
            self._refresh(progress, quick=False)

    def _refresh(self, progress: Callable[[int], None] | None, *, quick: bool) -> None:
        remembered = dict(self._db.execute("SELECT category, mtime_ns FROM folders"))
        times = {category: self._time_of(category) for category in CATEGORIES}
        pending = [
            each for each in CATEGORIES if not quick or times[each] is None or remembered.get(each) != times[each]
        ]
        known = {
            path: (size, mtime)
            for path, size, mtime in self._db.execute(
                "SELECT path, size, mtime_ns FROM pages WHERE category IN (SELECT value FROM json_each(?))",
                (json.dumps(pending),),
            )
        }
        present = {path: state for category in pending for path, state in self._present(category)}
        changed = [path for path, state in present.items() if known.get(path) != state]
        gone = known.keys() - present.keys()
        settled = {each: time for each, time in times.items() if time is not None and is_settled(time)}
        read = {each: settled[each] for each in pending if each in settled and settled[each] != remembered.get(each)}
        if not (changed or gone or read):
            return
        with self.batch():
            for path in gone:
                self._remove(path)
            for number, path in enumerate(changed, 1):
                self._take(path, present[path])
                if progress and number % _PROGRESS_EVERY == 0:
                    progress(number)
            self._db.executemany("INSERT OR REPLACE INTO folders VALUES (?, ?)", read.items())

    def _time_of(self, category: str) -> int | None:
        """Return the modification time of a folder in ns; None if it does not exist."""
        try:
            return (self.wiki / category).stat().st_mtime_ns
        except OSError:
            return None

    def _present(self, category: str) -> Iterator[tuple[str, tuple[int, int]]]:
        try:
            with os.scandir(self.wiki / category) as entries:
                for entry in entries:
                    # A broken link is no page, and must not stop the scan.
                    with contextlib.suppress(OSError):
                        if is_page(entry.name) and not entry.is_dir():
                            status = entry.stat()
                            yield f"{category}/{entry.name}", (status.st_size, status.st_mtime_ns)
        except OSError:
            # A missing or unreadable folder has no pages.
            return

    def look_at(self, paths: Iterable[str]) -> bool:
        """Read those of some pages that were changed in place; return whether there were any."""
        changed = False
        for path in paths:
            row = self._db.execute("SELECT size, mtime_ns FROM pages WHERE path = ?", (path,)).fetchone()
            state = self._state(path)
            if row != state:
                self._take(path, state)
                changed = True
        return changed

    @contextlib.contextmanager
    def writing(self, path: str) -> Iterator[None]:
        """Update the remembered time of a folder when the tool itself writes there, so that it is not read again.

        A change by somebody else before the write stays visible.
        """
        category = path.split("/", 1)[0]
        before = self._time_of(category) if category in CATEGORIES else None
        yield
        if before is not None:
            query = "UPDATE folders SET mtime_ns = ? WHERE category = ? AND mtime_ns = ?"
            self._db.execute(query, (self._time_of(category), category, before))

    def _remove(self, path: str) -> None:
        self._paths.clear()
        self._unlist(path, None)
        self._db.execute("DELETE FROM pages WHERE path = ?", (path,))
        self._db.execute("DELETE FROM causes WHERE path = ?", (path,))

    def _unlist(self, path: str, now: str | None) -> None:
        """Remember which cells the index files have for a page, if its present cells differ."""
        row = self._db.execute("SELECT cells FROM pages WHERE path = ?", (path,)).fetchone()
        before = row[0] if row else None
        if before != now:
            self._db.execute("INSERT OR IGNORE INTO unlisted VALUES (?, ?)", (path, before))

    def _take(self, path: str, state: tuple[int, int]) -> None:
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
        return transaction(self._db)

    def put(self, path: str, data: bytes, state: tuple[int, int] = (-1, -1), problem: str = "") -> None:
        """Store a page from its bytes.

        Args:
            path: Relative to the wiki.
            data: Its content.
            state: Its size and modification time in ns, if it is on disk.
            problem: Why only the identity of the page counts, if the reason is not its content.
        """
        category = path.split("/", 1)[0]
        if category == "bugs":
            self._paths.clear()
        try:
            page = pages.read(data)
        except YamlError as error:
            problem = problem or str(error).removeprefix("page:")
        if problem:
            listed = Listed(path, category, "", _recover_identity(data), problem)
        else:
            listed = Listed(path, category, title_of(page.body), page.metadata, "")
        row = cells(listed)
        is_current = listed.metadata.get("stale") is not True or drifted(listed) is not None
        self._unlist(path, row)
        self._db.execute("DELETE FROM causes WHERE path = ?", (path,))
        self._db.execute(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                path,
                category,
                *state,
                listed.title,
                json.dumps(listed.metadata, default=str),
                listed.problem,
                row,
                listed.leads_to if category == "bugs" else "",
                listed.text("status") == "open" and is_current,
                len(listed.fingerprints()),
                is_current and not listed.problem,
                is_pointer(listed),
                commit_of(listed),
            ),
        )
        self._db.executemany("INSERT INTO causes VALUES (?, ?)", [(item, path) for item in listed.fingerprints()])

    def get(self, path: str) -> Listed | None:
        """Return the page at a path relative to the wiki; None if there is none."""
        return next(self._listed("WHERE path = ?", path), None)

    def of_cause(self, *fingerprints: str) -> list[Listed]:
        """Return the pages of the cause that has, or once had, one of the fingerprints; the page to keep comes first.

        Pages that replace each other belong to one cause.
        """
        found: dict[str, Listed] = {}
        more = self._kin(fingerprints, (), ())
        while more:
            found |= {page.path: page for page in more}
            kin = self._kin(
                [name for page in found.values() for name in page.fingerprints()],
                [page.name for page in found.values()],
                [f"bugs/{page.leads_to}.md" for page in found.values() if page.leads_to],
            )
            more = [page for page in kin if page.path not in found]
        return sorted(found.values(), key=self._seniority)

    def _seniority(self, page: Listed) -> tuple[bool, bool, str, str]:
        is_replaced, day, name = seniority(page)
        return is_replaced, self.is_joined(page), day, name

    def is_joined(self, page: Listed) -> bool:
        """Tell whether the cause of a page is one with a cause seen before it."""
        return page.cause in self._joined or ("/" in page.cause and self._present_name(page.cause) != page.cause)

    def _kin(self, fingerprints: Sequence[str], names: Sequence[str], paths: Sequence[str]) -> list[Listed]:
        """Return pages with one of the fingerprints, pages that lead to one of the names, and pages at the paths.

        The last ones count only if they have a cause.
        """
        where = (
            "WHERE path IN (SELECT path FROM causes WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " UNION SELECT path FROM pages WHERE leads_to IN (SELECT value FROM json_each(?))"
            " UNION SELECT path FROM causes WHERE path IN (SELECT value FROM json_each(?)))"
        )
        return list(self._listed(where, *map(json.dumps, (self._all_names(fingerprints), names, paths))))

    def superseded(self) -> list[Listed]:
        """Return the bug pages that people marked as replaced by another one, by name."""
        return list(self._listed("WHERE leads_to > '' ORDER BY path"))

    def still_open(self, fingerprints: Sequence[str]) -> list[str]:
        """Return those of the causes whose page is open and not stale, sorted."""
        query = (
            "SELECT DISTINCT fingerprint FROM causes JOIN pages USING (path)"
            " WHERE is_open AND fingerprint IN (SELECT value FROM json_each(?)) ORDER BY fingerprint"
        )
        found = {row[0] for row in self._db.execute(query, (json.dumps(self._all_names(fingerprints)),))}
        return sorted({self._present_name(name) if "/" in name else name for name in found})

    def with_aliases(self) -> list[Listed]:
        """Return the readable pages with more than one fingerprint."""
        return list(self._listed("WHERE names > 1 AND problem = '' ORDER BY path"))

    def merged_into(self, page: Listed) -> set[str]:
        """Return the fingerprints of the pages that lead to a page, directly or through others."""
        found: dict[str, Listed] = {}
        names = [page.name]
        while names:
            where = "WHERE leads_to IN (SELECT value FROM json_each(?))"
            more = [other for other in self._listed(where, json.dumps(names)) if other.path not in found]
            found |= {other.path: other for other in more}
            names = [other.name for other in more]
        return {name for other in found.values() for name in other.fingerprints()}

    def owns(self, fingerprint: str) -> bool:
        """Tell whether a fingerprint is the main one of a page, and not only an alias."""
        where = "WHERE path IN (SELECT path FROM causes WHERE fingerprint = ?)"
        return any(page.cause == fingerprint for page in self._listed(where, fingerprint))

    def paths_of_causes(self, causes: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
        """Return the path of the page to keep of each cause; None if it has none.

        Args:
            causes: The present and former fingerprints of each cause, by any name that stays the same between calls.
        """
        unknown = {name: prints for name, prints in causes.items() if name not in self._paths}
        if unknown:
            self._paths |= self._paths_of(unknown)
        return {name: self._paths[name] for name in causes}

    def _paths_of(self, causes: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
        causes = {name: self._all_names(fingerprints) for name, fingerprints in causes.items()}
        rows = self._db.execute(
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
            kept = [path for path, _ in found] if plain else [page.path for page in self.of_cause(*fingerprints)]
            paths[name] = kept[0] if found else None
        return paths

    def formerly_named(self, name: str) -> list[Listed]:
        """Return the bug pages that keep the cause of a page with that name, which may no longer exist; by name."""
        where = (
            "WHERE category = 'bugs' AND EXISTS (SELECT 1 FROM json_each(metadata, '$.aliases') WHERE value = ?)"
            " ORDER BY path"
        )
        return list(self._listed(where, name))

    def standing(self, categories: Sequence[str]) -> set[str]:
        """Return the paths of readable pages that are not stale; a page that only cites missing code counts."""
        query = "SELECT path FROM pages WHERE stands AND category IN (SELECT value FROM json_each(?))"
        return {path for (path,) in self._db.execute(query, (json.dumps(categories),))}

    def pointers(self) -> set[str]:
        """Return the paths of pages that only point to another one."""
        return {path for (path,) in self._db.execute("SELECT path FROM pages WHERE points")}

    def unreadable(self, categories: Sequence[str]) -> list[Listed]:
        """Return the pages whose frontmatter cannot be read."""
        where = "WHERE problem != '' AND category IN (SELECT value FROM json_each(?)) ORDER BY path"
        return list(self._listed(where, json.dumps(categories)))

    def all(self, category: str) -> Iterator[Listed]:
        """Return the pages of a category, by name."""
        return self._listed("WHERE category = ? ORDER BY path", category)

    def rows(self, category: str) -> list[tuple[str, str]]:
        """Return the name and index cells of each page of a category."""
        query = "SELECT path, cells FROM pages WHERE category = ? ORDER BY path"
        found = self._db.execute(query, (category,))
        return [(path[len(category) + 1 : -len(".md")], cells) for path, cells in found]

    def commits(self) -> list[tuple[str, str]]:
        """Return each page of an open bug with the commit that introduced it, by name, if it is certain."""
        query = "SELECT path, came_with FROM pages WHERE came_with != '' ORDER BY path"
        return [(page_name(path), commit) for path, commit in self._db.execute(query)]

    def unlisted(self) -> dict[str, tuple[str | None, str | None]]:
        """Return, by path, the old cells in the index files and the present ones, where they differ; None if absent."""
        rows = self._db.execute("SELECT u.path, u.cells, p.cells FROM unlisted u LEFT JOIN pages p ON p.path = u.path")
        return {path: (before, now) for path, before, now in rows}

    def are_indexes(self, files: Iterable[str]) -> bool:
        """Tell whether the index files are as last written, so that only `unlisted` pages need an update."""
        states = {path: (size, mtime) for path, size, mtime in self._db.execute("SELECT * FROM index_files")}
        return all(states.get(path, ()) == self._state(path) for path in files)

    def listed(self, files: Iterable[str]) -> None:
        """Remember that the index files match the pages."""
        with self.batch():
            self._db.execute("DELETE FROM unlisted")
            self._db.executemany(
                "INSERT OR REPLACE INTO index_files VALUES (?, ?, ?)", [(path, *self._state(path)) for path in files]
            )

    def _state(self, path: str) -> tuple[int, int]:
        try:
            status = (self.wiki / path).stat()
        except OSError:
            return -1, -1
        return status.st_size, status.st_mtime_ns

    def shared_causes(self) -> list[str]:
        """Return the fingerprints that more than one page has."""
        query = "SELECT fingerprint FROM causes GROUP BY fingerprint HAVING COUNT(*) > 1 ORDER BY fingerprint"
        shared = {row[0] for row in self._db.execute(query)}
        rows = self._db.execute("SELECT DISTINCT fingerprint FROM causes WHERE instr(fingerprint, '/')")
        return sorted(shared.union(now for (name,) in rows.fetchall() if (now := self._present_name(name)) != name))

    def _listed(self, where: str, *values: str) -> Iterator[Listed]:
        rows = self._db.execute(
            f"SELECT path, category, title, metadata, problem FROM pages {where}",  # noqa: S608 (constants)
            values,
        )
        for path, category, title, metadata, problem in rows:
            yield Listed(path, category, title, _metadata(metadata), problem)


def _metadata(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = msgspec.json.decode(text)
    except msgspec.DecodeError:
        # A person wrote `.nan`, which standard JSON does not have.
        found = json.loads(text)
    return found


def is_page(name: str) -> bool:
    """Tell whether a file in the folder of a category is a page, by its name."""
    return name.endswith(".md") and not name.startswith((".", "_index."))


def seniority(page: Listed) -> tuple[bool, str, str]:
    """Return the sort key for pages of one cause: not replaced before replaced, then first seen, then name."""
    from pytest_dvwiki.wiki.text.names import bug_date  # noqa: PLC0415

    return page.leads_to != "", bug_date(page.name) or page.text("first_seen").replace("-", ""), page.name


def _recover_identity(data: bytes) -> dict[str, Any]:
    """Return the fingerprint from unreadable frontmatter, so that the cause does not get a second page."""
    found = re.search(rb"^fingerprint:[ \t]*['\"]?([0-9a-zA-Z]+)", data, re.MULTILINE)
    return {"fingerprint": found[1].decode()} if found else {}


def title_of(body: str) -> str:
    """Return the first top-level heading of a page's text; empty if it has none."""
    return next((line[2:].strip() for line in body.split("\n") if line.startswith("# ")), "")
