"""What the pages say of themselves, kept in a disposable cache by size and time of change."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from typing import TYPE_CHECKING, Any, Self

import msgspec

from pytest_dvwiki.records.cache import open_cache, transaction
from pytest_dvwiki.wiki import pages
from pytest_dvwiki.wiki.bug import drifted
from pytest_dvwiki.wiki.index import cells
from pytest_dvwiki.wiki.listed import CATEGORIES, Listed
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

VERSION = 3
_PROGRESS_EVERY = 100
_SCHEMA = """
CREATE TABLE pages (
  path TEXT PRIMARY KEY, category TEXT, size INTEGER, mtime_ns INTEGER, title TEXT, metadata TEXT, problem TEXT,
  cells TEXT, leads_to TEXT, is_open INTEGER) WITHOUT ROWID;
CREATE INDEX pages_by_category ON pages (category, path, cells);
CREATE INDEX pages_by_target ON pages (leads_to, path);
CREATE TABLE causes (fingerprint TEXT, path TEXT, PRIMARY KEY (fingerprint, path)) WITHOUT ROWID;
CREATE INDEX causes_by_page ON causes (path)
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the cache."""
        self._db.close()

    def refresh(self, progress: Callable[[int], None] | None = None) -> None:
        """Takes in every page that was added, changed or removed.

        Args:
            progress: Called with the number of pages read so far, now and then.
        """
        try:
            self._refresh(progress)
        except sqlite3.DatabaseError:
            self._db.close()
            self._db = open_cache(None, _SCHEMA, VERSION)
            self._refresh(progress)

    def _refresh(self, progress: Callable[[int], None] | None) -> None:
        known = {
            path: (size, mtime) for path, size, mtime in self._db.execute("SELECT path, size, mtime_ns FROM pages")
        }
        present = dict(self._present())
        changed = [path for path, state in present.items() if known.get(path) != state]
        gone = known.keys() - present.keys()
        if not changed and not gone:
            return
        with self.batch():
            for path in gone:
                self._remove(path)
            for number, path in enumerate(changed, 1):
                self._take(path, present[path])
                if progress and number % _PROGRESS_EVERY == 0:
                    progress(number)

    def _present(self) -> Iterator[tuple[str, tuple[int, int]]]:
        for category in CATEGORIES:
            try:
                with os.scandir(self.wiki / category) as entries:
                    for entry in entries:
                        if is_page(entry.name):
                            status = entry.stat()
                            yield f"{category}/{entry.name}", (status.st_size, status.st_mtime_ns)
            except OSError:
                # No such folder, or one that cannot be read: no pages.
                continue

    def _remove(self, path: str) -> None:
        self._db.execute("DELETE FROM pages WHERE path = ?", (path,))
        self._db.execute("DELETE FROM causes WHERE path = ?", (path,))

    def _take(self, path: str, state: tuple[int, int]) -> None:
        try:
            data = (self.wiki / path).read_bytes()
        except OSError:
            self._remove(path)
            return
        self.put(path, data, state)

    def batch(self) -> AbstractContextManager[None]:
        """Takes in many pages by one transaction."""
        return transaction(self._db)

    def put(self, path: str, data: bytes, state: tuple[int, int] = (-1, -1)) -> None:
        """Takes in a page's bytes.

        Args:
            path: Relative to the wiki.
            data: Its content.
            state: Its size and time of change in ns, where it stands on the disk.
        """
        category = path.split("/", 1)[0]
        try:
            page = pages.read(data)
            listed = Listed(path, category, title_of(page.body), page.metadata, "")
        except YamlError as error:
            listed = Listed(path, category, "", _salvaged(data), str(error).removeprefix("page:"))
        self._remove(path)
        self._db.execute(
            "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                path,
                category,
                *state,
                listed.title,
                json.dumps(listed.metadata, default=str),
                listed.problem,
                cells(listed),
                listed.leads_to if category == "bugs" else "",
                listed.text("status") == "open"
                and (listed.metadata.get("stale") is not True or drifted(listed) is not None),
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
        return sorted(found.values(), key=seniority)

    def _kin(self, fingerprints: Sequence[str], names: Sequence[str], paths: Sequence[str]) -> list[Listed]:
        """Pages of the fingerprints, pages that lead to one of the names, and those at the paths that have a cause."""
        where = (
            "WHERE path IN (SELECT path FROM causes WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " UNION SELECT path FROM pages WHERE leads_to IN (SELECT value FROM json_each(?))"
            " UNION SELECT path FROM causes WHERE path IN (SELECT value FROM json_each(?)))"
        )
        return list(self._listed(where, *map(json.dumps, (fingerprints, names, paths))))

    def superseded(self) -> list[Listed]:
        """Bug pages that people say another one has replaced, by name."""
        return list(self._listed("WHERE leads_to > '' ORDER BY path"))

    def still_open(self, fingerprints: Sequence[str]) -> list[str]:
        """Of fingerprints those whose page is open and not stale, in order."""
        query = (
            "SELECT DISTINCT fingerprint FROM causes JOIN pages USING (path)"
            " WHERE is_open AND fingerprint IN (SELECT value FROM json_each(?)) ORDER BY fingerprint"
        )
        return [row[0] for row in self._db.execute(query, (json.dumps(fingerprints),))]

    def of_many_names(self) -> list[Listed]:
        """Pages that have more fingerprints than their own."""
        where = (
            "WHERE path IN (SELECT path FROM causes GROUP BY path HAVING COUNT(*) > 1) AND problem = '' ORDER BY path"
        )
        return list(self._listed(where))

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
        return any(page.text("fingerprint") == fingerprint for page in self._listed(where, fingerprint))

    def path_of_cause(self, *fingerprints: str) -> str | None:
        """The page to keep of those that have one of the fingerprints or had it once, None where there is none."""
        rows = self._db.execute(
            "SELECT DISTINCT path, leads_to FROM causes JOIN pages USING (path)"
            " WHERE fingerprint IN (SELECT value FROM json_each(?))",
            (json.dumps(fingerprints),),
        ).fetchall()
        if not rows:
            return None
        (path, leads_to), *others = rows
        return self.of_cause(*fingerprints)[0].path if others or leads_to else str(path)

    def once_called(self, name: str) -> list[Listed]:
        """Bug pages that keep the cause of a page of that name, which may be gone, by name."""
        where = (
            "WHERE category = 'bugs' AND EXISTS (SELECT 1 FROM json_each(metadata, '$.aliases') WHERE value = ?)"
            " ORDER BY path"
        )
        return list(self._listed(where, name))

    def all(self, category: str) -> Iterator[Listed]:
        """The pages of a category by name."""
        return self._listed("WHERE category = ? ORDER BY path", category)

    def rows(self, category: str) -> list[tuple[str, str]]:
        """The name of each page of a category, with its cells of the tables."""
        query = "SELECT path, cells FROM pages WHERE category = ? ORDER BY path"
        found = self._db.execute(query, (category,))
        return [(path[len(category) + 1 : -len(".md")], cells) for path, cells in found]

    def shared_causes(self) -> list[str]:
        """Fingerprints that more than one page has."""
        query = "SELECT fingerprint FROM causes GROUP BY fingerprint HAVING COUNT(*) > 1 ORDER BY fingerprint"
        return [row[0] for row in self._db.execute(query)]

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
    from pytest_dvwiki.wiki.names import bug_date  # noqa: PLC0415

    return page.leads_to != "", bug_date(page.name) or page.text("first_seen").replace("-", ""), page.name


def _salvaged(data: bytes) -> dict[str, Any]:
    """The identity of a page whose frontmatter cannot be read: its cause must not get a second page for that."""
    found = re.search(rb"^fingerprint:[ \t]*['\"]?([0-9a-zA-Z]+)", data, re.MULTILINE)
    return {"fingerprint": found[1].decode()} if found else {}


def title_of(body: str) -> str:
    """The first heading of a page's text, empty where it has none."""
    return next((line[2:].strip() for line in body.split("\n") if line.startswith("# ")), "")
