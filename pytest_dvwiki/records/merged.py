"""Repair the records after a git merge, if a branch had rolled up a month into one file.

* If both branches rolled up the month, the monthly file has a conflict. The records of both sides are kept.
* If one branch did and the month had few records, git may treat the roll-up as a rename of the month's folder, and move
  the other branch's new records to the parent folder. These records are moved back.

The records themselves never change. A file that cannot be repaired with certainty is left alone and reported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct, field

from pytest_dvwiki import reading
from pytest_dvwiki.records import disk, git_conflicts, store
from pytest_dvwiki.records.codec import RecordError

if TYPE_CHECKING:
    from pathlib import Path

_TASK_ID = re.compile(r"^task_id: *[\"']?([\w.-]+)", re.MULTILINE)


class Repairs(Struct):
    """The repairs that were made, or would be made. Names are relative to the folder of the records."""

    changed: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    """Files left unrepaired, each with the reason."""


def put_right(tasks: Path, *, check: bool = False) -> Repairs:
    """Resolve conflicts in monthly files, and move misplaced records back to their folders.

    Args:
        tasks: The folder of the records.
        check: Only report what would be done.
    """
    done = Repairs()
    for folder in store.folders(tasks):
        if folder.parent != tasks:
            continue
        of_months = store.record_files(folder)
        for path in sorted(folder.glob("*.yaml")):
            name = path.relative_to(tasks).as_posix()
            try:
                is_right = (
                    _settle_conflict(path, name, check=check)
                    if path.name in of_months
                    else _move_home(path, name, tasks, check=check)
                )
            except (OSError, RecordError) as error:
                done.left.append((name, str(error).removeprefix(f"{name}: ")))
                continue
            if not is_right:
                done.changed.append(name)
    return done


def _settle_conflict(path: Path, name: str, *, check: bool) -> bool:
    """Resolve the conflict in a monthly file, unless `check` is set.

    Returns:
        Whether the file had no conflict.

    Raises:
        RecordError: The file contains something other than records, or two versions of one record.
    """
    data = reading.read_records(path)
    if not git_conflicts.may_be_in(data):
        return True
    text = data.decode("utf-8", "surrogateescape")
    sides = git_conflicts.sides(text)
    if sides is None:
        return True
    both = [store.split_month(path, side.encode("utf-8", "surrogateescape"), name) for side in sides]
    ours, theirs = both
    differing = sorted(task for task in ours.keys() & theirs.keys() if ours[task] != theirs[task])
    missing = sorted(set(_TASK_ID.findall(text)) - ours.keys() - theirs.keys())
    if differing or missing:
        raise RecordError(f"{name}: resolve the conflict in the record {[*differing, *missing][0]} by hand")
    if not check:
        disk.replace(path, store.join_month(ours | theirs))
    return False


def _move_home(path: Path, name: str, tasks: Path, *, check: bool) -> bool:
    """Move a record from a year's folder to the folder of its month, unless `check` is set.

    Returns:
        Whether the file was in the right folder.
    """
    data = reading.read_records(path)
    records, _ = store.read_records(path, data, name)
    if len(records) != 1:
        # The file is not one of ours.
        return True
    if not check:
        disk.create(store.record_path(tasks, records[0]), data)
        path.unlink()
    return False
