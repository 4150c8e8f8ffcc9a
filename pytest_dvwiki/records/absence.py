"""Find causes that are gone without a fix that holds: a test passed 90 days or more after the cause was last seen."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pytest_dvwiki.records import store, tables
from pytest_dvwiki.records.targets import of_failure
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.records.aggregate import CauseHistory
    from pytest_dvwiki.records.archive import Archive

DAYS = 90


def is_gone(archive: Archive, cause: CauseHistory) -> bool:
    """Return whether a cause is gone: one of its tests passed 90 days or more after the cause was last seen.

    A cause with a fix that holds is fixed, not gone. A cause is not gone merely because its tests no longer run.
    """
    since = _shifted(cause.last_seen, DAYS)
    if (archive.newest() or "") < since:
        return False
    tests = tuple(dict.fromkeys(of_failure(cause.newest, test) for test in cause.newest.tests))
    holds = bool(cause.fixes) and cause.fixes[-1].fix.result == "held" and cause.fixes[-1].returned is None
    return bool(tests) and not holds and archive.passes.passed_since(tests, since)


def is_gone_for(archive: Archive, cause: CauseHistory, days: int) -> bool:
    """Return whether a cause without a fix that held was already gone `days` days before the newest record."""
    newest = archive.newest() or ""
    if any(fix.fix.result == "held" for fix in cause.fixes) or not is_gone(archive, cause):
        return False
    tests = tuple(dict.fromkeys(of_failure(cause.newest, test) for test in cause.newest.tests))
    until = f"{_shifted(newest.partition(' ')[0], -days)}{EVER}"
    return archive.passes.passed_since(tests, _shifted(cause.last_seen, DAYS), until)


def candidates(archive: Archive, record: RunRecord) -> list[str]:
    """Return the fingerprints of causes that may be gone as of a run; `is_gone` decides.

    A cause is a candidate if its last occurrence became 90 days old since the previous run, or if one of its tests
    passes in this run but did not pass in the previous one. For all others the answer of the previous run still holds.
    """
    passing, before = _passing(archive, record), _run_before(archive, record)
    since = ""
    if before is not None:
        run, moment = before
        since = f"{_shifted(moment.split(' ', 1)[0], -DAYS)}{EVER}"
        suites = archive.db.execute("SELECT DISTINCT suite FROM suites WHERE run = ?", (run,))
        listed = {name for (suite,) in suites for name in _with_runners(store.read_suite(archive.tasks, suite))}
        passing -= listed - _not_passed(archive, run)
    passing |= {again.nodeid for again in record.passed_again}
    rows = archive.db.execute(
        "SELECT fingerprint FROM (SELECT c.fingerprint FROM json_each(:tests) n"
        " JOIN newest_tests t ON t.nodeid = n.value JOIN causes c ON c.fingerprint = t.fingerprint"
        " WHERE c.newest < :until"
        " UNION SELECT fingerprint FROM causes WHERE :since != '' AND newest > :since AND newest < :until) old"
        " WHERE NOT EXISTS (SELECT 1 FROM fix_states s WHERE s.fingerprint = old.fingerprint AND s.holding IS NOT NULL)"
        " ORDER BY 1",
        # A sort key begins with a time. The time with `EVER` sorts after all keys that begin with this time.
        {
            "tests": tables.json_list(sorted(passing)),
            "since": since,
            "until": f"{_shifted(record.finished, -DAYS)}{EVER}",
        },
    )
    return [fingerprint for (fingerprint,) in rows]


def _passing(archive: Archive, record: RunRecord) -> set[str]:
    """Return the tests that passed in a run, according to its lists of tests."""
    failed = {test.nodeid for occurrence in record.occurrences for test in occurrence.tests}
    failed |= {test.nodeid for test in record.other}
    suites = {row.suite for row in tables.suites_of(record)}
    names = (name for suite in suites for name in store.read_suite(archive.tasks, suite))
    return set(_with_runners(name for name in names if name not in failed))


def _run_before(archive: Archive, record: RunRecord) -> tuple[int, str] | None:
    """Return the row id and sort key of the previous run, preferably one with the same list of tests.

    None if the record has no list of tests, or no earlier record has one.
    """
    suites = [row.suite for row in tables.suites_of(record)]
    if not suites:
        return None
    query = "SELECT run, moment FROM suites WHERE moment < ? AND {} ORDER BY moment DESC LIMIT 1"
    moment = tables.moment_of(record)
    same = query.format("suite IN (SELECT value FROM json_each(?))")
    found: tuple[int, str] | None = archive.db.execute(same, (moment, tables.json_list(suites))).fetchone()
    return found or archive.db.execute(query.format("true"), (moment,)).fetchone()


def _not_passed(archive: Archive, run: int) -> set[str]:
    """Return the tests that did not pass in a run, and their runners."""
    rows = archive.db.execute(
        "SELECT nodeid FROM failed WHERE run = :run UNION SELECT nodeid FROM other WHERE run = :run", {"run": run}
    )
    return set(_with_runners(nodeid for (nodeid,) in rows))


def _with_runners(names: Iterable[str]) -> Iterable[str]:
    """Yield each test name and the name of its runner, because a runner whose build failed is recorded as a test."""
    for name in names:
        yield name
        yield name.rpartition("::")[0]


def _shifted(time: str, days: int) -> str:
    moved = datetime.fromisoformat(time) + timedelta(days=days)
    return moved.strftime("%Y-%m-%dT%H:%M:%SZ")
