"""Causes as in records, for tests of the statements about them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pytest_dvwiki.causes.cause import Cause, PageFacts
from pytest_dvwiki.model import Fix, Occurrence, Origin
from pytest_dvwiki.records.aggregate import CauseHistory, OccurrenceRow
from pytest_dvwiki.records.fixes import FixState

OCCURRENCE = Occurrence(
    fingerprint="9b1f03c2a7d4",
    error_class="sim_error",
    failure_subtype="timeout",
    pattern=None,
    origin=Origin(type="UNKNOWN", confidence=0),
    primary="SimTimeoutError",
    tests=(),
)
ROW = OccurrenceRow(
    fingerprint=OCCURRENCE.fingerprint,
    task_id="regression_x",
    finished="2026-04-20T20:25:11Z",
    error_class=OCCURRENCE.error_class,
    pattern=None,
    tests=1,
    names=(),
    seeds=(),
    commit=None,
    dirty=0,
    branch=None,
    simulators="",
    without_fix=0,
)
HISTORY = CauseHistory(
    fingerprint=OCCURRENCE.fingerprint,
    runs=7,
    tests=30,
    first_seen="2026-04-20T20:25:11Z",
    last_seen="2026-11-01T20:25:11Z",
    task_ids=("regression_x",),
    seeds=(),
    rows=(ROW,),
    first=ROW,
    newest=OCCURRENCE,
    fixes=(),
    unproven=(),
    first_bad=None,
    first_bad_task="",
    first_bad_found="",
    regressed=None,
    waived=(),
    proposal=None,
    same_commits=(),
)


def state(fix: Fix) -> FixState:
    """Return a fix as in the records."""
    return FixState(fix=fix, task_id="regression_x", moment=fix.date)


def history(*fixes: Fix, **changes: Any) -> CauseHistory:
    """Return the history of a cause with these fixes, oldest first."""
    return replace(HISTORY, fixes=tuple(map(state, fixes)), **changes)


def cause(*fixes: Fix, status: str = "", **changes: Any) -> Cause:
    """Return a cause on record, with a page."""
    page = PageFacts(path="bugs/RTL_20261121_480127.md", status=status)
    return Cause.on_record(OCCURRENCE.fingerprint, history(*fixes, **changes), page)
