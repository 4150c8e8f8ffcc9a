"""The tests that passed in each run: all tests in its lists, except those recorded as failed, skipped and so on."""

from __future__ import annotations

import bisect
import heapq
import itertools
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_dvwiki.model import Pass
from pytest_dvwiki.records import store, targets
from pytest_dvwiki.records.kinds import SIMULATION_CLASSES
from pytest_dvwiki.records.tables import json_list, suites_of
from pytest_dvwiki.records.targets import Target, build_of, meets
from pytest_dvwiki.records.units import is_folder, of_folder, parents_of, with_any_number, without_folder
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord

LOOKED_BACK = 50
"""Number of newest runs that are searched for a test's last pass, or that count for its failure rate."""
_RUN = "r.moment, r.task_id, r.branch, r.source_commit || CASE WHEN NOT r.dirty THEN '' ELSE r.changes END"
"""Sort key, id, branch and sources of a run; the sources are NULL if the uncommitted changes are unknown."""


class SuiteOfRun(NamedTuple):
    """A list of tests that ran on one simulator in one configuration."""

    run: int
    suite: str
    simulator: str
    config: str


class Passes:
    """The passes on record.

    This class is long because passes are recorded both by test and in lists of tests, and each query reads both.

    Args:
        db: The tables.
        tasks: The folder of the records, for the lists of tests.
    """

    def __init__(self, db: sqlite3.Connection, tasks: Path) -> None:
        self._db = db
        self._tasks = tasks
        self._suites: dict[str, list[str]] = {}
        self._listed: tuple[tuple[int, str] | None, Sequence[str]] = (None, ())
        self._spans: dict[str, tuple[str, str]] = {}
        """Sort keys of the first and the last run of each list."""
        self._having: tuple[Sequence[str], dict[str, list[str]]] = ((), {})
        self._numbered: dict[str, dict[tuple[str, str], list[str]]] = {}
        """Maps each list to its tests in folders with a number, by `with_any_number`."""

    def ran(self, runs: Iterable[RunRecord]) -> set[str]:
        """Return the tests that ran in the given runs, as far as known, and their parents."""
        names = {row.nodeid for run in runs for row in run.passed_again}
        for suite in {row.suite for run in runs for row in suites_of(run)}:
            names.update(self._names(suite))
        # A unit that cannot be built or imported is listed as a test; once it can, the tests inside are listed instead.
        return {each for name in names for each in (name, *parents_of(name))}

    def in_other_folders(self, nodeid: str, since: str, before: str) -> set[str]:
        """Return the names under which a cocotb test ran in folders that differ from its own only in their numbers.

        Args:
            nodeid: The test.
            since: Sort key of the first run.
            before: Sort key after the last run.
        """
        key = with_any_number(nodeid)
        if key is None:
            return set()
        suites = (
            suite
            for suite in self._all_suites()
            if self._spans[suite][0] < before and self._spans[suite][1] >= since and self._is_used(suite, since, before)
        )
        return {name for suite in suites for name in self._in_numbered_folders(suite).get(key, ())} - {nodeid}

    def _is_used(self, suite: str, since: str, before: str) -> bool:
        """Return whether any run from `since` to `before` has the given list of tests."""
        query = "SELECT 1 FROM suites WHERE suite = ? AND moment >= ? AND moment < ? LIMIT 1"
        return self._db.execute(query, (suite, since, before)).fetchone() is not None

    def _in_numbered_folders(self, suite: str) -> dict[tuple[str, str], list[str]]:
        if suite not in self._numbered:
            found: dict[tuple[str, str], list[str]] = {}
            for name in self._names(suite):
                if (key := with_any_number(name)) is not None:
                    found.setdefault(key, []).append(name)
            self._numbered[suite] = found
        return self._numbered[suite]

    def passing_runs(
        self,
        tests: Sequence[Target],
        since: str,
        before: str,
        *,
        independent: bool = False,
        known: set[tuple[str | None, ...]] | None = None,
    ) -> Iterator[tuple[str, str, str | None, str | None]]:
        """Yield sort key, id, branch and sources of the runs from `since` to `before` in which a test passed.

        Args:
            tests: The tests.
            since: Sort key of the first run.
            before: Sort key after the last run.
            independent: Skip runs that prove nothing new, because each test had already passed with the same seed,
                sources and configuration.
            known: With `independent`, the passes that an earlier call has yielded, for tests that also run in other
                folders; this call adds its own. A pass with the same seed in another folder proves nothing new. If
                None, only passes of the given tests are compared.
        """
        # Unless the passes have to be independent, one passing test of a run is enough, so tests are looked up singly.
        asked = [tests] if independent else [[test] for test in tests]
        rows = heapq.merge(
            *(
                (
                    (row[:4], [(*row[4:7], store.seed_hash(row[7]))])
                    for row in self._passed_again(nodeid, tests, since, before)
                )
                for nodeid in dict.fromkeys(test.nodeid for test in tests)
            ),
            (
                (row[:4], self._evidence(SuiteOfRun(*row[4:8]), row[8], asked))
                for row in self._listed_runs(tests, since, before)
            ),
            key=lambda row: str(row[0][0]),
        )
        of_folders = known is not None
        known = set() if known is None else known
        for (moment, task_id, branch, sources), of_run in itertools.groupby(rows, key=lambda row: row[0]):
            passed = (
                (sources, *on, *((of_folders and without_folder(name)) or (name,)), seed)
                for _, evidence in of_run
                for *on, name, seed in evidence
            )
            found = set(passed if independent else itertools.islice(passed, 1))
            if found - known:
                yield moment, task_id, branch, sources
            if independent:
                known.update(each for each in found if None not in each)

    def _passed_again(self, nodeid: str, tests: Sequence[Target], since: str, before: str) -> sqlite3.Cursor:
        """Select the runs from `since` to `before` that record a pass of a test of this name, oldest first."""
        return self._db.execute(
            f"SELECT {_RUN}, p.simulator, p.config, p.nodeid, p.seed FROM passed_again p JOIN runs r ON r.id = p.run"  # noqa: S608
            " WHERE p.nodeid = ? AND p.moment >= ? AND p.moment < ?"
            f" AND EXISTS (SELECT 1 FROM json_each(?) t WHERE {meets('p')}) ORDER BY p.moment",
            (nodeid, since, before, targets.json_targets(tests)),
        )

    def _listed_runs(self, tests: Sequence[Target], since: str, before: str) -> Iterator[tuple[Any, ...]]:
        """Yield the runs from `since` to `before` with a list that contains one of the tests, oldest first.

        The runs of a list are selected when the first of them is reached: a wiki may have hundreds of lists, each used
        for some weeks, and most callers need few runs.
        """
        suites = {suite for test in tests for suite in self._suites_having(test.nodeid)}
        spans = ((max(self._spans[suite][0], since), self._spans[suite][1], suite) for suite in suites)
        waiting = sorted((span for span in spans if span[0] <= span[1] and span[0] < before), reverse=True)
        current: list[tuple[str, str, tuple[Any, ...], sqlite3.Cursor]] = []
        while waiting or current:
            while waiting and (not current or waiting[-1][0] <= current[0][0]):
                suite = waiting.pop()[2]
                rows = self._db.execute(
                    f"SELECT {_RUN}, s.run, s.suite, s.simulator, s.config, s.marks FROM suites s"  # noqa: S608
                    " JOIN runs r ON r.id = s.run WHERE s.suite = ? AND s.moment >= ? AND s.moment < ?"
                    " ORDER BY s.moment",
                    (suite, since, before),
                )
                for row in itertools.islice(rows, 1):
                    heapq.heappush(current, (row[0], suite, row, rows))
            if current:
                _, suite, row, rows = heapq.heappop(current)
                yield row
                for following in itertools.islice(rows, 1):
                    heapq.heappush(current, (following[0], suite, following, rows))

    def _evidence(
        self, listed: SuiteOfRun, hashes: str, asked: Iterable[Sequence[Target]]
    ) -> Iterator[tuple[str, str, str, str | None]]:
        """Yield simulator, configuration, name and seed hash of each test that passed."""
        for tests in asked:
            for name in self._passed(listed, tests):
                yield listed.simulator, listed.config, name, self._seed_hash(listed.suite, hashes, name)

    def _seed_hash(self, suite: str, hashes: str, name: str) -> str | None:
        """Return the seed hash of a test in a list; None if the seed is not on record."""
        digits = store.HASH_DIGITS
        place = bisect.bisect_left(self._names(suite), name) * digits if len(hashes) > digits else 0
        return hashes[place : place + digits].strip(store.NO_HASH) or None

    def _suites_having(self, test: str) -> list[str]:
        """Return the lists of tests that contain a test or, for a runner, one of the tests inside it."""
        suites = self._all_suites()
        if self._having[0] is not suites:
            self._having = (suites, {})
        having = self._having[1]
        if test not in having:
            having[test] = [suite for suite in suites if self._in_suite(suite, test)]
        return having[test]

    def before(self, test: Target, moment: str = EVER, *, edited: bool = False, any_design: bool = False) -> list[Pass]:
        """Return the newest runs before a given one in which a test passed on its simulator, newest first.

        Only the last `LOOKED_BACK` runs at a commit are searched. If the test failed before a simulator was chosen, a
        pass on any simulator counts. For a folder that builds several designs, only passes of the same design count.

        Args:
            test: The test.
            moment: Sort key of the run.
            edited: Whether to include runs with uncommitted changes, if the files are on record.
            any_design: Whether passes of any design of a folder count if it is unknown which of them failed.
        """
        build = build_of(test.config) if is_folder(test.nodeid) else ""
        is_unknown = is_folder(test.nodeid) and not build and not any_design
        if is_unknown and len(self.builds(test.nodeid, "", moment)) > 1:
            return []
        runs = self._db.execute(
            "SELECT r.id, r.moment, r.task_id, r.vcs_commit, r.edited FROM runs r"
            " WHERE r.vcs_commit IS NOT NULL AND (NOT r.dirty OR (:edited AND r.edited != '[]')) AND r.moment < :moment"
            " AND (EXISTS (SELECT 1 FROM suites s WHERE s.run = r.id)"
            "  OR EXISTS (SELECT 1 FROM passed_again p WHERE p.run = r.id)) ORDER BY r.moment DESC LIMIT :most",
            {"moment": moment, "most": LOOKED_BACK, "edited": edited},
        ).fetchall()
        found = []
        for run, when, task_id, commit, changed in runs:
            seeds = dict(self._seeds_of_passes(run, test, build))
            names = tuple(json.loads(changed))
            found += [Pass(when, task_id, commit, seed, seed_hash, names) for seed, seed_hash in seeds.items()]
        return found

    def built_before(self, test: Target, moment: str = EVER) -> list[Pass]:
        """Return the newest runs before a moment in which a test's design was built on its simulator, newest first.

        A run counts if a test inside the given test failed during the simulation, which shows that the build passed.
        If the build's parameters are on record, they must be the same.
        """
        rows = self._db.execute(
            "SELECT r.moment, r.task_id, r.vcs_commit, f.nodeid, o.error_class FROM failed f"
            " JOIN (SELECT id, moment, task_id, vcs_commit FROM runs WHERE vcs_commit IS NOT NULL AND NOT dirty"
            "  AND moment < :moment ORDER BY moment DESC LIMIT :most) r ON r.id = f.run"
            " JOIN occurrences o ON o.fingerprint = f.fingerprint AND o.moment = f.moment AND o.run = f.run"
            " WHERE f.simulator = :simulator AND f.config != '' AND substr(f.config, 1, length(:build)) = :build"
            " ORDER BY r.moment DESC",
            {"moment": moment, "most": LOOKED_BACK, "simulator": test.simulator, "build": build_of(test.config)},
        )
        found = []
        for (when, task_id, commit), failed in itertools.groupby(rows.fetchall(), key=lambda row: row[:3]):
            classes = {nodeid: error_class for *_, nodeid, error_class in failed}
            ran = (name for name, each in classes.items() if each in SIMULATION_CLASSES)
            if test.nodeid not in classes and any(test.nodeid in parents_of(name) for name in ran):
                found.append(Pass(when, task_id, commit, None))
        return found

    def _seeds_of_passes(self, run: int, test: Target, build: str) -> Iterator[tuple[str | None, str | None]]:
        """Yield seed and seed hash of each pass of a test in a run, on its simulator, in any configuration of a build.

        If a list of tests was run with several seeds, only the hashes are known.
        """
        again = self._db.execute(
            "SELECT seed FROM passed_again WHERE run = :run AND (:any OR simulator = :simulator)"
            " AND substr(config, 1, length(:build)) = :build"
            # The character after `:` is `;`.
            " AND (nodeid = :test OR nodeid > :test || '::' AND nodeid < :test || ':;')",
            {
                "run": run,
                "test": test.nodeid,
                "simulator": test.simulator,
                "build": build,
                "any": test.simulator == targets.ANY,
            },
        )
        yield from ((seed, store.seed_hash(seed)) for (seed,) in again.fetchall())
        rows = self._db.execute("SELECT run, suite, simulator, config, seed, marks FROM suites WHERE run = ?", (run,))
        for *listed, seed, hashes in rows.fetchall():
            row = SuiteOfRun(*listed)
            wild = test if test.simulator == targets.ANY else test._replace(config=row.config)
            passed = list(self._passed(row, [wild])) if row.config.startswith(build) else []
            if passed:
                of_tests = {self._seed_hash(row.suite, hashes, name) for name in passed}
                yield seed, None if None in of_tests else "".join(sorted(filter(None, of_tests)))

    def builds(self, folder: str, since: str, before: str) -> set[str]:
        """Return the builds, as `build_of` identifies them, that were made in a folder between two runs."""
        rows = self._db.execute(
            "SELECT DISTINCT suite, config FROM suites WHERE config != '' AND moment >= ? AND moment < ?",
            (since, before),
        )
        return {build_of(config) for suite, config in rows if self._in_suite(suite, folder) not in ([], [folder])} - {
            ""
        }

    def passed_since(self, tests: Sequence[Target], moment: str, before: str = EVER) -> bool:
        """Return whether, in some run from `moment` to `before`, at least one of the tests passed and none failed."""
        asked = targets.json_targets(tests)
        failed = (
            f"SELECT 1 FROM json_each(?) t JOIN failed f ON {meets('f')}"  # noqa: S608
            " AND f.run = (SELECT id FROM runs WHERE moment = ?) LIMIT 1"
        )
        return any(
            self._db.execute(failed, (asked, when)).fetchone() is None
            for when, *_ in self.passing_runs(tests, moment, before)
        )

    def _all_suites(self) -> Sequence[str]:
        """Return all lists of tests used by runs. There are few, because most runs have the same tests."""
        # The number alone is not enough: SQLite reuses the number of a removed run.
        newest = self._db.execute("SELECT id, task_id FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        if self._listed[0] != newest:
            # Steps from each list to the next: SELECT DISTINCT would read the rows of all runs.
            rows = self._db.execute(
                "WITH RECURSIVE lists (suite) AS (SELECT MIN(suite) FROM suites"
                " UNION ALL SELECT (SELECT MIN(suite) FROM suites WHERE suite > lists.suite) FROM lists"
                " WHERE lists.suite IS NOT NULL) SELECT suite,"
                " (SELECT MIN(moment) FROM suites s WHERE s.suite = lists.suite),"
                " (SELECT MAX(moment) FROM suites s WHERE s.suite = lists.suite) FROM lists WHERE suite IS NOT NULL"
            )
            self._spans = {suite: (first, last) for suite, first, last in rows}
            self._listed = (newest, list(self._spans))
        return self._listed[1]

    def _in_suite(self, suite: str, nodeid: str) -> list[str]:
        """Return the test itself or, if a list does not contain it, the tests inside it.

        A runner that failed to build is listed as a test; after a successful build, its cocotb tests are listed
        instead. The same applies to a module that could not be imported.
        """
        names = self._names(suite)
        place = bisect.bisect_left(names, nodeid)
        if names[place : place + 1] == [nodeid]:
            return [nodeid]
        # The character after `:` is `;`.
        inside = names[bisect.bisect_left(names, f"{nodeid}::") : bisect.bisect_left(names, f"{nodeid}:;")]
        if "::" in nodeid:
            return inside
        # The character after `/` is `0`.
        below = slice(bisect.bisect_left(names, f"{nodeid}/"), bisect.bisect_left(names, f"{nodeid}0"))
        return inside + of_folder(names if nodeid == "." else names[below], nodeid)

    def _names(self, suite: str) -> list[str]:
        """Return the tests of a list, sorted."""
        if suite not in self._suites:
            self._suites[suite] = sorted(store.read_suite(self._tasks, suite))
        return self._suites[suite]

    def passed(self, listed: SuiteOfRun, test: Target) -> bool:
        """Return whether a test passed in a list. A test that contains others passed if all of them passed."""
        return any(True for _ in self._passed(listed, [test]))

    def _passed(self, listed: SuiteOfRun, tests: Iterable[Target]) -> Iterator[str]:
        """Yield the given tests that passed in a list; of a test that contains others, yield these if all passed."""
        inside = {
            test: names
            for test in tests
            if test.is_met_by(listed.simulator, listed.config) and (names := self._in_suite(listed.suite, test.nodeid))
        }
        if not inside:
            return
        not_passed = self._not_passed(
            listed, {each for test, names in inside.items() for each in (test.nodeid, *names)}
        )
        for test, names in inside.items():
            # A module that could not be imported counts as fixed as soon as a test inside it runs.
            if not_passed.isdisjoint([test.nodeid] if test.simulator == targets.ANY else names):
                yield from names

    def _not_passed(self, listed: SuiteOfRun, names: Iterable[str]) -> set[str]:
        """Return those of the given tests that did not pass in the run of a list, for example because they failed.

        A list or a test without a simulator or configuration matches any.
        """
        rows = self._db.execute(
            "SELECT nodeid FROM failed WHERE run = :run AND nodeid IN (SELECT value FROM json_each(:names))"
            " AND (:simulator = '' OR simulator IN (:simulator, '*'))"
            " AND (:config = '' OR config = '*' OR substr(:config, 1, length(config)) = config)"
            " UNION SELECT nodeid FROM other WHERE run = :run AND nodeid IN (SELECT value FROM json_each(:names))"
            " AND (:simulator = '' OR simulator IN (:simulator, '')) AND (:config = '' OR config IN (:config, ''))",
            {"run": listed.run, "simulator": listed.simulator, "config": listed.config, "names": json_list(names)},
        )
        return {nodeid for (nodeid,) in rows}
