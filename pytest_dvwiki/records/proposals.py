"""Where else a fix helps: the causes that its commits fixed too, and those of its pattern to which it is proposed.

A fix that held is proposed to the causes of its pattern that were seen last. One that nobody has seen for long gets the
proposal when it comes back.
"""

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

MOST_PROPOSED = 20
"""To so many causes of its pattern a fix is proposed, those seen last, so that a page more costs nothing then."""
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


def naming(db: sqlite3.Connection, fingerprints: Iterable[str]) -> set[str]:
    """Causes of which it is told that one of these was fixed by the same commits, or that its fix is proposed."""
    asked = wanted(sorted(fingerprints))
    rows = db.execute(
        "SELECT other.fingerprint FROM fix_commits mine JOIN fix_commits other ON other.name = mine.name"
        " WHERE mine.fingerprint IN (SELECT value FROM json_each(:causes)) AND other.fingerprint != mine.fingerprint"
        " UNION SELECT t.fingerprint FROM proposals p JOIN proposed_to t ON t.pattern = p.pattern"
        " WHERE p.fingerprint IN (SELECT value FROM json_each(:causes)) AND t.fingerprint != p.fingerprint",
        {"causes": asked},
    )
    return {fingerprint for (fingerprint,) in rows}


def renew(db: sqlite3.Connection, judged: set[str] | None, seen: set[str]) -> set[str]:
    """Finds the fix that is proposed for each pattern of some causes, and the causes that it is proposed to.

    Args:
        db: The tables.
        judged: Those whose fixes are judged otherwise than before; None for all.
        seen: Those that occurred.

    Returns:
        The causes to which another fix is proposed now, or none any more.
    """
    changed: set[str] = set()
    # A cause that is now of another pattern may still be what is proposed for its old one, or have had its proposal.
    rows = db.execute(
        "SELECT pattern FROM causes WHERE :all OR fingerprint IN (SELECT value FROM json_each(:causes))"
        " UNION SELECT pattern FROM proposals WHERE :all OR fingerprint IN (SELECT value FROM json_each(:causes))"
        " UNION SELECT pattern FROM proposed_to WHERE :all OR fingerprint IN (SELECT value FROM json_each(:causes))",
        {"all": judged is None, "causes": wanted(sorted(seen | (judged or set())))},
    ).fetchall()
    for (pattern,) in rows:
        if pattern is None:
            continue
        found = _newest_that_held(db, pattern)
        known = db.execute("SELECT fingerprint, moment FROM proposals WHERE pattern = ?", (pattern,)).fetchone()
        before, after = _proposed_to(db, pattern), _newest_causes(db, pattern) if found else set()
        # The words of the same fix may be others now.
        is_another = found != known or bool(found and (judged is None or found[0] in judged))
        changed |= before | after if is_another else before ^ after
        if found != known:
            db.execute("DELETE FROM proposals WHERE pattern = ?", (pattern,))
            db.executemany("INSERT INTO proposals VALUES (?, ?, ?)", [(pattern, *found)] if found else [])
        db.executemany("DELETE FROM proposed_to WHERE pattern = ? AND fingerprint = ?", _pairs(pattern, before - after))
        db.executemany("INSERT INTO proposed_to VALUES (?, ?)", _pairs(pattern, after - before))
    return changed


def _pairs(pattern: str, causes: set[str]) -> list[tuple[str, str]]:
    return [(pattern, cause) for cause in sorted(causes)]


def _newest_that_held(db: sqlite3.Connection, pattern: str) -> tuple[str, str] | None:
    """Cause and moment of the newest fix that held and still does."""
    found: tuple[str, str] | None = db.execute(
        "SELECT fingerprint, holding FROM fix_states WHERE pattern = ? AND holding IS NOT NULL"
        " ORDER BY holding DESC, fingerprint DESC LIMIT 1",
        (pattern,),
    ).fetchone()
    return found


def _newest_causes(db: sqlite3.Connection, pattern: str) -> set[str]:
    """The causes of a pattern that were seen last."""
    rows = db.execute(
        "SELECT fingerprint FROM causes WHERE pattern = ? ORDER BY newest DESC, fingerprint DESC LIMIT ?",
        (pattern, MOST_PROPOSED),
    )
    return {fingerprint for (fingerprint,) in rows}


def _proposed_to(db: sqlite3.Connection, pattern: str) -> set[str]:
    rows = db.execute("SELECT fingerprint FROM proposed_to WHERE pattern = ?", (pattern,))
    return {fingerprint for (fingerprint,) in rows}


def proposal(db: sqlite3.Connection, fingerprints: Sequence[str], pattern: str | None) -> Proposal | None:
    """The fix that is proposed to a cause; None where there is none but its own, or the cause was not seen lately.

    Args:
        db: The tables.
        fingerprints: What the cause is called.
        pattern: That named it.
    """
    row = db.execute(
        "SELECT p.fingerprint, p.moment, s.states FROM proposals p JOIN fix_states s ON s.fingerprint = p.fingerprint"
        " WHERE p.pattern = :pattern AND EXISTS (SELECT 1 FROM proposed_to t WHERE t.pattern = :pattern"
        " AND t.fingerprint IN (SELECT value FROM json_each(:causes)))",
        {"pattern": pattern, "causes": wanted(fingerprints)},
    ).fetchone()
    if pattern is None or row is None or row[0] in fingerprints:
        return None
    state = next((each for each in _states.decode(row[2]) if each.moment == row[1]), None)
    if state is None:
        return None
    return Proposal(pattern=pattern, fingerprint=row[0], fix=state.fix, task_id=state.task_id)
