"""All records as tables, so that a query reads only what it returns.

The tables are filled from the record files and kept in a disposable cache. A folder whose time of change is unchanged
is not read again, so opening a warm archive costs one `stat` a month; `verify=True` compares the content of every file.
`aggregate` and `fixes` say what the numbers mean.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import sqlite3
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec

from pytest_dvwiki import reading
from pytest_dvwiki.model import Occurrence, RunId, RunRecord, SourceRun
from pytest_dvwiki.records import identity, learned, same_check, store, tables, verdicts
from pytest_dvwiki.records.cache import discard, is_held, open_cache, transaction
from pytest_dvwiki.records.disk import is_settled
from pytest_dvwiki.records.judge import Judge
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import Pass
    from pytest_dvwiki.records.chance import Rate
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.records.passes import Passes
    from pytest_dvwiki.records.targets import Target

_PROGRESS_EVERY = 100
_MOST_RUNS = 20
"""Number of passing runs after a fix that are searched for a commit."""
_SPEAKING = ("occurrences", "passed_again", "fix_rows", "waived", "first_bad")
"""Tables whose rows name a cause."""


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
        """Close the cache."""
        self.db.close()

    def refresh(self, *, verify: bool = False, progress: Callable[[int], None] | None = None) -> set[str]:
        """Read what was added, changed or removed since the last time.

        Args:
            verify: Compare the content of every file with the tables.
            progress: Called now and then with the number of files read so far.

        Returns:
            The causes whose fixes are judged differently than before.
        """
        try:
            return _Refresh(self, verify=verify, progress=progress).run()
        except sqlite3.DatabaseError:
            # A cache that broke in use, or is locked for too long, is given up; the tables move into memory.
            self.db.close()
            if self._cache is not None and not is_held(self._cache):
                # On a read-only volume it cannot be removed.
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
        """Judge the fixes of causes with news again; return the causes that are judged differently than before.

        Args:
            fingerprints: The causes; None for all.
            runs: Runs newer than all others: tests that ran in them may have passed.
            seen: Causes that occurred in runs newer than all others, without other news.
            late: The moment of the first run with news, if other runs came after it.
        """
        return self._judge.update(fingerprints, self._judge.passes.ran(runs), seen, late)

    def judged_by(self, moment: str) -> set[str]:
        """Return the causes whose fixes a run at a moment may still change, though other runs came after it."""
        return self._judge.judged_by(moment)

    @property
    def passes(self) -> Passes:
        """Return which tests passed in which runs."""
        return self._judge.passes

    def newest(self) -> str | None:
        """Return the moment of the newest run."""
        (moment,) = self.db.execute("SELECT MAX(moment) FROM runs").fetchone()
        return str(moment) if moment else None

    def moment(self, task_id: str) -> str:
        """Return the sort key of a run; empty if it is not on record."""
        row = self.db.execute("SELECT moment FROM runs WHERE task_id = ?", (task_id,)).fetchone()
        return str(row[0]) if row else ""

    def last_updated(self) -> str | None:
        """Return the time at which the newest run finished."""
        moment = self.newest()
        return moment.split(" ", 1)[0] if moment else None

    def record(self, task_id: str) -> RunRecord | None:
        """Return the record of a run; None if there is none with that id."""
        row = self.db.execute("SELECT id FROM runs WHERE task_id = ?", (task_id,)).fetchone()
        return self._read_run(row[0], task_id) if row else None

    def problems(self) -> list[str]:
        """Return what is wrong with files among the records, one line each."""
        rows = self.db.execute("SELECT problem FROM files WHERE problem != '' ORDER BY folder, name")
        return [line for (text,) in rows for line in text.split("\n")]

    def unreadable(self, task_ids: Iterable[str]) -> list[str]:
        """Return the ids that have no readable record, if some file of records cannot be read."""
        if (
            self.db.execute("SELECT 1 FROM files WHERE problem != '' AND folder != ?", (verdicts.FOLDER,)).fetchone()
            is None
        ):
            return []
        asked = list(dict.fromkeys(task_ids))
        rows = self.db.execute(
            "SELECT task_id FROM runs WHERE task_id IN (SELECT value FROM json_each(?))", (tables.json_list(asked),)
        )
        known = {task_id for (task_id,) in rows}
        return [task_id for task_id in asked if task_id not in known]

    def runs_outside(self, task_ids: set[str]) -> list[RunRecord]:
        """Return all runs but the given ones, the oldest first."""
        rows = self.db.execute("SELECT id, task_id FROM runs ORDER BY moment").fetchall()
        return [self._read_run(number, task_id) for number, task_id in rows if task_id not in task_ids]

    def is_reclassified(self) -> bool:
        """Tell whether there are files of verdicts."""
        return self.db.execute("SELECT 1 FROM verdicts WHERE state != ''").fetchone() is not None

    @cached_property
    def _has_aliases(self) -> bool:
        """Tell whether any fingerprint was ever given up; each query asks, and few wikis have one."""
        return self.db.execute("SELECT 1 FROM aliases").fetchone() is not None

    def present(self, fingerprints: Sequence[str]) -> tuple[str, ...]:
        """Return the present names of causes; a fingerprint that was never given up stays as it is."""
        names = fingerprints
        if self._has_aliases:
            rows = self.db.execute(
                "SELECT fingerprint, became FROM aliases WHERE fingerprint IN (SELECT value FROM json_each(?))",
                (tables.json_list(map(same_check.check_of, fingerprints)),),
            )
            became = dict(rows.fetchall())
            checks = [name.partition(tables.SLASH) for name in fingerprints]
            names = [f"{became.get(check, check)}{slash}{run}" for check, slash, run in checks]
        return tuple(
            dict.fromkeys(same_check.resolved(self.db, name) if tables.SLASH in name else name for name in names)
        )

    def identities(self, *fingerprints: str) -> tuple[str, ...]:
        """Return the present names of causes, then the fingerprints that they had before."""
        present = self.present(fingerprints)
        if not self._has_aliases:
            return present
        former = self.db.execute(
            "SELECT fingerprint FROM aliases WHERE became IN (SELECT value FROM json_each(?)) ORDER BY fingerprint",
            (tables.json_list(present),),
        )
        return (*present, *(name for (name,) in former))

    def family(self, name: str) -> tuple[str, ...]:
        """Return all causes of the check that reports a cause, the oldest first; none if it is the only one."""
        return same_check.family(self.db, same_check.check_of(*self.present((name,))))

    def further(self) -> frozenset[str]:
        """Return the causes whose check had reported another cause before."""
        return frozenset(name for (name,) in self.db.execute("SELECT fingerprint FROM further"))

    def reference(self, name: str) -> str:
        """Return a name of a cause that stays valid, whatever other causes its check gets later."""
        if tables.SLASH in name or not self.family(name):
            return name
        (task_id,) = self.db.execute(
            "SELECT r.task_id FROM occurrences o JOIN runs r ON r.id = o.run WHERE o.fingerprint = ?"
            " ORDER BY o.moment LIMIT 1",
            self.present((name,)),
        ).fetchone()
        return f"{name}{tables.SLASH}{task_id}"

    def called_in(self, task_id: str, fingerprint: str) -> str:
        """Return the name of the cause that a run reported under a fingerprint; without one the fingerprint itself."""
        return self.present((f"{fingerprint}{tables.SLASH}{task_id}",))[0]

    def causes_named_in(self, task_id: str) -> set[str]:
        """Return the causes that a run says something about, besides those that occurred in it."""
        of_run = "WHERE run = (SELECT id FROM runs WHERE task_id = :task) AND fingerprint IS NOT NULL"
        speaking = ("passed_again", "first_bad", "fix_rows")
        query = " UNION ".join(f"SELECT fingerprint FROM {table} {of_run}" for table in speaking)  # noqa: S608 (constants)
        rows = self.db.execute(query, {"task": task_id})
        return {name for (name,) in rows}

    def standing(self, fingerprint: str) -> list[same_check.Standing]:
        """Return the causes of a check whose newest fix stands, the one seen last first."""
        check = same_check.check_of(*self.present((fingerprint,)))
        if not self.fix_states(self.family(check) or (check,)):
            return []
        return same_check.standing(self.db, self._judge.passes, check)

    def cause_of(self, fingerprint: str, seen: same_check.CheckFailure) -> str:
        """Return the cause with which a check fails in a run that is not on record yet."""
        (check,) = self.present((fingerprint,))
        return same_check.cause_of(self.db, self._judge.passes, check, seen)

    def commit_since(self, standing: same_check.Standing) -> tuple[str, str] | None:
        """Return the task id and commit of the first run without uncommitted changes that shows a standing fix."""
        runs = self._judge.passes.passing_runs(standing.state.tests, standing.state.moment, EVER)
        for _, task_id, _ in itertools.islice(runs, _MOST_RUNS):
            query = "SELECT vcs_commit FROM runs WHERE task_id = ? AND vcs_commit IS NOT NULL AND NOT dirty"
            row = self.db.execute(query, (task_id,)).fetchone()
            if row:
                return task_id, row[0]
        return None

    def joined(self) -> frozenset[str]:
        """Return the causes that were learned to be one with an older cause."""
        return frozenset(name for (name,) in self.db.execute("SELECT fingerprint FROM names WHERE learned"))

    def first_called(self, fingerprint: str) -> Occurrence | None:
        """Return the first occurrence that has a fingerprint in its own record; None if there is none."""
        row = self.db.execute(
            "SELECT r.id, r.task_id FROM checks c JOIN runs r ON r.id = c.run WHERE c.fingerprint = ?"
            " ORDER BY r.moment LIMIT 1",
            (fingerprint,),
        ).fetchone()
        found = self._read_run(*row).occurrences if row else ()
        return next((each for each in found if each.fingerprint == fingerprint), None)

    def starting_with(self, digits: str) -> list[str]:
        """Return the present and former fingerprints that begin with the given digits."""
        rows = self.db.execute(
            "SELECT fingerprint FROM causes WHERE fingerprint GLOB ? UNION SELECT fingerprint FROM aliases"
            " WHERE fingerprint GLOB ? ORDER BY fingerprint",
            (f"{digits}*", f"{digits}*"),
        )
        return [name for (name,) in rows]

    def has(self, fingerprint: str) -> bool:
        """Tell whether a cause is on record."""
        query = "SELECT 1 FROM causes WHERE fingerprint IN (SELECT value FROM json_each(?)) LIMIT 1"
        return self.db.execute(query, (tables.json_list(self.present((fingerprint,))),)).fetchone() is not None

    def called(self, former: str) -> tuple[str, ...]:
        """Return the causes on record that had this fingerprint of version 1."""
        rows = self.db.execute(
            "SELECT DISTINCT fingerprint FROM identities WHERE former = ? ORDER BY fingerprint", (former,)
        )
        return tuple(name for (name,) in rows)

    def formers(self, *fingerprints: str) -> tuple[str, ...]:
        """Return the fingerprints of version 1 that the causes shared with others."""
        rows = self.db.execute(
            "SELECT DISTINCT former FROM splits WHERE fingerprint IN (SELECT value FROM json_each(?)) ORDER BY former",
            (tables.json_list(fingerprints),),
        )
        return tuple(name for (name,) in rows)

    def heirs(self, *formers: str) -> tuple[str, ...]:
        """Return the causes that shared one of these fingerprints of version 1."""
        rows = self.db.execute(
            "SELECT DISTINCT fingerprint FROM splits WHERE former IN (SELECT value FROM json_each(?))"
            " ORDER BY fingerprint",
            (tables.json_list(formers),),
        )
        return tuple(name for (name,) in rows)

    def split(self) -> tuple[str, ...]:
        """Return the fingerprints of version 1 that held several causes together."""
        return tuple(name for (name,) in self.db.execute("SELECT DISTINCT former FROM splits ORDER BY former"))

    def rulings(self) -> verdicts.Verdicts:
        """Return the contents of the files of verdicts."""
        return verdicts.read(self.tasks) if self.is_reclassified() else verdicts.Verdicts()

    def lessons(self) -> list[verdicts.Merge]:
        """Return the merges that the records show and no file of verdicts holds yet."""
        if self.db.execute("SELECT 1 FROM checks WHERE fresh LIMIT 1").fetchone() is None:
            return []
        return learned.lessons(self.db, verdicts.read(self.tasks))

    def taught(self) -> None:
        """Mark all occurrences so far as learned from."""
        self.db.execute("UPDATE checks SET fresh = 0 WHERE fresh")

    def fix_states(self, fingerprints: Sequence[str]) -> list[FixState]:
        """Return the fixes of a cause, oldest first."""
        return self._judge.states(self.present(fingerprints))

    def runs_of_sources(self, hashes: Iterable[str]) -> dict[str, list[SourceRun]]:
        """Return, by content hash, the runs that read or wrote an artefact, oldest first, without unknown hashes."""
        rows = self.db.execute(
            "SELECT s.sha256, r.task_id, s.written, r.run_id, r.vcs_commit FROM sources s JOIN runs r ON r.id = s.run"
            " WHERE s.sha256 IN (SELECT value FROM json_each(?)) ORDER BY r.moment",
            (tables.json_list(hashes),),
        )
        found: dict[str, list[SourceRun]] = {}
        for digest, task_id, written, ids, commit in rows:
            run = SourceRun(task_id, bool(written), msgspec.json.decode(ids, type=RunId), commit)
            found.setdefault(digest, []).append(run)
        return found

    def last_passes(self, test: Target, before: str = EVER) -> list[Pass]:
        """Return the newest runs at a commit that passed a test, or one inside it, on its simulator; newest first."""
        return self._judge.passes.before(test, before)

    def builds(self, folder: str, since: str, before: str) -> set[str]:
        """Return the marks of the designs that were built in a folder between two moments."""
        return self._judge.passes.builds(folder, since, before)

    def comes_and_goes(self, fingerprints: Sequence[str]) -> bool:
        """Tell whether a cause failed and passed with the same sources and seed, or in one run's attempts."""
        return self._judge.comes_and_goes(self.present(fingerprints))

    def rates(self, fingerprints: Sequence[str], since: str) -> dict[str, Rate]:
        """Return, by test, the rate at which it failed with a cause from a moment on."""
        return self._judge.rates(self.present(fingerprints), since)

    def is_deterministic(self, *fingerprints: str) -> bool:
        """Tell whether a cause occurs with any seed, judging by its kind and its record."""
        return self._judge.is_deterministic(self.present(fingerprints))

    def undone(self, fingerprints: Sequence[str], failing: Sequence[Target]) -> FixState | None:
        """Return the newest fix that the present failures of a cause undo; None if there is none."""
        return self._judge.undone(self.present(fingerprints), failing)

    def passed_since(self, tests: Sequence[Target], moment: str) -> bool:
        """Tell whether a run from a moment on passed one of the tests and failed none of them."""
        return self._judge.passes.passed_since(tests, moment)

    def records(self) -> Iterator[RunRecord]:
        """Yield all records as they were written, in the order of their files, each once."""
        seen: set[str] = set()
        for folder, name in self.db.execute("SELECT folder, name FROM files ORDER BY folder, name").fetchall():
            if folder == verdicts.FOLDER:
                continue
            path = self.tasks / folder / name
            for record in store.read_records(path, reading.read_records(path), name)[0]:
                if record.task_id not in seen:
                    seen.add(record.task_id)
                    yield record

    def newest_occurrence(self, fingerprints: Sequence[str]) -> Occurrence | None:
        """Return the newest occurrence of a cause, with all its evidence."""
        row = self.db.execute(
            "SELECT o.fingerprint, o.moment, r.id, r.task_id FROM occurrences o JOIN runs r ON r.id = o.run"
            " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) ORDER BY o.moment DESC LIMIT 1",
            (tables.json_list(self.present(fingerprints)),),
        ).fetchone()
        if row is None:
            return None
        fingerprint, moment, run, task_id = row
        kept = self.db.execute(
            "SELECT occurrence FROM details WHERE fingerprint = ? AND moment = ?",
            (fingerprint, moment),
        ).fetchone()
        if kept:
            return replace(msgspec.json.decode(kept[0], type=Occurrence), fingerprint=fingerprint)
        # The newest run was removed, and the details with it: the occurrence that is newest now is read from its file.
        record = verdicts.read(self.tasks).applied(self._read_run(run, task_id))
        names = dict(self.db.execute("SELECT fingerprint, became FROM names"))
        record = verdicts.renamed(record, lambda name: names.get(name, name))
        occurrences = tables.by_fingerprint(record.occurrences)
        check = same_check.check_of(fingerprint)
        return replace(next(item for item in occurrences if item.fingerprint == check), fingerprint=fingerprint)

    def first_occurrences(self, causes: Mapping[str, Sequence[str]]) -> dict[str, Occurrence]:
        """Return the oldest occurrence of each of several causes, as the run wrote it.

        Args:
            causes: The fingerprints of each cause, by any name.

        Returns:
            The occurrences by the same names; a cause that is not on record is left out.
        """
        wanted: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for name, fingerprints in causes.items():
            row = self.db.execute(
                "SELECT files.folder, files.name, r.task_id FROM occurrences o JOIN runs r ON r.id = o.run"
                " JOIN places ON places.run = r.id JOIN files ON files.id = places.file"
                " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) ORDER BY o.moment LIMIT 1",
                (tables.json_list(self.present(fingerprints)),),
            ).fetchone()
            if row is not None:
                wanted.setdefault(row[:2], []).append((row[2], name))
        found: dict[str, Occurrence] = {}
        for (folder, file), of_file in wanted.items():
            path = self.tasks / folder / file
            records = {
                record.task_id: record for record in store.read_records(path, reading.read_records(path), file)[0]
            }
            for task_id, name in of_file:
                prints = {same_check.check_of(each) for each in self.identities(*causes[name])}
                of_run = (each for each in records[task_id].occurrences if each.fingerprint in prints)
                found.update((name, each) for each in of_run)
        return found

    def _read_run(self, run: int, task_id: str) -> RunRecord:
        folder, name = self.db.execute(
            "SELECT folder, name FROM files JOIN places ON places.file = files.id WHERE places.run = ?",
            (run,),
        ).fetchone()
        path = self.tasks / folder / name
        records, _ = store.read_records(path, reading.read_records(path), name)
        return next(record for record in records if record.task_id == task_id)


def _checks(record: RunRecord) -> set[str]:
    """Return the fingerprints of the checks that a record says something about."""
    return {
        *(item.fingerprint for item in record.occurrences),
        *map(same_check.check_of, tables.names_of(record)),
    }


class _File(NamedTuple):
    """A file as the tables know it."""

    identity: int
    size: int
    mtime_ns: int
    digest: bytes
    problem: str


class _Refresh:
    """One pass over the folders of records."""

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
        """Bring the tables up to date; return the causes whose fixes are judged differently than before."""
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
            newest = self._archive.newest()
            if judged_anew:
                self._clear()
            if has_news:
                self._take_verdicts(state)
            for path in sorted(gone):
                self._forget_folder(path)
            for place in pending:
                self._read_folder(place)
            anew = has_news or self._removed
            anew = anew or identity.are_new(self._db, [record.task_id for record in self._added])
            if anew:
                self._rename()
            moved = self._tell_apart(None if anew or self._removed else newest)
            return moved | self._judge(newest, moved)

    def _clear(self) -> None:
        """Empty the tables: the labels of every record may have changed."""
        tables.clear(self._db)
        self._removed = True

    def _take_verdicts(self, state: str) -> None:
        self._db.execute("DELETE FROM verdicts")
        self._db.execute("INSERT INTO verdicts VALUES (?, ?)", (state, self._verdicts.reclassified))
        self._db.execute("DELETE FROM files WHERE folder = ?", (verdicts.FOLDER,))
        self._db.executemany(
            "INSERT INTO files (folder, name, size, mtime_ns, digest, problem) VALUES (?, ?, 0, 0, '', ?)",
            [(verdicts.FOLDER, name, problem) for name, problem in self._verdicts.problems],
        )

    def _rename(self) -> None:
        """Give merged causes one name, by what was learned and by their fingerprints of version 1."""
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

    def _read_again(self, fingerprints: set[str]) -> None:
        """Read the records again that mention causes with a new name."""
        further = (name for name in self._archive.further() if same_check.check_of(name) in fingerprints)
        asked = tables.json_list({*fingerprints, *further})
        speaking = " UNION ".join(
            f"SELECT run FROM {table} WHERE fingerprint IN (SELECT value FROM json_each(?))"  # noqa: S608 (constants)
            for table in _SPEAKING
        )
        runs = [run for (run,) in self._db.execute(speaking, (asked,) * len(_SPEAKING))]
        files = self._db.execute(
            "SELECT DISTINCT f.folder, f.name FROM files f JOIN places p ON p.file = f.id"
            " WHERE p.run IN (SELECT value FROM json_each(?)) ORDER BY f.folder, f.name",
            (json.dumps(runs),),
        ).fetchall()
        for place, name in files:
            self._read_file(self._tasks / place / name, place, self._file(place, name), again=True)

    def _tell_apart(self, newest: str | None) -> set[str]:
        """Decide which causes are reported by the checks that may have several.

        Args:
            newest: Sort key of the newest run before the added ones; None if any run may be the newest now.

        Returns:
            The causes of the checks of which an occurrence moved to another cause.
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
            if same_check.place(self._db, self._archive.passes, check, since):
                after = {check, *before, *self._archive.family(check)}
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

    def _judge(self, newest: str | None, moved: set[str]) -> set[str]:
        if not (self._added or self._removed):
            return set()
        if self._removed or newest is None:
            return self._archive.judge(None)
        seen: set[str] = set()
        causes = set(moved)
        for record in self._added:
            for check in _checks(record):
                causes.update(self._archive.family(check))
            seen.update(item.fingerprint for item in record.occurrences)
            causes.update(same_check.check_of(item.fingerprint) for item in record.passed_again)
            causes.update(same_check.check_of(row.fingerprint) for row in record.fixes if row.fingerprint)
        first = min(map(tables.moment_of, self._added))
        if first > newest:
            return self._archive.judge(causes, self._added, seen)
        # A run added between others can change fixes that were judged by later runs.
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
        # A record never changes. A month's file, and a file that could not be read, may.
        holds_months = "/" not in place
        may_differ = known if self._verify or holds_months else self._with_problem(place)
        for name in sorted(names - known | names & may_differ):
            self._read_file(folder / name, place, self._file(place, name) if name in known else None)
        # Such a file changes without a change of its folder's time.
        settled = settled and not (holds_months and names) and not self._with_problem(place)
        self._db.execute("INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", (place, mtime_ns, settled))

    def _with_problem(self, place: str) -> set[str]:
        query = "SELECT name FROM files WHERE folder = ? AND problem != ''"
        return {name for (name,) in self._db.execute(query, (place,))}

    def _file(self, place: str, name: str) -> _File:
        query = "SELECT id, size, mtime_ns, digest, problem FROM files WHERE folder = ? AND name = ?"
        return _File(*self._db.execute(query, (place, name)).fetchone())

    def _read_file(self, path: Path, place: str, old: _File | None, *, again: bool = False) -> None:
        name = f"{place}/{path.name}"
        try:
            status = path.stat() if path.exists() else path.lstat()
            if old and not (again or self._verify) and (status.st_size, status.st_mtime_ns) == old[1:3]:
                return
            data = reading.read_records(path)
        except FileNotFoundError:
            # Removed since the folder was listed; the folder has changed, so it is read again.
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
