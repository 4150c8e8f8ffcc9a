"""Causes that are gone although nobody is on record for fixing them: long unseen, while their tests pass."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pytest_dvwiki.records import store, tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.records.aggregate import Cause
    from pytest_dvwiki.records.archive import Archive

DAYS = 90


def is_gone(archive: Archive, cause: Cause) -> bool:
    """Whether a test of a cause passed 90 days and more after it was last seen, and no fix of it holds.

    What was fixed is no absence but a lesson, and a test that nobody runs any more tells nothing.
    """
    since = _shifted(cause.last_seen, DAYS)
    if (archive.newest() or "") < since:
        return False
    tests = tuple(dict.fromkeys(test.nodeid for test in cause.newest.tests))
    holds = bool(cause.fixes) and cause.fixes[-1].fix.result == "held" and cause.fixes[-1].returned is None
    return bool(tests) and not holds and archive.passed_since(tests, since)


def candidates(archive: Archive, record: RunRecord) -> list[str]:
    """Causes that may be gone since a run, by fingerprint: of its passing tests, and last seen long before it."""
    passing = {again.nodeid for again in record.passed_again}
    if record.suite is not None:
        passing |= set(_with_runners(store.read_suite(archive.tasks, record.suite)))
    rows = archive.db.execute(
        "SELECT f.fingerprint FROM json_each(?) AS n JOIN failed AS f ON f.nodeid = n.value GROUP BY f.fingerprint"
        " HAVING MAX(f.moment) < ? AND NOT EXISTS"
        " (SELECT 1 FROM fix_states s WHERE s.fingerprint = f.fingerprint AND s.holding IS NOT NULL)"
        " ORDER BY f.fingerprint",
        # A moment is a time with a task id behind it; `~` sorts behind all of these.
        (tables.wanted(sorted(passing)), f"{_shifted(record.finished, -DAYS)}~"),
    )
    return [fingerprint for (fingerprint,) in rows]


def _with_runners(names: Iterable[str]) -> Iterable[str]:
    """The names of tests, and of those that ran them in a simulator: one that failed in its build is a test itself."""
    for name in names:
        yield name
        yield name.rpartition("::")[0]


def _shifted(time: str, days: int) -> str:
    moved = datetime.fromisoformat(time) + timedelta(days=days)
    return moved.strftime("%Y-%m-%dT%H:%M:%SZ")
