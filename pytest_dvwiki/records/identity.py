"""Fingerprints that identify the same cause: former fingerprints, and causes that were merged."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from pytest_dvwiki.records.verdicts import Verdicts


def names(db: sqlite3.Connection, known: Verdicts) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the current names of fingerprints, and the former fingerprints shared by several causes.

    A version 1 fingerprint is replaced by the version 2 fingerprint that lists it as its former name. If several
    version 2 fingerprints list it, its history cannot be assigned to any of them, so the version 1 fingerprint remains
    a cause of its own.

    Args:
        db: The tables.
        known: The files of verdicts: merges, and corrections by people.

    Returns:
        The current name of each renamed fingerprint, and pairs of a shared former fingerprint and a cause that had it.
    """
    learned = {name: head for head, *others in known.groups for name in others}
    heirs: dict[str, set[str]] = defaultdict(set)
    rows = db.execute(
        "SELECT DISTINCT former, fingerprint FROM identities"
        " WHERE former IN (SELECT fingerprint FROM identities WHERE former = '')"
    )
    for former, fingerprint in rows:
        heirs[former].add(learned.get(fingerprint, fingerprint))
    found = dict(learned)
    splits: list[tuple[str, str]] = []
    for former, causes in sorted(heirs.items()):
        if len(causes) > 1:
            splits += [(former, cause) for cause in sorted(causes - {former})]
        elif former not in causes:
            found[former] = next(iter(causes))
    return found, splits


def are_new(db: sqlite3.Connection, task_ids: Sequence[str]) -> bool:
    """Return whether newly added runs may change the current names of fingerprints.

    Args:
        db: The tables, including these runs.
        task_ids: The runs.
    """
    asked = (
        "SELECT 1 FROM identities i WHERE i.run IN"
        " (SELECT id FROM runs WHERE task_id IN (SELECT value FROM json_each(?)))"
        " AND CASE i.former WHEN '' THEN EXISTS (SELECT 1 FROM identities o WHERE o.former = i.fingerprint)"
        " ELSE EXISTS (SELECT 1 FROM identities o WHERE o.former = '' AND o.fingerprint = i.former)"
        " AND NOT EXISTS (SELECT 1 FROM identities o"
        " WHERE o.former = i.former AND o.fingerprint = i.fingerprint AND o.run != i.run) END LIMIT 1"
    )
    return db.execute(asked, (json.dumps(list(task_ids)),)).fetchone() is not None
