"""Statistics over all runs: totals, causes per run, failures per test, and the time spent on failing tests."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from pytest_dvwiki.model import Totals, Waived
from pytest_dvwiki.records import store
from pytest_dvwiki.records.kinds import INFRASTRUCTURE_PATTERNS, INFRASTRUCTURE_SUBTYPES
from pytest_dvwiki.records.tables import json_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Literal

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.records.archive import Archive

    Word = Literal["NEW", "REGRESSED", "KNOWN", "WAIVED"]

_totals = msgspec.json.Decoder(Totals)


def name_of(task_id: str) -> str:
    """Return the name of the regression that a run belongs to: the task id without time and number."""
    return task_id.rsplit("_", 2)[0]


def runs_since(archive: Archive, since: str) -> int:
    """Return the number of runs that finished since the given time and ran tests."""
    (count,) = archive.db.execute(
        "SELECT COUNT(*) FROM runs WHERE moment >= ? AND (totals != ? OR id IN (SELECT run FROM occurrences))",
        (since, msgspec.json.encode(Totals()).decode()),
    ).fetchone()
    return int(count)


def newest_run(archive: Archive) -> RunRecord | None:
    """Return the newest run that ran a test; records with statements only are skipped."""
    names = archive.db.execute("SELECT task_id FROM runs ORDER BY moment DESC")
    records = (archive.record(name) for (name,) in names)
    return next((each for each in records if each and (each.occurrences or each.totals != Totals())), None)


def causes_since(archive: Archive, since: str) -> list[str]:
    """Return the causes that made tests fail since the given time, or whose newest fix started or held since then."""
    rows = archive.db.execute(
        "SELECT fingerprint FROM causes WHERE newest >= :since"
        " UNION SELECT fingerprint FROM fix_states"
        " WHERE newest >= :since OR (until >= :since AND until NOT LIKE '%~') ORDER BY fingerprint",
        {"since": since},
    )
    return [name for (name,) in rows]


def totals_before(archive: Archive, task_id: str) -> Totals | None:
    """Return the totals of the previous run of the same regression; None if there is no such run with tests."""
    rows = archive.db.execute(
        "SELECT totals FROM runs WHERE moment < (SELECT moment FROM runs WHERE task_id = :run)"
        " AND substr(task_id, 1, length(:name)) = :name ORDER BY moment DESC",
        {"run": task_id, "name": f"{name_of(task_id)}_"},
    )
    found = (_totals.decode(totals) for (totals,) in rows)
    return next((totals for totals in found if totals != Totals()), None)


class CauseInRun(NamedTuple):
    """A cause in one run, with the number and run time of its failing tests."""

    run: int
    fingerprint: str
    tests: int
    """Number of failing tests."""
    seconds: float
    """Run time of the failing tests in seconds."""
    regressed: bool
    waived: bool
    """Whether all failures of the cause are waived."""


class RunRow(Struct, frozen=True, kw_only=True):
    """A run, without its failures."""

    number: int
    task_id: str
    finished: str
    commit: str
    branch: str
    dirty: bool
    simulators: str
    totals: Totals

    @property
    def name(self) -> str:
        """Return the name of the regression, without time and number."""
        return name_of(self.task_id)

    @property
    def passed(self) -> int:
        """Return the number of tests that passed, including flaky tests."""
        return self.totals.passed + self.totals.flaky

    @property
    def ended(self) -> int:
        """Return the number of tests that passed or failed.

        Skipped tests, expected failures, and tests that failed only because of infrastructure are left out.
        """
        totals = self.totals
        return self.passed + totals.failed + totals.errors + totals.waived - totals.infrastructure

    @property
    def is_failure_free(self) -> bool:
        """Return whether tests passed and every failure, if any, is waived."""
        return self.passed > 0 and not (self.totals.failed or self.totals.errors)


def runs(archive: Archive) -> list[RunRow]:
    """Return all runs, oldest first."""
    rows = archive.db.execute(
        "SELECT id, task_id, finished, vcs_commit, branch, dirty, simulators, totals FROM runs ORDER BY moment"
    )
    return [
        RunRow(
            number=number,
            task_id=task_id,
            finished=finished,
            commit=commit or "",
            branch=branch or "",
            dirty=bool(dirty),
            simulators=simulators,
            totals=_totals.decode(totals),
        )
        for number, task_id, finished, commit, branch, dirty, simulators, totals in rows
    ]


def causes_in(archive: Archive) -> list[CauseInRun]:
    """Return every cause of every run, oldest run first."""
    waived = set(_all_waived(archive))
    rows = archive.db.execute(
        "SELECT run, fingerprint, tests, seconds, regressed AND NOT without_fix FROM occurrences ORDER BY moment"
    )
    return [
        CauseInRun(run, fingerprint, tests, seconds, bool(regressed), (run, fingerprint) in waived)
        for run, fingerprint, tests, seconds, regressed in rows
    ]


def not_always_waived(archive: Archive, causes: Collection[str]) -> set[str]:
    """Return the given causes that have a run in which a failing test was not waived."""
    if not causes:
        return set()
    rows = archive.db.execute(
        "SELECT run, fingerprint FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))",
        (json_list(causes),),
    ).fetchall()
    waived = set(_all_waived(archive, causes))
    return {fingerprint for run, fingerprint in rows if (run, fingerprint) not in waived}


def _all_waived(archive: Archive, causes: Collection[str] | None = None) -> Iterator[tuple[int, str]]:
    """Yield each pair of run and cause in which every failing test is waived; with `causes`, only pairs with these."""
    rows = archive.db.execute(
        "SELECT run, fingerprint, row FROM waived"
        " WHERE :every OR fingerprint IN (SELECT value FROM json_each(:causes)) ORDER BY run, fingerprint",
        {"every": causes is None, "causes": json_list(causes or ())},
    ).fetchall()
    for key, group in itertools.groupby(rows, key=lambda row: (row[0], row[1])):
        accepted = {test for *_, row in group for test in msgspec.json.decode(row, type=Waived).tests}
        failed = archive.db.execute("SELECT DISTINCT nodeid FROM failed WHERE run = ? AND fingerprint = ?", key)
        if {nodeid for (nodeid,) in failed} <= accepted:
            yield key


def _listed(names: Iterable[str]) -> str:
    return "({})".format(", ".join(f"'{name}'" for name in sorted(names)))


NOT_INFRASTRUCTURE = (
    "fingerprint NOT IN (SELECT o.fingerprint FROM occurrences o WHERE o.error_class = 'tool_error'"  # noqa: S608
    f" AND (o.subtype IN {_listed(INFRASTRUCTURE_SUBTYPES)} OR o.pattern IN {_listed(INFRASTRUCTURE_PATTERNS)}))"
)
"""SQL condition for failures that do not come from infrastructure."""
State = str
"""`F` failed, `W` failed and waived, `K` flaky, `X` failed as expected, `S` skipped, `.` passed; empty if unknown."""
_STATES = {"flaky": "K", "waived": "W", "xfailed": "X", "skipped": "S"}


class TestRow(Struct, frozen=True):
    """A test with its failures and states in the newest runs."""

    nodeid: str
    failures: int
    """Number of runs in which the test failed."""
    states: tuple[State, ...]
    """The state in each run, in the order of the runs."""
    causes: tuple[str, ...]
    """The causes of the test's failures, most frequent first."""


def tests_by_runs(archive: Archive, shown: Sequence[RunRow], most: int) -> list[TestRow]:
    """Return the tests that failed most often in the given runs, with their state in each run.

    Failures that come from infrastructure do not count.
    """
    run_numbers = json_list(str(row.number) for row in shown)
    of_runs = "run IN (SELECT CAST(value AS INTEGER) FROM json_each(?))"
    failed: dict[str, dict[int, set[str]]] = {}
    for nodeid, run, fingerprint in archive.db.execute(
        f"SELECT nodeid, run, fingerprint FROM failed WHERE {of_runs} AND {NOT_INFRASTRUCTURE}",  # noqa: S608 (constants)
        (run_numbers,),
    ):
        failed.setdefault(nodeid, {}).setdefault(run, set()).add(fingerprint)
    chosen = sorted(failed, key=lambda nodeid: (-len(failed[nodeid]), nodeid))[:most]
    other: dict[tuple[str, int], str] = {
        (nodeid, run): _STATES[outcome]
        for nodeid, run, outcome in archive.db.execute(
            f"SELECT nodeid, run, outcome FROM other WHERE {of_runs}"  # noqa: S608 (constants)
            " AND nodeid IN (SELECT value FROM json_each(?))",
            (run_numbers, json_list(chosen)),
        )
        if outcome in _STATES
    }
    ran_in = ran(archive, run_numbers, chosen)

    def state(nodeid: str, run: int) -> State:
        found = other.get((nodeid, run), "")
        if run in failed[nodeid]:
            return "W" if found == "W" else "F"
        return found or ("." if nodeid in ran_in.get(run, ()) else "")

    return [
        TestRow(
            nodeid,
            len(failed[nodeid]),
            tuple(state(nodeid, row.number) for row in shown),
            _most_first(itertools.chain.from_iterable(failed[nodeid].values())),
        )
        for nodeid in chosen
    ]


def _most_first(names: Iterable[str]) -> tuple[str, ...]:
    counts = Counter(names)
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))


def ran(archive: Archive, run_numbers: str, tests: Iterable[str]) -> dict[int, set[str]]:
    """Return which of the given tests ran in each run, according to its lists of tests.

    Args:
        archive: The records.
        run_numbers: The row ids of the runs, as a JSON list.
        tests: The tests.
    """
    tests = set(tests)
    lists: dict[str, set[str]] = {}
    ran: dict[int, set[str]] = {}
    for run, suite in archive.db.execute(
        "SELECT run, suite FROM suites WHERE run IN (SELECT CAST(value AS INTEGER) FROM json_each(?))", (run_numbers,)
    ):
        if suite not in lists:
            lists[suite] = tests.intersection(store.read_suite(archive.tasks, suite))
        ran.setdefault(run, set()).update(lists[suite])
    return ran


class FailedInPeriod(NamedTuple):
    """A test that failed in a period of time, with the number of its failing runs and their causes."""

    nodeid: str
    runs: int
    causes: tuple[str, ...]


def failing_tests(archive: Archive, first: str, last: str) -> list[FailedInPeriod]:
    """Return the tests that failed between two runs, most failing runs first; infrastructure does not count."""
    of_period = (
        f"FROM runs r JOIN failed f ON f.run = r.id WHERE r.moment >= ? AND r.moment < ? AND {NOT_INFRASTRUCTURE}"
    )
    causes: dict[str, list[str]] = {}
    for nodeid, fingerprint in archive.db.execute(
        f"SELECT f.nodeid, f.fingerprint {of_period} GROUP BY 1, 2 ORDER BY COUNT(DISTINCT f.run) DESC, 2",
        (first, last),
    ):
        causes.setdefault(nodeid, []).append(fingerprint)
    rows = archive.db.execute(
        f"SELECT f.nodeid, COUNT(DISTINCT f.run) {of_period} GROUP BY 1 ORDER BY 2 DESC, 1",
        (first, last),
    )
    return [FailedInPeriod(nodeid, count, tuple(causes[nodeid])) for nodeid, count in rows]


def content(archive: Archive) -> dict[str, str]:
    """Map each cause to a string that changes whenever the cause's history changes."""
    parts: dict[str, list[str]] = {}
    for query in (
        "SELECT fingerprint, COUNT(*), SUM(tests), MAX(moment), SUM(regressed) FROM occurrences GROUP BY 1",
        "SELECT fingerprint, states FROM fix_states",
        "SELECT fingerprint, COUNT(*), MAX(moment) FROM passed_again GROUP BY 1",
        "SELECT fingerprint, COUNT(*), MAX(moment) FROM first_bad GROUP BY 1",
        "SELECT fingerprint, COUNT(*), MAX(moment) FROM waived GROUP BY 1",
        "SELECT fingerprint, source, moment FROM proposals",
    ):
        for fingerprint, *values in archive.db.execute(query):
            parts.setdefault(fingerprint, []).append(repr(values))
    (verdicts,) = archive.db.execute("SELECT MAX(state) FROM verdicts").fetchone()
    return {fingerprint: f"{verdicts} {values}" for fingerprint, values in parts.items()}
