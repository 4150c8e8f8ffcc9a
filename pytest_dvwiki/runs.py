"""Names of runs, and the format of times."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, date, datetime

EVER = "~"
"""A sort key that follows the keys of all runs. With a prefix, it follows all keys with that prefix."""
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_NO_NAME = re.compile(r"[^A-Za-z0-9.-]+")


def utc(seconds: float) -> str:
    """Convert seconds since the epoch to the time format of records."""
    return datetime.fromtimestamp(seconds, UTC).strftime(_TIME)


def epoch(moment: str) -> float:
    """Convert a time in a record to seconds since the epoch."""
    if _MOMENT.fullmatch(moment):
        return datetime.fromisoformat(moment).timestamp()
    # `strptime` loads calendars and locales, which would delay a run with one failure; only unusual times need it.
    return datetime.strptime(moment, _TIME).replace(tzinfo=UTC).timestamp()


def now() -> str:
    """Return the current time in the time format of records."""
    return utc(time.time())


def today() -> date:
    """Return the current date in UTC, the time zone of all dates in the wiki."""
    return date.fromisoformat(now()[:10])


def new_task_id(name: str, started: float) -> str:
    """Return a new task id for a run: `{name}_{UTC time}_{6 hex digits}`.

    The time is in whole seconds. The first three hex digits are the fraction of the second, so that runs of the same
    name keep their order; the other digits are random.
    """
    moment = datetime.fromtimestamp(started, UTC).strftime("%Y%m%dT%H%M%SZ")
    tail = f"{int(started % 1 * 0x1000):03x}{os.urandom(2).hex()[:3]}"
    return f"{_NO_NAME.sub('-', name).strip('-.')[:60] or 'regression'}_{moment}_{tail}"
