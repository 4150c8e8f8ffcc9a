"""What git leaves among the records when branches merge of which one rolled a month up, put right.

* Where both did, the month's file is in conflict: each side's records stand in it, and all of them stay.
* Where one did and the month had few records, git takes the month's file for its folder under a new name, and moves
  the records that the other branch added out of that folder: they go back to where records stand.

No byte of a record changes. What cannot be told apart with certainty stays as it is, with a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.records import disk, hunks, store
from pytest_dvwiki.records.codec import RecordError

if TYPE_CHECKING:
    from pathlib import Path

_TASK_ID = re.compile(r"^task_id: *[\"']?([\w.-]+)", re.MULTILINE)


@dataclass(slots=True)
class PutRight:
    """What was done, or would be; names are relative to the folder of the records."""

    changed: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    """Files that stay as they are, each with the reason."""


def put_right(tasks: Path, *, check: bool = False) -> PutRight:
    """Settles the files of months, and moves records back to their places.

    Args:
        tasks: The folder of the records.
        check: Only tells what would be done.
    """
    done = PutRight()
    for folder in store.folders(tasks):
        if folder.parent != tasks:
            continue
        of_months = store.record_files(folder)
        for path in sorted(folder.glob("*.yaml")):
            name = path.relative_to(tasks).as_posix()
            try:
                is_right = (
                    _is_settled(path, name, check=check)
                    if path.name in of_months
                    else _is_home(path, name, tasks, check=check)
                )
            except (OSError, RecordError) as error:
                done.left.append((name, str(error).removeprefix(f"{name}: ")))
                continue
            if not is_right:
                done.changed.append(name)
    return done


def _is_settled(path: Path, name: str, *, check: bool) -> bool:
    """Settles a month's file; False where that was due.

    Raises:
        RecordError: It holds something that is no record, or a record that the two sides have otherwise.
    """
    data = reading.read_records(path)
    if not hunks.may_be_in(data):
        return True
    text = data.decode("utf-8", "surrogateescape")
    sides = hunks.sides(text)
    if sides is None:
        return True
    both = [store.split_month(path, side.encode("utf-8", "surrogateescape"), name) for side in sides]
    ours, theirs = both
    differing = sorted(task for task in ours.keys() & theirs.keys() if ours[task] != theirs[task])
    missing = sorted(set(_TASK_ID.findall(text)) - ours.keys() - theirs.keys())
    if differing or missing:
        raise RecordError(f"{name}: conflict in the record {[*differing, *missing][0]}, to be settled by hand")
    if not check:
        disk.replace(path, store.join_month(ours | theirs))
    return False


def _is_home(path: Path, name: str, tasks: Path, *, check: bool) -> bool:
    """Moves a record in a year's folder into its month's; False where that was due."""
    data = reading.read_records(path)
    records, _ = store.read_records(path, data, name)
    if len(records) != 1:
        # Somebody else's.
        return True
    if not check:
        disk.create(store.record_path(tasks, records[0]), data)
        path.unlink()
    return False
