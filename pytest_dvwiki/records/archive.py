"""All records as tables, so that a question costs what its answer costs.

The tables are filled from the record files and kept in a disposable cache. A folder whose time of change is as
remembered is not read again, so opening a warm archive costs one `stat` a month; `verify=True` compares every file's
content. What the numbers mean stands in `aggregate` and `fixes`.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec

from pytest_dvwiki.model import Occurrence, RunRecord
from pytest_dvwiki.records import store, tables, verdicts
from pytest_dvwiki.records.cache import discard, is_held, open_cache, transaction
from pytest_dvwiki.records.disk import is_settled
from pytest_dvwiki.records.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.records.fixes import FixState

_PROGRESS_EVERY = 100


class Archive:
    """The records of one `tasks` folder.

    Args:
        tasks: The folder; it need not exist.
        cache: File of the tables; None keeps them in memory.
    """

    def __init__(self, tasks: Path, cache: Path | None) -> None:
        self.tasks = tasks
        self._cache = cache
        self.db = open_cache(cache, tables.SCHEMA, tables.VERSION)
        self._judge = Judge(self.db, tasks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the cache."""
        self.db.close()

    def refresh(self, *, verify: bool = False, progress: Callable[[int], None] | None = None) -> set[str]:
        """Takes in what was added, changed or removed since the last time.

        Args:
            verify: Compares the content of every file with what the tables were made of.
            progress: Called with the number of files read so far, now and then.

        Returns:
            Causes whose fixes are judged otherwise than before.
        """
        try:
            return _Refresh(self, verify=verify, progress=progress).run()
        except sqlite3.DatabaseError:
            # A cache that broke in use, or is held by somebody for too long, is not worth more thought.
            self.db.close()
            if self._cache is not None and not is_held(self._cache):
                # Where it cannot be written, on a volume that is only read, it cannot be removed either.
                with contextlib.suppress(OSError):
                    discard(self._cache)
            self.db = open_cache(None, tables.SCHEMA, tables.VERSION)
            self._judge = Judge(self.db, self.tasks)
            return _Refresh(self, verify=False, progress=progress).run()
        finally:
            self.__dict__.pop("_has_aliases", None)

    def judge(
        self,
        fingerprints: set[str] | None,
        runs: Iterable[RunRecord] = (),
        seen: Iterable[str] = (),
        late: str | None = None,
    ) -> set[str]:
        """Judges the fixes of causes with news, None for all; gives those that are judged otherwise than before.

        Args:
            fingerprints: The causes.
            runs: Newer than all others: what ran in them may have passed.
            seen: Causes that occurred in runs newer than all others, of which nothing else is news.
            late: The moment of the first of the runs that bring the news, where others came after it.
        """
        return self._judge.update(fingerprints, self._judge.passes.ran(runs), seen, late)

    def judged_by(self, moment: str) -> set[str]:
        """The causes of which a run of a moment, though others came after it, may turn what is said of a fix."""
        return self._judge.judged_by(moment)

    def newest(self) -> str | None:
        """The moment of the newest run."""
        (moment,) = self.db.execute("SELECT MAX(moment) FROM runs").fetchone()
        return str(moment) if moment else None

    def last_updated(self) -> str | None:
        """The time at which the newest run finished."""
        moment = self.newest()
        return moment.split(" ", 1)[0] if moment else None

    def record(self, task_id: str) -> RunRecord | None:
        """The record of a run, None where there is none of that id."""
        row = self.db.execute("SELECT id FROM runs WHERE task_id = ?", (task_id,)).fetchone()
        return self._read_run(row[0], task_id) if row else None

    def problems(self) -> list[str]:
        """What is wrong with files among the records, one line each."""
        rows = self.db.execute("SELECT problem FROM files WHERE problem != '' ORDER BY folder, name")
        return [line for (text,) in rows for line in text.split("\n")]

    def causes_of_runs_outside(self, task_ids: set[str]) -> set[str]:
        """The causes of all runs but those."""
        rows = self.db.execute(
            "SELECT DISTINCT fingerprint FROM occurrences o JOIN runs r ON r.id = o.run"
            " WHERE r.task_id NOT IN (SELECT value FROM json_each(?))",
            (tables.wanted(sorted(task_ids)),),
        )
        return {fingerprint for (fingerprint,) in rows}

    def holes_of_runs_outside(self, task_ids: set[str]) -> set[tuple[str, str]]:
        """Covergroup and bin of what all runs but those said of coverage."""
        rows = self.db.execute(
            "SELECT DISTINCT covergroup, bin FROM coverage c JOIN runs r ON r.id = c.run"
            " WHERE r.task_id NOT IN (SELECT value FROM json_each(?))",
            (tables.wanted(sorted(task_ids)),),
        )
        return set(rows)

    def is_reclassified(self) -> bool:
        """Whether there are verdicts on what is on record."""
        return self.db.execute("SELECT 1 FROM verdicts WHERE state != ''").fetchone() is not None

    @cached_property
    def _has_aliases(self) -> bool:
        """Whether any fingerprint was ever given up; few wikis have one, and each question asks."""
        return self.db.execute("SELECT 1 FROM aliases").fetchone() is not None

    def present(self, fingerprints: Sequence[str]) -> tuple[str, ...]:
        """What causes are called now; a fingerprint that was never given up is taken as it is."""
        if not self._has_aliases:
            return tuple(dict.fromkeys(fingerprints))
        rows = self.db.execute(
            "SELECT fingerprint, became FROM aliases WHERE fingerprint IN (SELECT value FROM json_each(?))",
            (tables.wanted(fingerprints),),
        )
        became = dict(rows.fetchall())
        return tuple(dict.fromkeys(became.get(name, name) for name in fingerprints))

    def identities(self, *fingerprints: str) -> tuple[str, ...]:
        """What causes are called now, then the fingerprints that they had before a reclassification."""
        present = self.present(fingerprints)
        if not self._has_aliases:
            return present
        former = self.db.execute(
            "SELECT fingerprint FROM aliases WHERE became IN (SELECT value FROM json_each(?)) ORDER BY fingerprint",
            (tables.wanted(present),),
        )
        return (*present, *(name for (name,) in former))

    def fix_states(self, fingerprints: Sequence[str]) -> list[FixState]:
        """The fixes of a cause, oldest first."""
        return self._judge.states(self.present(fingerprints))

    def runs_of_sources(self, hashes: Iterable[str]) -> dict[str, list[str]]:
        """Of contents of artefacts those that runs were read from or wrote, each with these runs, the oldest first."""
        rows = self.db.execute(
            "SELECT s.sha256, r.task_id FROM sources s JOIN runs r ON r.id = s.run"
            " WHERE s.sha256 IN (SELECT value FROM json_each(?)) ORDER BY r.moment",
            (tables.wanted(hashes),),
        )
        found: dict[str, list[str]] = {}
        for digest, task_id in rows:
            found.setdefault(digest, []).append(task_id)
        return found

    def last_pass(self, nodeid: str) -> str | None:
        """The commit of the newest run in which a test, or one inside a runner, is known to have passed."""
        return self._judge.passes.last_pass(nodeid)

    def passed_since(self, tests: Sequence[str], moment: str) -> bool:
        """Whether a run from a moment on is known to have passed one of the tests and failed none."""
        return self._judge.passes.passed_since(tests, moment)

    def records(self) -> Iterator[RunRecord]:
        """All records as they were written, by file; each once."""
        seen: set[str] = set()
        for folder, name in self.db.execute("SELECT folder, name FROM files ORDER BY folder, name").fetchall():
            if folder == verdicts.FOLDER:
                continue
            path = self.tasks / folder / name
            for record in store.read_records(path, path.read_bytes(), name)[0]:
                if record.task_id not in seen:
                    seen.add(record.task_id)
                    yield record

    def newest_occurrence(self, fingerprints: Sequence[str]) -> Occurrence | None:
        """The newest occurrence of a cause, with all its evidence."""
        row = self.db.execute(
            "SELECT o.fingerprint, o.moment, r.id, r.task_id FROM occurrences o JOIN runs r ON r.id = o.run"
            " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) ORDER BY o.moment DESC LIMIT 1",
            (tables.wanted(self.present(fingerprints)),),
        ).fetchone()
        if row is None:
            return None
        fingerprint, moment, run, task_id = row
        kept = self.db.execute(
            "SELECT occurrence FROM details WHERE fingerprint = ? AND moment = ?",
            (fingerprint, moment),
        ).fetchone()
        if kept:
            return msgspec.json.decode(kept[0], type=Occurrence)
        # The newest run was taken away: what is the newest now stands in its file.
        record = verdicts.read(self.tasks).applied(self._read_run(run, task_id))
        occurrences = tables.by_fingerprint(record.occurrences)
        return next(item for item in occurrences if item.fingerprint == fingerprint)

    def first_occurrences(self, causes: Mapping[str, Sequence[str]]) -> dict[str, Occurrence]:
        """The oldest occurrence of each of several causes, as the run wrote it, before anything was known of the cause.

        Args:
            causes: By any name the fingerprints of a cause.

        Returns:
            By the same names; a cause that is on record nowhere is left out.
        """
        wanted: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for name, fingerprints in causes.items():
            row = self.db.execute(
                "SELECT files.folder, files.name, r.task_id FROM occurrences o JOIN runs r ON r.id = o.run"
                " JOIN places ON places.run = r.id JOIN files ON files.id = places.file"
                " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) ORDER BY o.moment LIMIT 1",
                (tables.wanted(self.present(fingerprints)),),
            ).fetchone()
            if row is not None:
                wanted.setdefault(row[:2], []).append((row[2], name))
        found: dict[str, Occurrence] = {}
        for (folder, file), of_file in wanted.items():
            path = self.tasks / folder / file
            records = {record.task_id: record for record in store.read_records(path, path.read_bytes(), file)[0]}
            for task_id, name in of_file:
                prints = self.identities(*causes[name])
                of_run = (each for each in records[task_id].occurrences if each.fingerprint in prints)
                found.update((name, each) for each in of_run)
        return found

    def _read_run(self, run: int, task_id: str) -> RunRecord:
        folder, name = self.db.execute(
            "SELECT folder, name FROM files JOIN places ON places.file = files.id WHERE places.run = ?",
            (run,),
        ).fetchone()
        path = self.tasks / folder / name
        records, _ = store.read_records(path, path.read_bytes(), name)
        return next(record for record in records if record.task_id == task_id)


class _File(NamedTuple):
    """A file as the tables remember it."""

    identity: int
    size: int
    mtime_ns: int
    digest: bytes
    problem: str


class _Refresh:
    """One pass over the folders."""

    def __init__(self, archive: Archive, *, verify: bool, progress: Callable[[int], None] | None) -> None:
        self._archive = archive
        self._tasks = archive.tasks
        self._db = archive.db
        self._verify = verify
        self._progress = progress
        self._read = 0
        self._removed = False
        self._added: list[RunRecord] = []

    def run(self) -> set[str]:
        """Brings the tables up to date; gives the causes whose fixes are judged otherwise than before."""
        present = store.folder_times(self._tasks)
        state = verdicts.state(self._tasks)
        (known_state,) = self._db.execute("SELECT COALESCE(MAX(state), '') FROM verdicts").fetchone()
        judged_anew = state != known_state
        known = {path: (mtime, settled) for path, mtime, settled in self._db.execute("SELECT * FROM folders")}
        is_all = judged_anew or self._verify
        pending = [place for place, mtime in present.items() if is_all or known.get(place) != (mtime, True)]
        gone = known.keys() - present.keys()
        if not (pending or gone or judged_anew):
            return set()
        with transaction(self._db):
            newest = self._archive.newest()
            if judged_anew:
                self._start_anew(state)
            for path in sorted(gone):
                self._forget_folder(path)
            for place in pending:
                self._read_folder(place)
            return self._judge(newest)

    def _start_anew(self, state: str) -> None:
        """Empties the tables: what each record in them says may be another thing now."""
        tables.clear(self._db)
        self._db.execute("INSERT INTO verdicts VALUES (?)", (state,))
        self._db.executemany("INSERT INTO aliases VALUES (?, ?)", self._verdicts.aliases.items())
        self._db.executemany(
            "INSERT INTO files (folder, name, size, mtime_ns, digest, problem) VALUES (?, ?, 0, 0, '', ?)",
            [(verdicts.FOLDER, name, problem) for name, problem in self._verdicts.problems],
        )
        self._removed = True

    @cached_property
    def _verdicts(self) -> verdicts.Verdicts:
        return verdicts.read(self._tasks)

    def _judge(self, newest: str | None) -> set[str]:
        if not (self._added or self._removed):
            return set()
        if self._removed or newest is None:
            return self._archive.judge(None)
        seen: set[str] = set()
        causes: set[str] = set()
        for record in self._added:
            seen.update(item.fingerprint for item in record.occurrences)
            causes.update(item.fingerprint for item in record.passed_again)
            causes.update(str(row["fingerprint"]) for row in record.fixes if row.get("fingerprint"))
        first = min(map(tables.moment_of, self._added))
        if first > newest:
            return self._archive.judge(causes, self._added, seen)
        # What happened between other runs can turn fixes that were judged by later ones.
        causes |= seen | self._archive.judged_by(first)
        return self._archive.judge(causes, self._added, seen, first)

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
            self._forget(self._file(place, name).identity)
        # A record never changes; a file that could not be read, and a month's file, may.
        holds_months = "/" not in place
        may_differ = known if self._verify or holds_months else self._with_problem(place)
        for name in sorted(names - known | names & may_differ):
            self._read_file(folder / name, place, self._file(place, name) if name in known else None)
        # A file that may change does so without a change of its folder.
        settled = settled and not (holds_months and names) and not self._with_problem(place)
        self._db.execute("INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", (place, mtime_ns, settled))

    def _with_problem(self, place: str) -> set[str]:
        query = "SELECT name FROM files WHERE folder = ? AND problem != ''"
        return {name for (name,) in self._db.execute(query, (place,))}

    def _file(self, place: str, name: str) -> _File:
        query = "SELECT id, size, mtime_ns, digest, problem FROM files WHERE folder = ? AND name = ?"
        return _File(*self._db.execute(query, (place, name)).fetchone())

    def _read_file(self, path: Path, place: str, old: _File | None) -> None:
        name = f"{place}/{path.name}"
        try:
            status = path.stat()
            if old and not self._verify and (status.st_size, status.st_mtime_ns) == old[1:3]:
                return
            data = path.read_bytes()
        except FileNotFoundError:
            # Removed since the folder was listed; its folder has changed and is read again.
            return
        except OSError as error:
            self._keep(path, place, _File(0, 0, 0, b"", f"{name}: {error.strerror}"), old)
            return
        self._read += 1
        if self._progress and self._read % _PROGRESS_EVERY == 0:
            self._progress(self._read)
        digest = hashlib.blake2b(data, digest_size=16).digest()
        if old and digest == old.digest:
            self._db.execute(
                "UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?",
                (status.st_size, status.st_mtime_ns, old.identity),
            )
            return
        records, problems = store.read_records(path, data, name)
        file = _File(0, status.st_size, status.st_mtime_ns, digest, "\n".join(problems))
        identity = self._keep(path, place, file, old)
        named = [self._verdicts.applied(record) for record in records]
        self._added += [record for record in named if tables.insert(self._db, record, identity)]

    def _keep(self, path: Path, place: str, file: _File, old: _File | None) -> int:
        if old:
            self._forget(old.identity)
        cursor = self._db.execute(
            "INSERT INTO files (folder, name, size, mtime_ns, digest, problem) VALUES (?, ?, ?, ?, ?, ?)",
            (place, path.name, *file[1:]),
        )
        return int(cursor.lastrowid or 0)
