"""What a run is called, and how its times are written."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, date, datetime

_TIME = "%Y-%m-%dT%H:%M:%SZ"
_NO_NAME = re.compile(r"[^A-Za-z0-9.-]+")


def utc(seconds: float) -> str:
    """A time, seconds since the epoch, as records write it."""
    return datetime.fromtimestamp(seconds, UTC).strftime(_TIME)


def epoch(moment: str) -> float:
    """A time of records in seconds since the epoch."""
    return datetime.strptime(moment, _TIME).replace(tzinfo=UTC).timestamp()


def seconds_between(started: str, finished: str) -> float:
    """How long it was from one time of records to another, to a tenth of a second."""
    return round(epoch(finished) - epoch(started), 1)


def today() -> date:
    """The present day, in UTC as all dates of the wiki."""
    return date.fromisoformat(utc(time.time())[:10])


def new_task_id(name: str, started: float) -> str:
    """A name for a run: `{name}_{UTC time}_{6 hex}`.

    Args:
        name: What the user calls the regression.
        started: Seconds since the epoch.
    """
    moment = datetime.fromtimestamp(started, UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{_NO_NAME.sub('-', name).strip('-.')[:60] or 'regression'}_{moment}_{os.urandom(3).hex()}"
