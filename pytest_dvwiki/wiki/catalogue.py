"""What the pages say of themselves, kept in a disposable cache by size and time of change.

It also knows which rows of the index files are not as the pages are, so that these can be renewed by those rows alone.
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
        """Of the bug pages of causes that were asked for, as long as no page is taken in."""
        self._joined: frozenset[str] = frozenset()
        self._further: frozenset[str] = frozenset()
        self._named_now: Callable[[Sequence[str]], Sequence[str]] = tuple
        self._known: dict[str, str] = {}
        """What causes are called now that pages name by a run."""

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
        """Take in which causes are one, and which are not although they have one fingerprint.

        Args:
            fingerprints: Causes that are one with a cause that was seen before them: the page of that one is kept.
            further: Causes whose check had reported another one before.
            present: Gives what causes are called now.
        """
        if fingerprints != self._joined or further or self._further:
            self._joined, self._further = fingerprints, further
            self._paths.clear()
        self._named_now = present
        self._known.clear()

    def _called(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return all names by which pages know causes: a run that is in the name may have come to another cause."""
        asked = tuple(dict.fromkeys(names))
        rows = self._db.execute("SELECT DISTINCT fingerprint FROM causes WHERE instr(fingerprint, '/')").fetchall()
        if not rows:
            return asked
        wanted = {self._now(name) for name in asked}
        return (*asked, *(name for (name,) in rows if name not in asked and self._now(name) in wanted))

    def _now(self, name: str) -> str:
        """Return what a cause is called now."""
        if "/" not in name and not self._further:
            return name
        if name not in self._known:
            self._known[name] = next(iter(self._named_now((name,))), name)
        return self._known[name]

    def close(self) -> None:
        """Closes the cache."""
        self._db.close()

    def refresh(self, progress: Callable[[int], None] | None = None, *, quick: bool = False) -> None:
        """Takes in every page that was added, changed or removed.

        Args:
            progress: Called with the number of pages read so far, now and then.
            quick: Passes over folders into which nothing came, and out of which nothing went, since they were read. A
                page that somebody changed in its place is then seen by `look_at` alone.
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
        """When something came into a folder or went out of it, None where there is no folder."""
        try:
            return (self.wiki / category).stat().st_mtime_ns
        except OSError:
            return None

    def _present(self, category: str) -> Iterator[tuple[str, tuple[int, int]]]:
        try:
            with os.scandir(self.wiki / category) as entries:
                for entry in entries:
                    # A link that leads to nothing is no page, and hides no other one.
                    with contextlib.suppress(OSError):
                        if is_page(entry.name) and not entry.is_dir():
                            status = entry.stat()
                            yield f"{category}/{entry.name}", (status.st_size, status.st_mtime_ns)
        except OSError:
            # No such folder, or one that cannot be read: no pages.
            return

    def look_at(self, paths: Iterable[str]) -> bool:
        """Takes in those of some pages that somebody changed in their places, and tells whether any was."""
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
        """Tells a file of the tool's from one that somebody else puts into a folder, which would have to be read."""
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
        """Remembers the cells that the index files have of a page, where they are others now."""
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
        """Takes in many pages by one transaction."""
        return transaction(self._db)

    def put(self, path: str, data: bytes, state: tuple[int, int] = (-1, -1), problem: str = "") -> None:
        """Takes in a page's bytes.

        Args:
            path: Relative to the wiki.
            data: Its content.
            state: Its size and time of change in ns, where it stands on the disk.
            problem: Why nothing but whose page it is counts of it, where that is not for its content.
        """
        category = path.split("/", 1)[0]
        if category == "bugs":
            self._paths.clear()
        try:
            page = pages.read(data)
        except YamlError as error:
            problem = problem or str(error).removeprefix("page:")
        if problem:
            listed = Listed(path, category, "", _salvaged(data), problem)
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
        """The page at a path relative to the wiki."""
        return next(self._listed("WHERE path = ?", path), None)

    def of_cause(self, *fingerprints: str) -> list[Listed]:
        """Pages of the cause that has one of the fingerprints or had it once, the one to keep first.

        Pages of which one has replaced the other are of one cause.
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
        """Tell whether a page was made for a cause that is one with a cause that was seen before it."""
        return page.cause in self._joined or ("/" in page.cause and self._now(page.cause) != page.cause)

    def _kin(self, fingerprints: Sequence[str], names: Sequence[str], paths: Sequence[str]) -> list[Listed]:
        """Pages of the fingerprints, pages that lead to one of the names, and those at the paths that have a cause."""
        where = (
            "WHERE path IN (SELECT path FROM causes WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " UNION SELECT path FROM pages WHERE leads_to IN (SELECT value FROM json_each(?))"
            " UNION SELECT path FROM causes WHERE path IN (SELECT value FROM json_each(?)))"
        )
        return list(self._listed(where, *map(json.dumps, (self._called(fingerprints), names, paths))))

    def superseded(self) -> list[Listed]:
        """Bug pages that people say another one has replaced, by name."""
        return list(self._listed("WHERE leads_to > '' ORDER BY path"))

    def still_open(self, fingerprints: Sequence[str]) -> list[str]:
        """Of fingerprints those whose page is open and not stale, in order."""
        query = (
            "SELECT DISTINCT fingerprint FROM causes JOIN pages USING (path)"
            " WHERE is_open AND fingerprint IN (SELECT value FROM json_each(?)) ORDER BY fingerprint"
        )
        found = {row[0] for row in self._db.execute(query, (json.dumps(self._called(fingerprints)),))}
        return sorted({self._now(name) if "/" in name else name for name in found})

    def of_many_names(self) -> list[Listed]:
        """Pages that have more fingerprints than their own."""
        return list(self._listed("WHERE names > 1 AND problem = '' ORDER BY path"))

    def merged_into(self, page: Listed) -> set[str]:
        """Fingerprints of the pages that lead to a page, by whatever way."""
        found: dict[str, Listed] = {}
        names = [page.name]
        while names:
            where = "WHERE leads_to IN (SELECT value FROM json_each(?))"
            more = [other for other in self._listed(where, json.dumps(names)) if other.path not in found]
            found |= {other.path: other for other in more}
            names = [other.name for other in more]
        return {name for other in found.values() for name in other.fingerprints()}

    def owns(self, fingerprint: str) -> bool:
        """Whether a fingerprint is a page's own, not one that it has besides."""
        where = "WHERE path IN (SELECT path FROM causes WHERE fingerprint = ?)"
        return any(page.cause == fingerprint for page in self._listed(where, fingerprint))

    def paths_of_causes(self, causes: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
        """The page to keep of each cause, None where it has none.

        Args:
            causes: By any name, always the same, the fingerprints that a cause has or had once.
        """
        unknown = {name: prints for name, prints in causes.items() if name not in self._paths}
        if unknown:
            self._paths |= self._paths_of(unknown)
        return {name: self._paths[name] for name in causes}

    def _paths_of(self, causes: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
        causes = {name: self._called(fingerprints) for name, fingerprints in causes.items()}
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

    def once_called(self, name: str) -> list[Listed]:
        """Bug pages that keep the cause of a page of that name, which may be gone, by name."""
        where = (
            "WHERE category = 'bugs' AND EXISTS (SELECT 1 FROM json_each(metadata, '$.aliases') WHERE value = ?)"
            " ORDER BY path"
        )
        return list(self._listed(where, name))

    def standing(self, categories: Sequence[str]) -> set[str]:
        """The paths of pages that stand for something; one that cites what is gone still does."""
        query = "SELECT path FROM pages WHERE stands AND category IN (SELECT value FROM json_each(?))"
        return {path for (path,) in self._db.execute(query, (json.dumps(categories),))}

    def pointers(self) -> set[str]:
        """The paths of pages that only lead to another one."""
        return {path for (path,) in self._db.execute("SELECT path FROM pages WHERE points")}

    def unreadable(self, categories: Sequence[str]) -> list[Listed]:
        """Pages whose frontmatter cannot be read."""
        where = "WHERE problem != '' AND category IN (SELECT value FROM json_each(?)) ORDER BY path"
        return list(self._listed(where, json.dumps(categories)))

    def all(self, category: str) -> Iterator[Listed]:
        """The pages of a category by name."""
        return self._listed("WHERE category = ? ORDER BY path", category)

    def rows(self, category: str) -> list[tuple[str, str]]:
        """The name of each page of a category, with its cells of the tables."""
        query = "SELECT path, cells FROM pages WHERE category = ? ORDER BY path"
        found = self._db.execute(query, (category,))
        return [(path[len(category) + 1 : -len(".md")], cells) for path, cells in found]

    def commits(self) -> list[tuple[str, str]]:
        """The name of each page of an open bug with the commit with which it came, where that is certain, by name."""
        query = "SELECT path, came_with FROM pages WHERE came_with != '' ORDER BY path"
        return [(page_name(path), commit) for path, commit in self._db.execute(query)]

    def unlisted(self) -> dict[str, tuple[str | None, str | None]]:
        """By path the cells that the index files have of a page, and those that it has; None where it is not there."""
        rows = self._db.execute("SELECT u.path, u.cells, p.cells FROM unlisted u LEFT JOIN pages p ON p.path = u.path")
        return {path: (before, now) for path, before, now in rows}

    def are_indexes(self, files: Iterable[str]) -> bool:
        """Whether the index files are those that were written last, of all pages but those that are unlisted."""
        states = {path: (size, mtime) for path, size, mtime in self._db.execute("SELECT * FROM index_files")}
        return all(states.get(path, ()) == self._state(path) for path in files)

    def listed(self, files: Iterable[str]) -> None:
        """Remembers that index files are as the pages are."""
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
        """Fingerprints that more than one page has."""
        query = "SELECT fingerprint FROM causes GROUP BY fingerprint HAVING COUNT(*) > 1 ORDER BY fingerprint"
        shared = {row[0] for row in self._db.execute(query)}
        rows = self._db.execute("SELECT DISTINCT fingerprint FROM causes WHERE instr(fingerprint, '/')")
        return sorted(shared.union(now for (name,) in rows.fetchall() if (now := self._now(name)) != name))

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
        # Somebody's `.nan`, which JSON does not have.
        found = json.loads(text)
    return found


def is_page(name: str) -> bool:
    """Whether a file in a category's folder is a page."""
    return name.endswith(".md") and not name.startswith((".", "_index."))


def seniority(page: Listed) -> tuple[bool, str, str]:
    """Sort key of two pages of one cause: not replaced by another, first seen earlier, then by name."""
    from pytest_dvwiki.wiki.text.names import bug_date  # noqa: PLC0415

    return page.leads_to != "", bug_date(page.name) or page.text("first_seen").replace("-", ""), page.name


def _salvaged(data: bytes) -> dict[str, Any]:
    """The identity of a page whose frontmatter cannot be read: its cause must not get a second page for that."""
    found = re.search(rb"^fingerprint:[ \t]*['\"]?([0-9a-zA-Z]+)", data, re.MULTILINE)
    return {"fingerprint": found[1].decode()} if found else {}


def title_of(body: str) -> str:
    """The first heading of a page's text, empty where it has none."""
    return next((line[2:].strip() for line in body.split("\n") if line.startswith("# ")), "")
