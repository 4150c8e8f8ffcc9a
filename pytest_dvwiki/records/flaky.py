"""Flaky tests, which failed and then passed in one run: their causes and rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pytest_dvwiki.model import Attempt
from pytest_dvwiki.model.archive import is_by_infrastructure
from pytest_dvwiki.records.overview import NOT_INFRASTRUCTURE, ran
from pytest_dvwiki.records.tables import json_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_dvwiki.records.archive import Archive

RUNS = 100
"""Number of newest runs considered."""
_attempts = msgspec.json.Decoder(tuple[Attempt, ...])
_OF_RUNS = "run IN (SELECT CAST(value AS INTEGER) FROM json_each(:runs))"
_FLAKY = f"""
SELECT nodeid, run, finished, attempts FROM other JOIN runs ON runs.id = other.run
WHERE outcome = 'flaky' AND {_OF_RUNS} ORDER BY moment, nodeid"""  # noqa: S608 (constants)
_OF_TESTS = "nodeid IN (SELECT value FROM json_each(:tests))"


class FlakyTest(NamedTuple):
    """A test, with its flaky runs among the newest ones."""

    nodeid: str
    flaky: int
    """Number of the newest runs in which the test was flaky."""
    runs: int
    """Number of the newest runs in which the test is known to have run."""
    last: str
    """When the test was last flaky; empty if it never was."""
    failures: tuple[tuple[int, Attempt], ...]
    """The test's failed attempts, each with the row id of its run, oldest first."""

    @property
    def rate(self) -> float:
        """Return the share of the test's runs that were flaky."""
        return self.flaky / self.runs if self.runs else 0.0


def flaky_tests(archive: Archive, names: Collection[str] = (), runs: int = RUNS) -> list[FlakyTest]:
    """Return the tests that were flaky in the newest runs, most flaky runs first.

    Args:
        archive: The records.
        names: Return exactly these tests, flaky or not; without names, every flaky test.
        runs: Number of newest runs to consider.
    """
    newest = archive.db.execute("SELECT id FROM runs ORDER BY moment DESC LIMIT ?", (runs,))
    parameters = {"runs": json_list(str(run) for (run,) in newest)}
    found: dict[str, list[tuple[int, str, str | None]]] = {name: [] for name in names}
    for nodeid, run, finished, attempts in archive.db.execute(_FLAKY, parameters):
        if (not names or nodeid in names) and not is_by_infrastructure(_attempts.decode(attempts or "[]")):
            found.setdefault(nodeid, []).append((run, finished, attempts))
    ran_in = _runs_of(archive, parameters | {"tests": json_list(found)}) if found else {}
    return sorted(
        (
            FlakyTest(
                nodeid=nodeid,
                flaky=len({run for run, *_ in rows}),
                runs=len(ran_in[nodeid]),
                last=rows[-1][1] if rows else "",
                failures=tuple(
                    (run, each)
                    for run, _, attempts in rows
                    for each in (_attempts.decode(attempts) if attempts else ())
                    if each.outcome != "passed"
                ),
            )
            for nodeid, rows in found.items()
        ),
        key=lambda test: (-test.flaky, -test.rate, test.nodeid),
    )


def _runs_of(archive: Archive, parameters: dict[str, str]) -> dict[str, set[int]]:
    """Map each test to the runs in which it is known to have run."""
    tests = archive.db.execute("SELECT value FROM json_each(:tests)", parameters)
    found: dict[str, set[int]] = {nodeid: set() for (nodeid,) in tests}
    for run, names in ran(archive, parameters["runs"], found.keys()).items():
        for nodeid in names:
            found[nodeid].add(run)
    for nodeid, run, outcome in archive.db.execute(
        f"SELECT nodeid, run, outcome FROM other WHERE {_OF_RUNS} AND {_OF_TESTS}"  # noqa: S608 (constants)
        f" UNION SELECT nodeid, run, CASE WHEN {NOT_INFRASTRUCTURE} THEN 'failed' ELSE 'infrastructure' END"
        f" FROM failed WHERE {_OF_RUNS} AND {_OF_TESTS} ORDER BY 3 DESC",
        parameters,
    ):
        # A test that was skipped on one simulator, or got no licence, may have run on another one.
        (found[nodeid].discard if outcome in {"skipped", "infrastructure"} else found[nodeid].add)(run)
    return found
