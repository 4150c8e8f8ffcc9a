"""The judged fixes of all causes, kept in the tables: the rate of a subtype is over every one of its causes."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.records import fixes, store
from pytest_dvwiki.records.chance import Rate
from pytest_dvwiki.records.tables import wanted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_LOOKED_BACK = 50
"""Runs that are asked for a test's last pass, or for the rate at which it failed."""
_states = msgspec.json.Decoder(list[fixes.FixState])
_PASSES = (
    "SELECT p.moment, p.nodeid, p.seed, p.failed_seed, r.task_id, r.finished FROM passed_again p"
    " JOIN runs r ON r.id = p.run WHERE p.fingerprint IN (SELECT value FROM json_each(?)) AND p.proof > 1"
)
_ROWS = (
    "SELECT f.moment, f.row, r.task_id, r.finished FROM fix_rows f JOIN runs r ON r.id = f.run"
    " WHERE f.fingerprint IN (SELECT value FROM json_each(?)) ORDER BY f.moment, f.number"
)


class Judge:
    """Applies the rules of `fixes` to the tables.

    Args:
        db: The tables.
        tasks: The folder of the records, for the lists of tests.
    """

    def __init__(self, db: sqlite3.Connection, tasks: Path) -> None:
        self._db = db
        self._tasks = tasks
        self._suites: dict[str, frozenset[str]] = {}
        self._listed: tuple[int | None, Sequence[str]] = (None, ())

    def update(self, fingerprints: Iterable[str] | None) -> set[str]:
        """Judges causes again.

        Args:
            fingerprints: Those with news; None for all.

        Returns:
            The causes, of these and of those with an open fix, that are judged otherwise than before.
        """
        before = self._kept()
        if fingerprints is None:
            self._db.execute("DELETE FROM fix_states")
            rows = self._db.execute(
                "SELECT fingerprint FROM passed_again"
                " UNION SELECT fingerprint FROM fix_rows WHERE fingerprint IS NOT NULL"
            )
            causes = {fingerprint for (fingerprint,) in rows}
        else:
            rows = self._db.execute("SELECT fingerprint FROM fix_states WHERE open > 0")
            causes = {*fingerprints, *(fingerprint for (fingerprint,) in rows)}
        for cause in sorted(causes):
            self._keep(cause, self.judge((cause,)))
        after = self._kept()
        return {cause for cause in before.keys() | after.keys() if before.get(cause) != after.get(cause)}

    def states(self, fingerprints: Sequence[str]) -> list[fixes.FixState]:
        """The fixes of a cause, oldest first; one that had other fingerprints is judged over all of them."""
        if len(fingerprints) > 1:
            return self.judge(fingerprints)
        row = self._db.execute("SELECT states FROM fix_states WHERE fingerprint = ?", tuple(fingerprints)).fetchone()
        return _states.decode(row[0]) if row else []

    def _kept(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT fingerprint, states FROM fix_states"))

    def _keep(self, fingerprint: str, states: list[fixes.FixState]) -> None:
        if not states:
            self._db.execute("DELETE FROM fix_states WHERE fingerprint = ?", (fingerprint,))
            return
        (subtype,) = self._db.execute(
            "SELECT subtype FROM occurrences WHERE fingerprint = ? ORDER BY moment DESC LIMIT 1",
            (fingerprint,),
        ).fetchone()
        held, failed = fixes.tally(states)
        self._db.execute(
            "INSERT OR REPLACE INTO fix_states VALUES (?, ?, ?, ?, ?, ?)",
            (
                fingerprint,
                subtype,
                held,
                failed,
                len(states) - held - failed,
                msgspec.json.encode(states).decode(),
            ),
        )

    def judge(self, fingerprints: Sequence[str]) -> list[fixes.FixState]:
        """Judges the fixes of one cause from the records alone, oldest first."""

        def returns(moment: str) -> tuple[str, str] | None:
            row = self._db.execute(
                "SELECT o.moment, r.finished FROM occurrences o JOIN runs r ON r.id = o.run"
                " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) AND o.moment > ?"
                " ORDER BY o.moment LIMIT 1",
                (wanted(fingerprints), moment),
            ).fetchone()
            return (row[0], row[1]) if row else None

        def failed_before(moment: str) -> list[str]:
            previous = self._previous(fingerprints, moment)
            rows = self._db.execute(
                "SELECT DISTINCT nodeid FROM failed WHERE run = ?"
                " AND fingerprint IN (SELECT value FROM json_each(?)) ORDER BY nodeid",
                (previous[0] if previous else None, wanted(fingerprints)),
            )
            return [nodeid for (nodeid,) in rows]

        def past(tests: Sequence[str], since: str, before: str, until: str | None) -> fixes.Past:
            rate = self._rate(fingerprints, tests, since, before)
            return fixes.Past(rate=rate, comes_and_goes=self._comes_and_goes(fingerprints, tests, since, until))

        return fixes.judge(self._steps(fingerprints), returns, failed_before, past, self._passing_runs)

    def _previous(self, fingerprints: Sequence[str], moment: str) -> tuple[int, str] | None:
        """Run and moment of the last occurrence up to a moment."""
        row: tuple[int, str] | None = self._db.execute(
            "SELECT run, moment FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " AND moment <= ? ORDER BY moment DESC LIMIT 1",
            (wanted(fingerprints), moment),
        ).fetchone()
        return row

    def _steps(self, fingerprints: Sequence[str]) -> list[fixes.Step]:
        asked = (wanted(fingerprints),)
        steps = []
        for moment, nodeid, seed, failed_seed, task_id, finished in self._db.execute(_PASSES, asked).fetchall():
            previous = self._previous(fingerprints, moment)
            if previous is not None and previous[1] != moment:
                seeds = {"seed": seed, "failed_seed": failed_seed}
                steps.append(fixes.Step(moment=moment, task_id=task_id, date=finished, nodeid=nodeid, **seeds))
        for moment, row, task_id, finished in self._db.execute(_ROWS, asked).fetchall():
            if self._previous(fingerprints, moment) is not None:
                fix = fixes.stated_fix(json.loads(row), finished)
                steps.append(fixes.Step(moment=moment, task_id=task_id, date=finished, fix=fix))
        return sorted(steps, key=lambda step: (step.moment, step.nodeid or ""))

    def _passing_runs(self, tests: Sequence[str], since: str, before: str | None, most: int) -> list[str]:
        """The first runs from a moment on and before another, so many at most, that passed one of the tests."""
        runs = self._db.execute(
            "SELECT id, task_id, suite, EXISTS (SELECT 1 FROM passed_again p WHERE p.run = runs.id"
            " AND p.nodeid IN (SELECT value FROM json_each(?))) AS again FROM runs"
            " WHERE moment >= ? AND moment < ? AND (suite IS NOT NULL OR again) ORDER BY moment",
            (wanted(tests), since, before or "~"),
        )
        passing = (
            task_id
            for run, task_id, suite, again in runs
            if again or any(self._passed(run, suite, test) for test in tests)
        )
        return list(itertools.islice(passing, most))

    def _rate(self, fingerprints: Sequence[str], tests: Sequence[str], since: str, before: str) -> Rate:
        """In how many of the newest runs between two moments that are known to have run tests these failed."""
        runs = self._db.execute(
            "SELECT id, suite, EXISTS (SELECT 1 FROM failed f WHERE f.run = runs.id"
            " AND f.nodeid IN (SELECT value FROM json_each(:tests))"
            " AND f.fingerprint IN (SELECT value FROM json_each(:causes))) AS failing,"
            " EXISTS (SELECT 1 FROM passed_again p WHERE p.run = runs.id"
            " AND p.nodeid IN (SELECT value FROM json_each(:tests))) AS again FROM runs"
            " WHERE moment >= :since AND moment < :before AND (suite IS NOT NULL OR failing OR again)"
            " ORDER BY moment DESC LIMIT :most",
            {
                "causes": wanted(fingerprints),
                "tests": wanted(tests),
                "since": since,
                "before": before,
                "most": _LOOKED_BACK,
            },
        ).fetchall()
        failed = sum(failing for *_, failing, _ in runs)
        passed = sum(
            not failing and bool(again or any(self._passed(run, suite, test) for test in tests))
            for run, suite, failing, again in runs
        )
        return Rate(failed=failed, runs=failed + passed)

    def _comes_and_goes(self, fingerprints: Sequence[str], tests: Sequence[str], since: str, until: str | None) -> bool:
        """Whether one of the tests failed and passed with the same sources and seed, if only in one run's attempts."""
        found = self._db.execute(
            "SELECT 1 FROM passed_again WHERE fingerprint IN (SELECT value FROM json_each(:causes))"
            " AND nodeid IN (SELECT value FROM json_each(:tests)) AND changed = 'nothing'"
            " AND moment >= :since AND moment < :until"
            " UNION ALL SELECT 1 FROM other o JOIN runs r ON r.id = o.run WHERE o.outcome = 'flaky'"
            " AND o.nodeid IN (SELECT value FROM json_each(:tests)) AND r.moment >= :since AND r.moment < :until"
            " LIMIT 1",
            {"causes": wanted(fingerprints), "tests": wanted(tests), "since": since, "until": until or "~"},
        ).fetchone()
        return found is not None

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
            {"test": nodeid, "most": _LOOKED_BACK},
        )
        for run, suite, commit, again in runs.fetchall():
            if again or self._passed(run, suite, nodeid):
                return str(commit)
        return None

    def _meant(self, suite: str, nodeid: str) -> list[str]:
        """The test itself, or those inside it, as far as a list has them.

        A runner that failed in its build is a test itself; later its cocotb tests stand for it.
        """
        names = self._names(suite)
        return [nodeid] if nodeid in names else [name for name in names if name.startswith(f"{nodeid}::")]

    def _names(self, suite: str) -> frozenset[str]:
        if suite not in self._suites:
            self._suites[suite] = frozenset(store.read_suite(self._tasks, suite))
        return self._suites[suite]

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
        return any(again or any(self._passed(run, suite, test) for test in tests) for run, suite, again in runs)

    def _all_suites(self) -> Sequence[str]:
        """All lists of tests that runs name; there are few of them, and few runs bring a new one."""
        (newest,) = self._db.execute("SELECT MAX(id) FROM runs").fetchone()
        if self._listed[0] != newest:
            rows = self._db.execute("SELECT DISTINCT suite FROM runs WHERE suite IS NOT NULL ORDER BY suite")
            self._listed = (newest, [suite for (suite,) in rows])
        return self._listed[1]

    def _passed(self, run: int, suite: str, test: str) -> bool:
        names = self._meant(suite, test)
        query = (
            "SELECT 1 FROM failed WHERE run = :run AND nodeid IN (SELECT value FROM json_each(:names))"
            " UNION SELECT 1 FROM other WHERE run = :run AND nodeid IN (SELECT value FROM json_each(:names))"
        )
        return bool(names) and self._db.execute(query, {"run": run, "names": wanted(names)}).fetchone() is None
