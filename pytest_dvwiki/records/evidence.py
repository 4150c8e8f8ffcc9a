"""What the tables say of one cause, as far as its fixes are judged by it."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

from pytest_dvwiki.records import fixes
from pytest_dvwiki.records.chance import Rate
from pytest_dvwiki.records.passes import LOOKED_BACK
from pytest_dvwiki.records.tables import wanted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from pytest_dvwiki.records.passes import Passes

_MOST_OTHERS = 50
"""Further tests of a cause that are asked after."""
_PASSES = (
    "SELECT p.moment, p.nodeid, p.seed, p.failed_seed, r.task_id, r.finished FROM passed_again p"
    " JOIN runs r ON r.id = p.run WHERE p.fingerprint IN (SELECT value FROM json_each(?)) AND p.proof > 1"
)
_ROWS = (
    "SELECT f.moment, r.task_id, r.finished, f.row FROM fix_rows f JOIN runs r ON r.id = f.run"
    " WHERE f.fingerprint IN (SELECT value FROM json_each(?)) ORDER BY f.moment, f.number"
)


def stated(db: sqlite3.Connection, causes: Sequence[str]) -> list[fixes.Step]:
    """The rows that say how a cause was fixed, in order of their runs, without those that were taken back.

    Args:
        db: The tables.
        causes: What the cause is called, and was before.
    """
    found = [(*rest, json.loads(row)) for *rest, row in db.execute(_ROWS, (wanted(causes),))]
    taken_back = {row.get(fixes.TAKES_BACK) for *_, row in found}
    return [
        fixes.Step(moment=moment, task_id=task_id, date=finished, fix=fixes.stated_fix(row, finished))
        for moment, task_id, finished, row in found
        if task_id not in taken_back and fixes.TAKES_BACK not in row
    ]


class Evidence:
    """The `fixes.Evidence` of one cause.

    Args:
        db: The tables.
        passes: Which tests passed.
        fingerprints: What the cause is called, and was before.
    """

    def __init__(self, db: sqlite3.Connection, passes: Passes, fingerprints: Sequence[str]) -> None:
        self._db = db
        self._passes = passes
        self._causes = fingerprints

    def returns(self, moment: str) -> tuple[str, str] | None:
        """Moment and time of the first occurrence after a moment, None where the cause has not returned."""
        row = self._db.execute(
            "SELECT o.moment, r.finished FROM occurrences o JOIN runs r ON r.id = o.run"
            " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) AND o.moment > ?"
            " AND NOT o.without_fix ORDER BY o.moment LIMIT 1",
            (wanted(self._causes), moment),
        ).fetchone()
        return (row[0], row[1]) if row else None

    def failed_before(self, moment: str) -> list[str]:
        """Tests that failed with the cause in the last occurrence before a moment."""
        previous = self._previous(moment)
        rows = self._db.execute(
            "SELECT DISTINCT nodeid FROM failed WHERE run = ?"
            " AND fingerprint IN (SELECT value FROM json_each(?)) ORDER BY nodeid",
            (previous[0] if previous else None, wanted(self._causes)),
        )
        return [nodeid for (nodeid,) in rows]

    def _previous(self, moment: str) -> tuple[int, str] | None:
        """Run and moment of the last occurrence up to a moment."""
        row: tuple[int, str] | None = self._db.execute(
            "SELECT run, moment FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " AND moment <= ? ORDER BY moment DESC LIMIT 1",
            (wanted(self._causes), moment),
        ).fetchone()
        return row

    def steps(self) -> list[fixes.Step]:
        """What tells of its fixes, in order of the runs."""
        asked = (wanted(self._causes),)
        steps = []
        for moment, nodeid, seed, failed_seed, task_id, finished in self._db.execute(_PASSES, asked).fetchall():
            previous = self._previous(moment)
            if previous is not None and previous[1] != moment:
                seeds = {"seed": seed, "failed_seed": failed_seed}
                steps.append(fixes.Step(moment=moment, task_id=task_id, date=finished, nodeid=nodeid, **seeds))
        steps += [step for step in stated(self._db, self._causes) if self._previous(step.moment) is not None]
        return sorted(steps, key=lambda step: (step.moment, step.nodeid or ""))

    def passing_runs(self, tests: Sequence[str], since: str, before: str | None, most: int) -> list[fixes.PassingRun]:
        """The first runs from a moment on and before another, so many at most, that passed one of the tests."""
        runs = itertools.islice(self._passes.passing_runs(tests, since, before or "~"), most)
        return [fixes.PassingRun(task_id=task_id, moment=moment, branch=branch) for moment, task_id, branch in runs]

    def rate(self, tests: Sequence[str], since: str, before: str) -> Rate:
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
                "causes": wanted(self._causes),
                "tests": wanted(tests),
                "since": since,
                "before": before,
                "most": LOOKED_BACK,
            },
        ).fetchall()
        failed = sum(failing for *_, failing, _ in runs)
        listed = self._passes.passed_in([(run, suite) for run, suite, *_ in runs if suite is not None], tests)
        passed = sum(not failing and bool(again or run in listed) for run, _, failing, again in runs)
        return Rate(failed=failed, runs=failed + passed)

    def comes_and_goes(self, tests: Sequence[str], since: str, before: str) -> bool:
        """Whether one of the tests failed and passed with the same sources and seed, if only in one run's attempts."""
        found = self._db.execute(
            "SELECT 1 FROM passed_again WHERE fingerprint IN (SELECT value FROM json_each(:causes))"
            " AND nodeid IN (SELECT value FROM json_each(:tests)) AND changed = 'nothing'"
            " AND moment >= :since AND moment < :before"
            " UNION ALL SELECT 1 FROM other o JOIN runs r ON r.id = o.run WHERE o.outcome = 'flaky'"
            " AND o.nodeid IN (SELECT value FROM json_each(:tests)) AND r.moment >= :since AND r.moment < :before"
            " LIMIT 1",
            {"causes": wanted(self._causes), "tests": wanted(tests), "since": since, "before": before},
        ).fetchone()
        return found is not None

    def others(self, tests: Sequence[str], runs: Sequence[fixes.PassingRun]) -> tuple[int, int]:
        """How many further tests failed with a cause before some runs, and how many of them passed in these."""
        if not runs:
            return 0, 0
        rows = self._db.execute(
            "SELECT DISTINCT f.nodeid FROM occurrences o"
            " JOIN failed f ON f.run = o.run AND f.fingerprint = o.fingerprint"
            " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) AND o.moment < ?"
            " AND f.nodeid NOT IN (SELECT value FROM json_each(?)) ORDER BY f.nodeid LIMIT ?",
            (wanted(self._causes), runs[0].moment, wanted(tests), _MOST_OTHERS),
        )
        names = [nodeid for (nodeid,) in rows]
        passed = sum(bool(self.passing_runs([name], runs[0].moment, f"{runs[-1].moment}~", 1)) for name in names)
        return len(names), passed
