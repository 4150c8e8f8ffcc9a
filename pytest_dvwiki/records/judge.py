"""The judged fixes of all causes, kept in the tables: the rate of a subtype is over every one of its causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.records import fixes, proposals
from pytest_dvwiki.records.evidence import Evidence
from pytest_dvwiki.records.passes import Passes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_states = msgspec.json.Decoder(list[fixes.FixState])


class Judge:
    """Applies the rules of `fixes` to the tables.

    Args:
        db: The tables.
        tasks: The folder of the records, for the lists of tests.
    """

    def __init__(self, db: sqlite3.Connection, tasks: Path) -> None:
        self._db = db
        self.passes = Passes(db, tasks)

    def update(self, fingerprints: Iterable[str] | None) -> set[str]:
        """Judges causes again.

        Args:
            fingerprints: Those with news; None for all.

        Returns:
            The causes, of these and of those with an open fix, that are judged otherwise than before, and those to
            which another fix is proposed, or whose fix shares its commits with other causes than before.
        """
        before = self._kept()
        commits = proposals.commits(self._db)
        if fingerprints is None:
            self._db.execute("DELETE FROM fix_states")
            self._db.execute("DELETE FROM fix_commits")
            rows = self._db.execute(
                "SELECT fingerprint FROM passed_again"
                " UNION SELECT fingerprint FROM fix_rows WHERE fingerprint IS NOT NULL"
            )
            causes = {fingerprint for (fingerprint,) in rows}
        else:
            causes = set(fingerprints)
            self._continue(causes)
        for cause in sorted(causes):
            self._keep(cause, self.judge((cause,)))
        after = self._kept()
        changed = {cause for cause in before.keys() | after.keys() if before.get(cause) != after.get(cause)}
        related = proposals.with_commits(self._db, {name for name, _ in commits ^ proposals.commits(self._db)})
        # What its pattern is called may be news where the fix of a cause is not.
        renewed = proposals.renew(self._db, changed if fingerprints is not None else changed | causes)
        return changed | related | renewed

    def _continue(self, judged: set[str]) -> None:
        """Counts the passes of open fixes but those of causes that are judged anew."""
        rows = self._db.execute("SELECT fingerprint, states FROM fix_states WHERE open > 0 ORDER BY fingerprint")
        for cause, kept in rows.fetchall():
            if cause not in judged:
                states = _states.decode(kept)
                counted = fixes.continued(states, Evidence(self._db, self.passes, (cause,)))
                if counted != states:
                    self._keep(cause, counted)

    def states(self, fingerprints: Sequence[str]) -> list[fixes.FixState]:
        """The fixes of a cause, oldest first; one that had other fingerprints is judged over all of them."""
        if len(fingerprints) > 1:
            return self.judge(fingerprints)
        row = self._db.execute("SELECT states FROM fix_states WHERE fingerprint = ?", tuple(fingerprints)).fetchone()
        return _states.decode(row[0]) if row else []

    def _kept(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT fingerprint, states FROM fix_states"))

    def _keep(self, fingerprint: str, states: list[fixes.FixState]) -> None:
        proposals.keep_commits(self._db, fingerprint, states)
        if not states:
            self._db.execute("DELETE FROM fix_states WHERE fingerprint = ?", (fingerprint,))
            return
        (subtype,) = self._db.execute(
            "SELECT subtype FROM occurrences WHERE fingerprint = ? ORDER BY moment DESC LIMIT 1",
            (fingerprint,),
        ).fetchone()
        held, failed = fixes.tally(states)
        self._db.execute(
            "INSERT OR REPLACE INTO fix_states VALUES (?, ?, ?, ?, ?, ?)",
            (
                fingerprint,
                subtype,
                held,
                failed,
                len(states) - held - failed,
                msgspec.json.encode(states).decode(),
            ),
        )

    def judge(self, fingerprints: Sequence[str]) -> list[fixes.FixState]:
        """Judges the fixes of one cause from the records alone, oldest first."""
        evidence = Evidence(self._db, self.passes, fingerprints)
        return fixes.judge(evidence.steps(), evidence)
