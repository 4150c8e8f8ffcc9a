"""Find the causes that a fix concerns besides its own: those fixed by the same commits, and those that it may fix, too.

A fix that held is proposed to the causes of its pattern that were seen after the fix, and to those seen last before it.
Later causes do not change existing proposals, so a new cause changes only its own page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.records.fixes import STATES
from pytest_dvwiki.records.tables import json_list
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.model import Fix
    from pytest_dvwiki.records.fixes import FixState

LAST_SEEN = 20
"""A fix is not proposed to a cause if this many other causes of the pattern were seen between the cause and the fix."""


class ProposedFix(Struct, frozen=True, kw_only=True):
    """A fix that held for another cause of the same pattern."""

    pattern: str
    fingerprint: str
    """The cause that was fixed."""
    fix: Fix
    task_id: str
    """The first run of the fix."""


def keep_commits(db: sqlite3.Connection, fingerprint: str, states: Sequence[FixState]) -> None:
    """Store the commits of a cause's newest fix, as one string, if they are known to have fixed the cause.

    If there are several commits, any of them may be the fix. So two causes share a fix only if all commits are the
    same.
    """
    db.execute("DELETE FROM fix_commits WHERE fingerprint = ?", (fingerprint,))
    state = states[-1] if states else None
    stands = state is not None and (state.fix.result == "held" or (state.fix.result == "open" and not state.returned))
    newest = state.fix if state is not None and stands else None
    if newest is not None and newest.likely and newest.counts and not (newest.maybe_later or newest.note):
        name = " ".join(sorted(line.partition(" ")[0] for line in newest.likely))
        db.execute("INSERT INTO fix_commits VALUES (?, ?)", (f"{name} of {newest.likely_count}", fingerprint))


def commits(db: sqlite3.Connection, causes: Iterable[str] | None) -> set[tuple[str, str]]:
    """Return the commits of each given cause's newest fix, with the cause; those of all causes if `causes` is None."""
    if causes is None:
        return set(db.execute("SELECT name, fingerprint FROM fix_commits"))
    query = "SELECT name, fingerprint FROM fix_commits WHERE fingerprint IN (SELECT value FROM json_each(?))"
    return set(db.execute(query, (json_list(causes),)))


def with_commits(db: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """Return the causes whose newest fix has one of the given strings of commits."""
    rows = db.execute(
        "SELECT DISTINCT fingerprint FROM fix_commits WHERE name IN (SELECT value FROM json_each(?))",
        (json_list(names),),
    )
    return {fingerprint for (fingerprint,) in rows}


def same_commits(db: sqlite3.Connection, fingerprints: Iterable[str]) -> list[str]:
    """Return other causes whose newest fix has the same commits as the newest fix of one of the given causes."""
    rows = db.execute(
        "SELECT DISTINCT other.fingerprint FROM fix_commits mine JOIN fix_commits other ON other.name = mine.name"
        " WHERE mine.fingerprint IN (SELECT value FROM json_each(:mine))"
        " AND other.fingerprint NOT IN (SELECT value FROM json_each(:mine)) ORDER BY 1",
        {"mine": json_list(fingerprints)},
    )
    return [fingerprint for (fingerprint,) in rows]


def mentioning(db: sqlite3.Connection, fingerprints: Iterable[str]) -> set[str]:
    """Return the causes whose pages mention one of the given causes: they share its fix, or may be fixed like it."""
    asked = json_list(sorted(fingerprints))
    rows = db.execute(
        "SELECT other.fingerprint FROM fix_commits mine JOIN fix_commits other ON other.name = mine.name"
        " WHERE mine.fingerprint IN (SELECT value FROM json_each(:causes)) AND other.fingerprint != mine.fingerprint"
        " UNION SELECT fingerprint FROM proposals WHERE source IN (SELECT value FROM json_each(:causes))",
        {"causes": asked},
    )
    return {fingerprint for (fingerprint,) in rows}


def renew_proposals(
    db: sqlite3.Connection, judged: set[str] | None, seen: set[str], late: str | None = None
) -> set[str]:
    """Update the proposed fixes of all causes that may be affected by newly judged fixes or added runs.

    Args:
        db: The tables.
        judged: Causes whose fixes are judged differently; None for all.
        seen: Causes that occurred in the added runs.
        late: Sort key of the first run with `seen` causes, if newer runs were already on record.

    Returns:
        The causes whose proposed fix changed or was dropped.
    """
    if judged is None:
        rows = db.execute("SELECT fingerprint FROM causes UNION SELECT fingerprint FROM proposals")
        asked = {cause for (cause,) in rows}
    else:
        news = judged | seen
        asked = seen | _proposed_to(db, news) | _in_reach_of_fixes(db, news)
        asked |= _in_reach_of_runs(db, seen, late) if late else set()
    changed: set[str] = set()
    for cause in sorted(asked):
        found = _proposed(db, cause)
        known = db.execute("SELECT source, moment FROM proposals WHERE fingerprint = ?", (cause,)).fetchone()
        # Even if the fix is the same, its text may have changed.
        if found != known or (found and (judged is None or found[0] in judged)):
            changed.add(cause)
        if found != known:
            db.execute("DELETE FROM proposals WHERE fingerprint = ?", (cause,))
            db.executemany("INSERT INTO proposals VALUES (?, ?, ?)", [(cause, *found)] if found else [])
    return changed


def _proposed(db: sqlite3.Connection, cause: str) -> tuple[str, str] | None:
    """Return the newest fix of another cause within reach, as fixed cause and sort key; None if there is none."""
    row = db.execute("SELECT pattern, newest FROM causes WHERE fingerprint = ?", (cause,)).fetchone()
    pattern, newest = row or (None, "")
    found = _newest_that_held(db, pattern, EVER)
    if found and found[1] > newest:
        found = _newest_that_held(db, pattern, _end_of_reach(db, pattern, newest))
    return found if found and found[0] != cause else None


def _newest_that_held(db: sqlite3.Connection, pattern: str | None, before: str) -> tuple[str, str] | None:
    """Return cause and sort key of the newest fix that still holds, among all causes of a pattern.

    Only fixes with a sort key less than `before` count.
    """
    found: tuple[str, str] | None = db.execute(
        "SELECT fingerprint, holding FROM fix_states WHERE pattern = ? AND holding < ?"
        " ORDER BY holding DESC, fingerprint DESC LIMIT 1",
        (pattern, before),
    ).fetchone()
    return found


def _end_of_reach(db: sqlite3.Connection, pattern: str | None, newest: str) -> str:
    """Return when `LAST_SEEN` other causes of a pattern had been seen after a cause; `~` for never."""
    rows = db.execute(
        "SELECT fingerprint, moment FROM occurrences WHERE pattern = ? AND moment > ? ORDER BY moment",
        (pattern, newest),
    )
    return _last_of_others(rows) or EVER


def _last_of_others(rows: Iterable[tuple[str, str]]) -> str | None:
    """Return the sort key at which the rows reach `LAST_SEEN` distinct causes; None if they do not."""
    others: set[str] = set()
    for fingerprint, moment in rows:
        others.add(fingerprint)
        if len(others) == LAST_SEEN:
            return moment
    return None


def _in_reach_of_fixes(db: sqlite3.Connection, fixed: set[str]) -> set[str]:
    """Return the causes to which a fix of one of the given causes may be proposed."""
    rows = db.execute(
        "SELECT pattern, holding FROM fix_states WHERE fingerprint IN (SELECT value FROM json_each(?))"
        " AND pattern IS NOT NULL AND holding IS NOT NULL",
        (json_list(sorted(fixed)),),
    ).fetchall()
    return {cause for pattern, moment in rows for cause in _in_reach(db, pattern, moment)}


def _in_reach_of_runs(db: sqlite3.Connection, seen: set[str], since: str) -> set[str]:
    """Return the causes that may no longer be among the last seen, because a run added late has other causes."""
    rows = db.execute(
        "SELECT DISTINCT pattern FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
        " AND moment >= ? AND pattern IS NOT NULL",
        (json_list(sorted(seen)), since),
    ).fetchall()
    return {cause for (pattern,) in rows for cause in _in_reach(db, pattern, since)}


def _in_reach(db: sqlite3.Connection, pattern: str, moment: str) -> set[str]:
    """Return the causes of a pattern seen since a run, and the last ones seen before it."""
    rows = db.execute(
        "SELECT fingerprint, moment FROM occurrences WHERE pattern = ? AND moment <= ? ORDER BY moment DESC",
        (pattern, moment),
    )
    since = _last_of_others(rows) or ""
    found = db.execute("SELECT fingerprint FROM causes WHERE pattern = ? AND newest >= ?", (pattern, since))
    return {fingerprint for (fingerprint,) in found}


def _proposed_to(db: sqlite3.Connection, sources: set[str]) -> set[str]:
    """Return the causes whose proposed fix comes from one of the given causes."""
    rows = db.execute(
        "SELECT fingerprint FROM proposals WHERE source IN (SELECT value FROM json_each(?))",
        (json_list(sorted(sources)),),
    )
    return {fingerprint for (fingerprint,) in rows}


def proposal(db: sqlite3.Connection, fingerprints: Sequence[str], pattern: str | None) -> ProposedFix | None:
    """Return the fix of another cause that is proposed to a cause; None if there is none.

    Args:
        db: The tables.
        fingerprints: The names of the cause.
        pattern: The pattern that classified the cause.
    """
    found = db.execute(
        # The plus keeps SQLite from starting with all causes of the pattern.
        "SELECT p.source, p.moment FROM proposals p JOIN causes c ON c.fingerprint = p.fingerprint"
        " WHERE p.fingerprint IN (SELECT value FROM json_each(?)) AND +c.pattern = ? ORDER BY p.moment DESC LIMIT 1",
        (json_list(fingerprints), pattern),
    ).fetchone()
    if pattern is None or found is None or found[0] in fingerprints:
        return None
    source, moment = found
    (states,) = db.execute("SELECT states FROM fix_states WHERE fingerprint = ?", (source,)).fetchone()
    state = next(each for each in STATES.decode(states) if each.moment == moment)
    return ProposedFix(pattern=pattern, fingerprint=source, fix=state.fix, task_id=state.task_id)
