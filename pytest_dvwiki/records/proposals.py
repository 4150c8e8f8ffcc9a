"""Where else a fix helps: the causes that its commits fixed too, and those of its pattern to which it is proposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.records.fixes import FixState
from pytest_dvwiki.records.tables import wanted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.model import Fix

_states = msgspec.json.Decoder(list[FixState])


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A fix that held for another cause of the same pattern."""

    pattern: str
    fingerprint: str
    """The cause that it fixed."""
    fix: Fix
    task_id: str
    """The run in which it first showed."""


def keep_commits(db: sqlite3.Connection, fingerprint: str, states: Sequence[FixState]) -> None:
    """Remembers the commits of a cause's newest fix, if that has not failed."""
    db.execute("DELETE FROM fix_commits WHERE fingerprint = ?", (fingerprint,))
    newest = states[-1].fix if states and states[-1].fix.result != "failed" else None
    commits = {line.partition(" ")[0] for line in newest.log} if newest else set()
    db.executemany("INSERT INTO fix_commits VALUES (?, ?)", [(name, fingerprint) for name in sorted(commits)])


def commits(db: sqlite3.Connection, causes: Iterable[str] | None) -> set[tuple[str, str]]:
    """Every commit of the newest fix of some causes, None for all, each with its cause."""
    if causes is None:
        return set(db.execute("SELECT name, fingerprint FROM fix_commits"))
    query = "SELECT name, fingerprint FROM fix_commits WHERE fingerprint IN (SELECT value FROM json_each(?))"
    return set(db.execute(query, (wanted(causes),)))


def with_commits(db: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """The causes whose newest fix has one of these commits."""
    rows = db.execute(
        "SELECT DISTINCT fingerprint FROM fix_commits WHERE name IN (SELECT value FROM json_each(?))", (wanted(names),)
    )
    return {fingerprint for (fingerprint,) in rows}


def same_commits(db: sqlite3.Connection, fingerprints: Iterable[str]) -> list[str]:
    """Causes whose newest fix has a commit of the newest fix of one of these, themselves left out."""
    rows = db.execute(
        "SELECT DISTINCT other.fingerprint FROM fix_commits mine JOIN fix_commits other ON other.name = mine.name"
        " WHERE mine.fingerprint IN (SELECT value FROM json_each(:mine))"
        " AND other.fingerprint NOT IN (SELECT value FROM json_each(:mine)) ORDER BY 1",
        {"mine": wanted(fingerprints)},
    )
    return [fingerprint for (fingerprint,) in rows]


def renew(db: sqlite3.Connection, causes: Iterable[str]) -> set[str]:
    """Finds the fix that is proposed for each pattern of some causes.

    Args:
        db: The tables.
        causes: Those whose fixes are judged otherwise than before.

    Returns:
        All causes of the patterns for which another fix is proposed now.
    """
    changed: set[str] = set()
    causes = set(causes)
    # A cause that is now of another pattern may still be what is proposed for its old one.
    rows = db.execute(
        "SELECT pattern FROM occurrences WHERE pattern IS NOT NULL"
        " AND fingerprint IN (SELECT value FROM json_each(:causes))"
        " UNION SELECT pattern FROM proposals WHERE fingerprint IN (SELECT value FROM json_each(:causes))"
        " ORDER BY pattern",
        {"causes": wanted(causes)},
    ).fetchall()
    for (pattern,) in rows:
        found = _newest_that_held(db, pattern)
        known = db.execute("SELECT fingerprint, moment FROM proposals WHERE pattern = ?", (pattern,)).fetchone()
        if found == known and not (found and found[0] in causes):  # the words of that fix may be others now
            continue
        db.execute("DELETE FROM proposals WHERE pattern = ?", (pattern,))
        if found:
            db.execute("INSERT INTO proposals VALUES (?, ?, ?)", (pattern, *found))
        changed.update(
            fingerprint
            for (fingerprint,) in db.execute(
                "SELECT DISTINCT fingerprint FROM occurrences WHERE pattern = ?", (pattern,)
            )
        )
    return changed


def _newest_that_held(db: sqlite3.Connection, pattern: str) -> tuple[str, str] | None:
    """Cause and moment of the newest fix that held and still does."""
    found: tuple[str, str] | None = db.execute(
        "SELECT s.fingerprint, s.holding FROM fix_states s WHERE s.holding IS NOT NULL AND EXISTS"
        " (SELECT 1 FROM occurrences o WHERE o.pattern = ? AND o.fingerprint = s.fingerprint)"
        " ORDER BY s.holding DESC, s.fingerprint DESC LIMIT 1",
        (pattern,),
    ).fetchone()
    return found


def proposal(db: sqlite3.Connection, fingerprints: Sequence[str], pattern: str | None) -> Proposal | None:
    """The fix that is proposed to a cause; None where the pattern has none, or only the cause's own.

    Args:
        db: The tables.
        fingerprints: What the cause is called.
        pattern: That named it.
    """
    row = db.execute(
        "SELECT p.fingerprint, p.moment, s.states FROM proposals p JOIN fix_states s ON s.fingerprint = p.fingerprint"
        " WHERE p.pattern = ?",
        (pattern,),
    ).fetchone()
    if pattern is None or row is None or row[0] in fingerprints:
        return None
    state = next((each for each in _states.decode(row[2]) if each.moment == row[1]), None)
    if state is None:
        return None
    return Proposal(pattern=pattern, fingerprint=row[0], fix=state.fix, task_id=state.task_id)
