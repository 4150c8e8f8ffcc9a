"""Names of causes: `fingerprint`, `fingerprint/task id`, or `fingerprint/task id/number`.

The fingerprint identifies the check that reports the cause. The first cause of a check has only the fingerprint as its
name; the name of each further cause also has the run that first showed it. If the failures of a check in one run have
several causes, the second cause and all later ones are recorded with a number: `fingerprint/task id/2`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

SLASH = "/"
"""Separates the parts of a cause's name."""
OF_CHECK = "(fingerprint = :name OR fingerprint > :name || '/' AND fingerprint < :name || '0')"
"""Selects all causes of the check `:name`. The character after `/` is `0`."""


def check_of(name: str) -> str:
    """Return the fingerprint of a cause's check."""
    return name.partition(SLASH)[0]


def part_of(name: str) -> int:
    """Return the number of a cause among those that its check reported in one run; 0 for the first one."""
    number = name.partition(SLASH)[2].partition(SLASH)[2]
    return int(number) if number.isdecimal() else 0


def recorded_name(fingerprint: str, task_id: str, part: int) -> str:
    """Return the name under which a run records the failures of a check; the first cause in the run has no number."""
    return f"{fingerprint}{SLASH}{task_id}{SLASH}{part}" if part else fingerprint


def further_name(fingerprint: str, task_id: str, part: int) -> str:
    """Return the name of a further cause of a check, by the run that first showed it."""
    return recorded_name(fingerprint, task_id, part) if part else f"{fingerprint}{SLASH}{task_id}"


def resolved(db: sqlite3.Connection, name: str) -> str:
    """Return the cause for a name that contains a task id; the check's first cause if that run is not on record."""
    return found_in_run(db, name) or check_of(name)


def found_in_run(db: sqlite3.Connection, name: str) -> str | None:
    """Return the cause for a name that contains a task id; None if the run with this id is not on record.

    A run may refer to any cause of the check by the name that this cause had in another run.
    """
    fingerprint, _, of_run = name.partition(SLASH)
    row = db.execute(
        # The plus prevents SQLite from searching all occurrences of the run, which may be thousands.
        f"SELECT o.fingerprint FROM runs r JOIN occurrences o ON +o.run = r.id AND {OF_CHECK}"  # noqa: S608 (a constant)
        " WHERE r.task_id = :task AND o.part = :part",
        {"name": fingerprint, "task": of_run.partition(SLASH)[0], "part": part_of(name)},
    ).fetchone()
    return str(row[0]) if row else None
