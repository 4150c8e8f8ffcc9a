"""Which tests passed in which runs: a list of tests says what ran, and the record what of it did not simply pass."""

from __future__ import annotations

import bisect
import heapq
import json
from typing import TYPE_CHECKING

from pytest_dvwiki.records import store
from pytest_dvwiki.records.tables import wanted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import RunRecord

LOOKED_BACK = 50
"""Runs that are asked for a test's last pass, or for the rate at which it failed."""


class Passes:
    """The passes on record.

    Args:
        db: The tables.
        tasks: The folder of the records, for the lists of tests.
    """

    def __init__(self, db: sqlite3.Connection, tasks: Path) -> None:
        self._db = db
        self._tasks = tasks
        self._suites: dict[str, list[str]] = {}
        self._listed: tuple[tuple[int, str, str | None] | None, Sequence[str]] = (None, ())
        self._having: tuple[Sequence[str], dict[str, list[str]]] = ((), {})

    def ran(self, runs: Iterable[RunRecord]) -> set[str]:
        """The tests that are known to have run in runs, and the runners that tests of theirs ran inside."""
        names = {row.nodeid for run in runs for row in run.passed_again}
        for suite in {run.suite for run in runs if run.suite}:
            names.update(self._names(suite))
        # A runner that failed in its build is a test itself; later its cocotb tests stand for it.
        return names | {name.rpartition("::")[0] for name in names}

    def passing_runs(self, tests: Sequence[str], since: str, before: str) -> Iterator[tuple[str, str, str | None]]:
        """The runs from a moment on and before another that passed one of the tests: moment, task id, branch."""
        again = self._db.execute(
            "SELECT DISTINCT r.moment, r.task_id, r.branch, r.id, '' FROM passed_again p JOIN runs r ON r.id = p.run"
            " WHERE p.nodeid IN (SELECT value FROM json_each(?)) AND p.moment >= ? AND p.moment < ? ORDER BY r.moment",
            (wanted(tests), since, before),
        )
        suites = sorted({suite for test in tests for suite in self._suites_having(test)})
        listed = self._db.execute(
            "SELECT moment, task_id, branch, id, suite FROM runs INDEXED BY runs_by_moment"
            " WHERE moment >= ? AND moment < ? AND suite IN (SELECT value FROM json_each(?)) ORDER BY moment",
            (since, before, wanted(suites)),
        )
        newest = ""
        for moment, task_id, branch, run, suite in heapq.merge(again, listed if suites else ()):
            if moment != newest and (not suite or any(self.passed(run, suite, test) for test in tests)):
                newest = moment
                yield moment, task_id, branch

    def _suites_having(self, test: str) -> list[str]:
        """The lists of tests that name a test, or one inside it."""
        suites = self._all_suites()
        if self._having[0] is not suites:
            self._having = (suites, {})
        having = self._having[1]
        if test not in having:
            having[test] = [suite for suite in suites if self._meant(suite, test)]
        return having[test]

    def last_pass(self, nodeid: str) -> str | None:
        """The commit of the newest run in which a test, or one inside a runner, is known to have passed.

        A run with uncommitted changes tells nothing, since nobody knows what they were; nor do runs long ago.
        """
        runs = self._db.execute(
            "SELECT id, suite, vcs_commit, EXISTS (SELECT 1 FROM passed_again p WHERE p.run = runs.id"
            # The character after `:` is `;`.
            " AND (p.nodeid = :test OR p.nodeid > :test || '::' AND p.nodeid < :test || ':;')) AS again FROM runs"
            " WHERE vcs_commit IS NOT NULL AND NOT dirty AND (suite IS NOT NULL OR again)"
            " ORDER BY moment DESC LIMIT :most",
            {"test": nodeid, "most": LOOKED_BACK},
        )
        for run, suite, commit, again in runs.fetchall():
            if again or self.passed(run, suite, nodeid):
                return str(commit)
        return None

    def passed_since(self, tests: Sequence[str], moment: str) -> bool:
        """Whether a run from a moment on is known to have passed one of the tests and failed none."""
        suites = [suite for suite in self._all_suites() if any(self._meant(suite, test) for test in tests)]
        runs = self._db.execute(
            "SELECT id, suite, EXISTS (SELECT 1 FROM passed_again p WHERE p.run = runs.id"
            " AND p.nodeid IN (SELECT value FROM json_each(:tests))) AS again FROM runs"
            " WHERE moment >= :moment AND (again OR suite IN (SELECT value FROM json_each(:suites)))"
            " AND NOT EXISTS (SELECT 1 FROM failed f"
            " WHERE f.run = runs.id AND f.nodeid IN (SELECT value FROM json_each(:tests))) ORDER BY moment",
            {"tests": wanted(tests), "moment": moment, "suites": wanted(suites)},
        )
        return any(again or any(self.passed(run, suite, test) for test in tests) for run, suite, again in runs)

    def _all_suites(self) -> Sequence[str]:
        """All lists of tests that runs name; there are few of them, and few runs bring a new one."""
        # Its number alone would not do: that of a run that is taken away goes to the next one.
        newest = self._db.execute("SELECT id, task_id, suite FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        if self._listed[0] != newest:
            # From each list to the next one: what all runs name would be read otherwise.
            rows = self._db.execute(
                "WITH RECURSIVE lists (suite) AS (SELECT MIN(suite) FROM runs"
                " UNION ALL SELECT (SELECT MIN(suite) FROM runs WHERE suite > lists.suite) FROM lists"
                " WHERE lists.suite IS NOT NULL) SELECT suite FROM lists WHERE suite IS NOT NULL"
            )
            self._listed = (newest, [suite for (suite,) in rows])
        return self._listed[1]

    def _meant(self, suite: str, nodeid: str) -> list[str]:
        """The test itself, or those inside it, as far as a list has them.

        A runner that failed in its build is a test itself; later its cocotb tests stand for it.
        """
        names = self._names(suite)
        place = bisect.bisect_left(names, nodeid)
        if names[place : place + 1] == [nodeid]:
            return [nodeid]
        # The character after `:` is `;`.
        return names[bisect.bisect_left(names, f"{nodeid}::") : bisect.bisect_left(names, f"{nodeid}:;")]

    def _names(self, suite: str) -> list[str]:
        """The tests of a list, in order."""
        if suite not in self._suites:
            self._suites[suite] = sorted(store.read_suite(self._tasks, suite))
        return self._suites[suite]

    def passed(self, run: int, suite: str, test: str) -> bool:
        """Whether a test, or all that ran of those inside it, passed in a run with that list of tests."""
        return bool(self.passed_in([(run, suite)], [test]))

    def passed_in(self, runs: Sequence[tuple[int, str]], tests: Sequence[str]) -> set[int]:
        """Of runs, each with its list of tests, those that passed one of the tests, or all inside it that ran."""
        found: set[int] = set()
        for test in tests:
            asked: dict[tuple[str, ...], list[int]] = {}
            for run, suite in runs:
                if names := self._meant(suite, test):
                    asked.setdefault(tuple(names), []).append(run)
            for names_of, those in asked.items():
                found |= set(those) - self._not_passed(those, names_of)
        return found

    def _not_passed(self, runs: Sequence[int], names: Sequence[str]) -> set[int]:
        """Of runs those in which one of the tests did not simply pass."""
        rows = self._db.execute(
            "SELECT run FROM failed WHERE run IN (SELECT value FROM json_each(:runs))"
            " AND nodeid IN (SELECT value FROM json_each(:names))"
            " UNION SELECT run FROM other WHERE run IN (SELECT value FROM json_each(:runs))"
            " AND nodeid IN (SELECT value FROM json_each(:names))",
            {"runs": json.dumps(runs), "names": wanted(names)},
        )
        return {run for (run,) in rows}
