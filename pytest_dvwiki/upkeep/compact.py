"""Rolls up old records into one file per month that contains the same records, byte for byte, sorted by id.

The monthly file is written to disk before any single file is removed. If the process is killed in between, some records
exist twice but are counted once. Files that are not readable records are left in place.
"""

from __future__ import annotations

import calendar
from datetime import date, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import reading, runs
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records import store
from pytest_dvwiki.records.codec import RecordError
from pytest_dvwiki.records.disk import explained, replace
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.writing.log import add_to_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

DAYS = 90


class Compacted(Struct, frozen=True, kw_only=True):
    """The outcome of a roll-up."""

    months: dict[str, int]
    """Maps each month, as `YYYY/MM`, to the number of records moved into its monthly file."""
    left: list[str]
    """Files that were not rolled up, one line each, with the reason."""


def compact(layout: Layout, *, older_than_days: int = DAYS, today: date | None = None) -> Compacted:
    """Roll up the records of old months. Counts in the wiki do not change.

    Args:
        layout: Where the wiki is.
        older_than_days: A month is rolled up if its last day was more than this many days ago.
        today: The current day, by default today in UTC.
    """
    limit = (today or runs.today()) - timedelta(days=older_than_days)
    result = Compacted(months={}, left=[])
    if not layout.tasks.is_dir():
        return result
    with locked(layout.wiki, layout.lock_timeout):
        for folder in _months_before(layout.tasks, limit):
            _roll_up(folder, layout.tasks, result)
        if result.months:
            months = ", ".join(f"{count(number, 'record')} from {month}" for month, number in result.months.items())
            add_to_log(layout, "build", f"rolled up {months}")
    return result


def _months_before(tasks: Path, limit: date) -> Iterator[Path]:
    for folder in store.folders(tasks):
        if folder.parent == tasks:
            continue
        try:
            first = date(int(folder.parent.name), int(folder.name), 1)
        except ValueError:  # the folder is not named after a month
            continue
        if first.replace(day=calendar.monthrange(first.year, first.month)[1]) < limit:
            yield folder


def _roll_up(folder: Path, tasks: Path, result: Compacted) -> None:
    """Move the records in a month's folder into the monthly file."""
    month = folder.parent / f"{folder.name}.yaml"
    place = folder.relative_to(tasks).as_posix()
    documents: dict[str, bytes] = {}
    if month.exists():
        try:
            with explained(month):
                documents |= store.split_month(month, reading.read_records(month), f"{place}.yaml")
        except RecordError as error:
            result.left.append(str(error))
            return
    moved: list[Path] = []
    for path in (folder / name for name in sorted(store.record_files(folder))):
        with explained(path):
            data = reading.read_records(path)
        records, problems = store.read_records(path, data, f"{place}/{path.name}")
        if problems or len(records) != 1 or documents.get(path.stem, data) != data:
            reason = (
                problems[0]
                if problems
                else f"{place}/{path.name}: it does not contain exactly one record, or {place}.yaml has another"
                f" version of the record"
            )
            result.left.append(reason)
            continue
        documents[path.stem] = data
        moved.append(path)
    if not moved:
        return
    replace(month, store.join_month(documents))
    for path in moved:
        with explained(path):
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    result.months[place] = len(moved)
