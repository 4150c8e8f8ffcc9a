"""Update the tables from the files of records and verdicts."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pytest_dvwiki import reading
from pytest_dvwiki.records import identity, same_check, store, tables, verdicts
from pytest_dvwiki.records.cache import transaction
from pytest_dvwiki.records.disk import is_settled
from pytest_dvwiki.records.name_parts import check_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.records.archive import Archive

_PROGRESS_EVERY = 100
_NAMING_CAUSES = ("occurrences", "passed_again", "fix_rows", "waived", "first_bad")
"""Tables with a cause in each row."""


def _checks(record: RunRecord) -> set[str]:
    """Return the fingerprints of the checks that a record mentions."""
    return {
        *(check_of(item.fingerprint) for item in record.occurrences),
        *map(check_of, tables.names_of(record)),
    }


class _File(NamedTuple):
    """A file as listed in the tables."""

    identity: int
    size: int
    mtime_ns: int
    digest: bytes
    problem: str


class Refresh:
    """One pass over the folders of records.

    This class is long because folders, records and verdicts are steps of one transaction.
    """

    def __init__(self, archive: Archive, *, verify: bool, progress: Callable[[int], None] | None) -> None:
        self._archive = archive
        self._tasks = archive.tasks
        self._db = archive.db
        self._verify = verify
        self._progress = progress
        self._read = 0
        self._removed = False
        self._newest: str | None = None
        """Sort key of the newest run before others were added."""
        self._new: list[str] = []
        """The ids of the added runs."""
        self._added: list[RunRecord] = []
        """The added runs; empty if no run was on record before, because then all causes are judged."""

    def run(self) -> set[str]:
        """Update the tables; return the causes whose fixes are now judged differently."""
        present = store.folder_times(self._tasks)
        state = verdicts.state(self._tasks)
        kept = self._db.execute("SELECT state, reclassified FROM verdicts").fetchone() or ("", "[]")
        has_news = state != kept[0]
        judged_anew = has_news and self._verdicts.reclassified != kept[1]
        known = {path: (mtime, settled) for path, mtime, settled in self._db.execute("SELECT * FROM folders")}
        is_all = judged_anew or self._verify
        pending = [place for place, mtime in present.items() if is_all or known.get(place) != (mtime, True)]
        gone = known.keys() - present.keys()
        if not (pending or gone or has_news):
            return set()
        with transaction(self._db):
            self._newest = self._archive.newest()
            self._archive.forget()
            if judged_anew:
                # The labels of every record may have changed.
                tables.clear(self._db)
                self._removed = True
            if has_news:
                _keep_verdicts(self._db, self._verdicts, state)
            for path in sorted(gone):
                self._forget_folder(path)
            for place in pending:
                self._read_folder(place)
            anew = has_news or self._removed
            anew = anew or identity.are_new(self._db, self._new)
            if anew:
                self._rename()
            moved = self._reassign(None if anew or self._removed else self._newest)
            return moved | self._judge(moved)

    def _rename(self) -> None:
        """Rename merged causes, and causes with a version 1 fingerprint, to their current names."""
        names, splits = identity.names(self._db, self._verdicts)
        before = self._names
        if names != before:
            moved = {name for name in names.keys() | before.keys() if names.get(name) != before.get(name)}
            self._names = names
            self._db.execute("DELETE FROM names")
            learned_ones = {name for group in self._verdicts.groups for name in group}
            rows = [(name, became, name in learned_ones) for name, became in names.items()]
            self._db.executemany("INSERT INTO names VALUES (?, ?, ?)", rows)
            self._read_again({before.get(name, name) for name in moved})
        self._db.execute("DELETE FROM splits")
        self._db.executemany("INSERT INTO splits VALUES (?, ?)", splits)
        chained = self._verdicts.aliases
        aliases = names | {name: names.get(became, became) for name, became in chained.items()}
        self._db.execute("DELETE FROM aliases")
        self._db.executemany("INSERT INTO aliases VALUES (?, ?)", aliases.items())
        self._archive.forget()

    def _read_again(self, fingerprints: set[str]) -> None:
        """Reread the records that mention renamed causes."""
        further = (name for name in self._archive.further() if check_of(name) in fingerprints)
        asked = tables.json_list({*fingerprints, *further})
        naming = " UNION ".join(
            f"SELECT run FROM {table} WHERE fingerprint IN (SELECT value FROM json_each(?))"  # noqa: S608 (constants)
            for table in _NAMING_CAUSES
        )
        runs = [run for (run,) in self._db.execute(naming, (asked,) * len(_NAMING_CAUSES))]
        files = self._db.execute(
            "SELECT DISTINCT f.folder, f.name FROM files f JOIN places p ON p.file = f.id"
            " WHERE p.run IN (SELECT value FROM json_each(?)) ORDER BY f.folder, f.name",
            (json.dumps(runs),),
        ).fetchall()
        for place, name in files:
            self._read_file(self._tasks / place / name, place, _file(self._db, place, name), again=True)

    def _reassign(self, newest: str | None) -> set[str]:
        """Assign occurrences to causes again, for checks that may report several causes.

        Args:
            newest: Sort key of the newest run before others were added; None to assign the occurrences of all runs.

        Returns:
            All causes of the checks with a changed assignment.
        """
        moved: set[str] = set()
        first = min(map(tables.moment_of, self._added), default="")
        # A run added between others may prove a fix of any cause.
        is_late = newest is None or first <= newest
        for (check,) in self._db.execute("SELECT fingerprint FROM several ORDER BY fingerprint").fetchall():
            if not (is_late or any(check in _checks(record) for record in self._added)):
                continue
            since = "" if newest is None else first
            before = self._archive.family(check)
            placed = same_check.place(self._db, self._archive.passes, check, since)
            self._archive.forget()
            if placed:
                after = {check, *before, *placed, *self._archive.family(check)}
                tables.recount(self._db, sorted(after))
                for name in sorted(after):
                    self._keep_details(name)
                moved |= after
        return moved

    def _keep_details(self, name: str) -> None:
        found = self._archive.newest_occurrence((name,))
        moment = self._db.execute("SELECT newest FROM causes WHERE fingerprint = ?", (name,)).fetchone()
        if found is not None and moment is not None:
            tables.keep_details(self._db, found, moment[0])

    @cached_property
    def _names(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT fingerprint, became FROM names"))

    @cached_property
    def _verdicts(self) -> verdicts.Verdicts:
        return verdicts.read(self._tasks)

    def _judge(self, moved: set[str]) -> set[str]:
        if not (self._new or self._removed):
            return set()
        if self._removed or self._newest is None:
            return self._archive.judge.update(None)
        seen: set[str] = set()
        causes = set(moved)
        for record in self._added:
            for check in _checks(record):
                causes.update(self._archive.family(check))
            seen.update(check_of(item.fingerprint) for item in record.occurrences)
            causes.update(check_of(item.fingerprint) for item in record.passed_again)
            causes.update(check_of(row.fingerprint) for row in record.fixes if row.fingerprint)
        first = min(map(tables.moment_of, self._added))
        judge = self._archive.judge
        ran = judge.passes.ran(self._added)
        if first > self._newest:
            return judge.update(causes, ran, seen)
        # A run added between others can change fixes that were judged by later runs.
        causes |= seen | judge.judged_by(first)
        return judge.update(causes, ran, seen, first)

    def _forget_folder(self, place: str) -> None:
        for (file,) in self._db.execute("SELECT id FROM files WHERE folder = ?", (place,)).fetchall():
            self._forget(file)
        self._db.execute("DELETE FROM folders WHERE path = ?", (place,))

    def _forget(self, file: int) -> None:
        tables.remove_file(self._db, file)
        self._removed = True

    def _read_folder(self, place: str) -> None:
        folder = self._tasks / place
        mtime_ns = folder.stat().st_mtime_ns
        settled = is_settled(mtime_ns)
        names = store.record_files(folder)
        known = {name for (name,) in self._db.execute("SELECT name FROM files WHERE folder = ?", (place,))}
        for name in known - names:
            self._forget(_file(self._db, place, name).identity)
        # A record never changes, but a monthly file or an unreadable file may.
        holds_months = "/" not in place
        may_differ = known if self._verify or holds_months else _with_problem(self._db, place)
        for name in sorted(names - known | names & may_differ):
            self._read_file(folder / name, place, _file(self._db, place, name) if name in known else None)
        # A monthly or unreadable file can change without a change to its folder's modification time.
        settled = settled and not (holds_months and names) and not _with_problem(self._db, place)
        self._db.execute("INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", (place, mtime_ns, settled))

    def _read_file(self, path: Path, place: str, old: _File | None, *, again: bool = False) -> None:
        name = f"{place}/{path.name}"
        try:
            status = path.stat() if path.exists() else path.lstat()
            if old and not (again or self._verify) and (status.st_size, status.st_mtime_ns) == old[1:3]:
                return
            data = reading.read_records(path)
        except FileNotFoundError:
            # The file was removed since the folder was listed; this changed the folder, so it will be read again.
            return
        except OSError as error:
            self._keep(path, place, _File(0, 0, 0, b"", f"{name}: {reading.reason(error)}"), old)
            return
        self._read += 1
        if self._progress and self._read % _PROGRESS_EVERY == 0:
            self._progress(self._read)
        digest = hashlib.blake2b(data, digest_size=16).digest()
        if old and not again and digest == old.digest:
            self._db.execute(
                "UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?",
                (status.st_size, status.st_mtime_ns, old.identity),
            )
            return
        records, problems = store.read_records(path, data, name)
        file = _File(0, status.st_size, status.st_mtime_ns, digest, "\n".join(problems))
        identity = self._keep(path, place, file, old)
        for record in map(self._verdicts.applied, records):
            named = verdicts.renamed(record, self._called) if self._names else record
            if tables.insert(self._db, named, identity, record):
                self._new.append(named.task_id)
                if self._newest is not None:
                    self._added.append(named)

    def _called(self, fingerprint: str) -> str:
        return self._names.get(fingerprint, fingerprint)

    def _keep(self, path: Path, place: str, file: _File, old: _File | None) -> int:
        if old:
            self._forget(old.identity)
        cursor = self._db.execute(
            "INSERT INTO files (folder, name, size, mtime_ns, digest, problem) VALUES (?, ?, ?, ?, ?, ?)",
            (place, path.name, *file[1:]),
        )
        return int(cursor.lastrowid or 0)


def _keep_verdicts(db: sqlite3.Connection, known: verdicts.Verdicts, state: str) -> None:
    db.execute("DELETE FROM verdicts")
    db.execute("INSERT INTO verdicts VALUES (?, ?)", (state, known.reclassified))
    db.execute("DELETE FROM files WHERE folder = ?", (verdicts.FOLDER,))
    db.executemany(
        "INSERT INTO files (folder, name, size, mtime_ns, digest, problem) VALUES (?, ?, 0, 0, '', ?)",
        [(verdicts.FOLDER, name, problem) for name, problem in known.problems],
    )


def _with_problem(db: sqlite3.Connection, place: str) -> set[str]:
    query = "SELECT name FROM files WHERE folder = ? AND problem != ''"
    return {name for (name,) in db.execute(query, (place,))}


def _file(db: sqlite3.Connection, place: str, name: str) -> _File:
    query = "SELECT id, size, mtime_ns, digest, problem FROM files WHERE folder = ? AND name = ?"
    return _File(*db.execute(query, (place, name)).fetchone())
