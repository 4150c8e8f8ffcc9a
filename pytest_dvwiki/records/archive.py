"""All records as tables, for queries.

The tables are filled from the record files and kept in a disposable cache. A folder with an unchanged modification time
is not read again, so opening an up-to-date archive costs one `stat` per folder; `verify=True` compares the content of
every file. `aggregate` and `fixes` describe the computed values.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.model import Occurrence, RunId, RunRecord, SourceRun, Vcs
from pytest_dvwiki.records import learned, same_check, schema, store, tables, verdicts
from pytest_dvwiki.records.cache import discard, is_held, open_cache
from pytest_dvwiki.records.cause_names import CauseNames
from pytest_dvwiki.records.judge import Judge
from pytest_dvwiki.records.name_parts import check_of, recorded_name
from pytest_dvwiki.records.refresh import Refresh
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.records.chance import Rate
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.records.passes import Passes
    from pytest_dvwiki.records.targets import Target

_MOST_RUNS = 20
"""Maximum number of passing runs after a fix that are searched for a commit."""


class Archive(CauseNames):
    """The records of one `tasks` folder.

    This class is long because all queries of the records go through it; most methods only call the responsible module.

    Args:
        tasks: The folder; it need not exist.
        cache: File for the tables; None keeps them in memory.
    """

    def __init__(self, tasks: Path, cache: Path | None) -> None:
        self.tasks = tasks
        self._cache = cache
        self.db = open_cache(cache, schema.SCHEMA, schema.VERSION)
        self.judge = Judge(self.db, tasks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the cache."""
        self.db.close()

    def refresh(self, *, verify: bool = False, progress: Callable[[int], None] | None = None) -> set[str]:
        """Read record files that were added, changed or removed since the last refresh.

        Args:
            verify: Compare the content of every file with the tables.
            progress: Called from time to time with the number of files read so far.

        Returns:
            The causes whose fixes are now judged differently.
        """
        try:
            return Refresh(self, verify=verify, progress=progress).run()
        except sqlite3.DatabaseError:
            # A cache that broke in use, or is locked for too long, is given up; the tables move into memory.
            self.db.close()
            if self._cache is not None and not is_held(self._cache):
                # On a read-only volume the file cannot be removed.
                with contextlib.suppress(OSError):
                    discard(self._cache)
            self.db = open_cache(None, schema.SCHEMA, schema.VERSION)
            self.judge = Judge(self.db, self.tasks)
            return Refresh(self, verify=False, progress=progress).run()
        finally:
            self.forget()

    @property
    def passes(self) -> Passes:
        """Return the tests that passed in each run."""
        return self.judge.passes

    def newest(self) -> str | None:
        """Return the sort key of the newest run; None if there are no runs."""
        (moment,) = self.db.execute("SELECT MAX(moment) FROM runs").fetchone()
        return str(moment) if moment else None

    def moment(self, task_id: str) -> str:
        """Return the sort key of a run; empty if it is not on record."""
        row = self.db.execute("SELECT moment FROM runs WHERE task_id = ?", (task_id,)).fetchone()
        return str(row[0]) if row else ""

    def last_updated(self) -> str | None:
        """Return when the newest run finished; None if there are no runs."""
        moment = self.newest()
        return moment.split(" ", 1)[0] if moment else None

    def record(self, task_id: str) -> RunRecord | None:
        """Return the record of a run; None if no record has that id."""
        row = self.db.execute("SELECT id FROM runs WHERE task_id = ?", (task_id,)).fetchone()
        return self._read_run(row[0], task_id) if row else None

    def problems(self) -> list[str]:
        """Return the problems of the record files, one line each."""
        rows = self.db.execute("SELECT problem FROM files WHERE problem != '' ORDER BY folder, name")
        return [line for (text,) in rows for line in text.split("\n")]

    def unreadable(self, task_ids: Iterable[str]) -> list[str]:
        """Return the given runs that have no readable record; empty if every record file is readable."""
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
        """Return the records of all runs except the given ones, oldest first."""
        rows = self.db.execute("SELECT id, task_id FROM runs ORDER BY moment").fetchall()
        return [self._read_run(number, task_id) for number, task_id in rows if task_id not in task_ids]

    def is_reclassified(self) -> bool:
        """Return whether there are files in `tasks/verdicts/`."""
        return self.db.execute("SELECT 1 FROM verdicts WHERE state != ''").fetchone() is not None

    def causes_at(self, commit: str) -> set[str]:
        """Return the causes of all runs at a commit, even if their tests passed in another run at that commit."""
        rows = self.db.execute(
            "SELECT DISTINCT o.fingerprint FROM runs r JOIN occurrences o ON o.run = r.id WHERE r.vcs_commit = ?",
            (commit,),
        )
        return {name for (name,) in rows}

    def causes_named_in(self, task_id: str) -> set[str]:
        """Return the causes mentioned in a run's passes, commit ranges and fixes, even if the run did not have them."""
        of_run = "WHERE run = (SELECT id FROM runs WHERE task_id = :task) AND fingerprint IS NOT NULL"
        naming = ("passed_again", "first_bad", "fix_rows")
        query = " UNION ".join(f"SELECT fingerprint FROM {table} {of_run}" for table in naming)  # noqa: S608 (constants)
        rows = self.db.execute(query, {"task": task_id})
        return {name for (name,) in rows}

    def standing(self, fingerprint: str) -> list[same_check.Standing]:
        """Return the fixed causes of a check that have not come back, most recently seen first."""
        check = check_of(*self.present((fingerprint,)))
        if not self.fix_states(self.family(check) or (check,)):
            return []
        return same_check.standing(self.db, self.passes, check)

    def cause_of(self, fingerprint: str, seen: same_check.CheckFailure) -> str:
        """Return the cause to which a failure of a check belongs, for a run that is not on record yet."""
        (check,) = self.present((check_of(fingerprint),))
        return same_check.cause_of(self.db, self.passes, check, seen)

    def open_causes(self, fingerprint: str) -> tuple[str, ...]:
        """Return the causes of a check that are not fixed, the most recently seen first."""
        return same_check.open_causes(self.db, self.passes, *self.present((fingerprint,)))

    def last_causes(self, fingerprint: str, nodeids: Iterable[str]) -> dict[str, str]:
        """Map each test that has failed at a check to the cause of its newest failure there."""
        (check,) = self.present((fingerprint,))
        return same_check.last_causes(self.db, check, nodeids)

    def hidden_since(self, fingerprint: str, nodeids: Iterable[str]) -> str | None:
        """Return the last commit at which tests failed with a cause, if all of them failed with other causes since."""
        return same_check.hidden_since(self.db, self.present((fingerprint,)), nodeids)

    def tools(self, task_id: str) -> dict[str, str]:
        """Map the tools of a run to their versions; tools with an unknown version are omitted."""
        query = "SELECT simulators, axes FROM runs WHERE task_id = ?"
        found: dict[str, str] = {}
        for simulators, axes in self.db.execute(query, (task_id,)):
            found |= dict(each.split(" ", 1) for each in simulators.split(", ") if " " in each)
            found |= {name: version for name, version in json.loads(axes).items() if version}
        return found

    def has_noise(self) -> bool:
        """Return whether any error message of a passing test is on record."""
        return self.db.execute("SELECT 1 FROM noise LIMIT 1").fetchone() is not None

    def noisy_tests(self, text: str) -> set[str]:
        """Return the tests that passed although they printed a given message; an empty name stands for every test."""
        return {test for (test,) in self.db.execute("SELECT DISTINCT test FROM noise WHERE text = ?", (text,))}

    def sources_since(self, standing: same_check.Standing) -> tuple[str, Vcs] | None:
        """Return the id and sources of the first run that passed with a fix; None if no such sources are known.

        A run without uncommitted changes is preferred. A run with such changes counts only if the changed files are on
        record.
        """
        edited = None
        runs = self.passes.passing_runs(standing.state.tests, standing.state.moment, EVER)
        for _, task_id, *_ in itertools.islice(runs, _MOST_RUNS):
            query = "SELECT vcs_commit, dirty, edited FROM runs WHERE task_id = ? AND vcs_commit IS NOT NULL"
            row = self.db.execute(query, (task_id,)).fetchone()
            if row and not row[1]:
                return task_id, Vcs(commit=row[0])
            if row and edited is None and (names := json.loads(row[2])):
                edited = task_id, Vcs(commit=row[0], dirty=True, edited=tuple(names))
        return edited

    def first_recorded_as(self, fingerprint: str) -> Occurrence | None:
        """Return the first occurrence recorded under a fingerprint; None if there is none."""
        row = self.db.execute(
            "SELECT r.id, r.task_id FROM checks c JOIN runs r ON r.id = c.run WHERE c.fingerprint = ?"
            " ORDER BY r.moment LIMIT 1",
            (fingerprint,),
        ).fetchone()
        found = self._read_run(*row).occurrences if row else ()
        return next((each for each in found if each.fingerprint == fingerprint), None)

    def rulings(self) -> verdicts.Verdicts:
        """Return the contents of the files in `tasks/verdicts/`."""
        return verdicts.read(self.tasks) if self.is_reclassified() else verdicts.Verdicts()

    def new_merges(self) -> list[verdicts.Merge]:
        """Return the merges of causes that the records justify and that are not in a file of verdicts yet."""
        if self.db.execute("SELECT 1 FROM checks WHERE fresh LIMIT 1").fetchone() is None:
            return []
        return learned.new_merges(self.db, verdicts.read(self.tasks))

    def note_searched(self) -> None:
        """Mark all occurrences on record as searched for merges."""
        self.db.execute("UPDATE checks SET fresh = 0 WHERE fresh")

    def fix_states(self, fingerprints: Sequence[str]) -> list[FixState]:
        """Return the fixes of a cause, oldest first."""
        present = self.present(fingerprints)
        if len(present) == 1 and not self.has_rows("fix_states"):
            return []
        return self.judge.states(present)

    def runs_of_sources(self, hashes: Iterable[str]) -> dict[str, list[SourceRun]]:
        """Map content hashes to the runs that read or wrote a file with that hash, oldest first.

        Unknown hashes are omitted.
        """
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

    def comes_and_goes(self, fingerprints: Sequence[str]) -> bool:
        """Return whether a cause failed and passed with the same sources and seed, or among the attempts of one run."""
        return self.judge.comes_and_goes(self.present(fingerprints))

    def rates(self, fingerprints: Sequence[str], since: str) -> dict[str, Rate]:
        """Map each test to its failure rate with a cause since the given sort key."""
        return self.judge.rates(self.present(fingerprints), since)

    def is_deterministic(self, *fingerprints: str) -> bool:
        """Return whether a cause occurs with every seed, judging by its subtype and history."""
        return self.judge.is_deterministic(self.present(fingerprints))

    def undone(self, fingerprints: Sequence[str], failing: Sequence[Target]) -> FixState | None:
        """Return the newest fix that did not last, judging by the current failures; None if there is none."""
        return self.judge.undone(self.present(fingerprints), failing)

    def records(self) -> Iterator[RunRecord]:
        """Yield each record once, as it was written, in the order of the files."""
        seen: set[str] = set()
        for folder, name in self.db.execute("SELECT folder, name FROM files ORDER BY folder, name").fetchall():
            if folder == verdicts.FOLDER:
                continue
            for record in self._read_file(folder, name):
                if record.task_id not in seen:
                    seen.add(record.task_id)
                    yield record

    def newest_occurrence(self, fingerprints: Sequence[str], until: str = EVER) -> Occurrence | None:
        """Return the newest occurrence of a cause up to a run, with all its evidence; None if there is none."""
        row = self.db.execute(
            "SELECT o.fingerprint, o.moment, o.part, r.id, r.task_id FROM occurrences o JOIN runs r ON r.id = o.run"
            " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) AND o.moment <= ? ORDER BY o.moment DESC LIMIT 1",
            (tables.json_list(self.present(fingerprints)), until),
        ).fetchone()
        if row is None:
            return None
        fingerprint, moment, part, run, task_id = row
        kept = self.db.execute(
            "SELECT occurrence FROM details WHERE fingerprint = ? AND moment = ?",
            (fingerprint, moment),
        ).fetchone()
        if kept:
            return replace(msgspec.json.decode(kept[0], type=Occurrence), fingerprint=fingerprint)
        # The tables have the details of the newest occurrence only; removing its run removes these details.
        record = verdicts.read(self.tasks).applied(self._read_run(run, task_id))
        names = dict(self.db.execute("SELECT fingerprint, became FROM names"))
        record = verdicts.renamed(record, lambda name: names.get(name, name))
        occurrences = tables.by_fingerprint(record.occurrences)
        recorded = recorded_name(check_of(fingerprint), task_id, part)
        return replace(next(item for item in occurrences if item.fingerprint == recorded), fingerprint=fingerprint)

    def first_occurrences(self, causes: Mapping[str, Sequence[str]]) -> dict[str, Occurrence]:
        """Return the oldest occurrence of each of several causes, as the run recorded it.

        Args:
            causes: The fingerprints of each cause, by a name that the caller chooses.

        Returns:
            The occurrences by the same names. Causes that are not on record are omitted.
        """
        wanted: dict[tuple[str, str], list[tuple[str, int, str]]] = {}
        for name, fingerprints in causes.items():
            row = self.db.execute(
                "SELECT files.folder, files.name, r.task_id, o.part FROM occurrences o JOIN runs r ON r.id = o.run"
                " JOIN places ON places.run = r.id JOIN files ON files.id = places.file"
                " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) ORDER BY o.moment LIMIT 1",
                (tables.json_list(self.present(fingerprints)),),
            ).fetchone()
            if row is not None:
                wanted.setdefault(row[:2], []).append((*row[2:], name))
        found: dict[str, Occurrence] = {}
        for (folder, file), of_file in wanted.items():
            records = {record.task_id: record for record in self._read_file(folder, file)}
            for task_id, part, name in of_file:
                checks = map(check_of, self.identities(*causes[name]))
                prints = {recorded_name(check, task_id, part) for check in checks}
                of_run = (each for each in records[task_id].occurrences if each.fingerprint in prints)
                found.update((name, each) for each in of_run)
        return found

    def _read_run(self, run: int, task_id: str) -> RunRecord:
        place = self.db.execute(
            "SELECT folder, name FROM files JOIN places ON places.file = files.id WHERE places.run = ?",
            (run,),
        ).fetchone()
        return next(record for record in self._read_file(*place) if record.task_id == task_id)

    def _read_file(self, folder: str, name: str) -> Sequence[RunRecord]:
        path = self.tasks / folder / name
        return store.read_records(path, reading.read_records(path), name)[0]
