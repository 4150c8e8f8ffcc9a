"""Judge the fixes of causes and keep the results in the tables, because the fix rate of a subtype needs every cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.records import fixes, proposals
from pytest_dvwiki.records.cause_records import CauseRecords
from pytest_dvwiki.records.passes import Passes
from pytest_dvwiki.records.tables import json_list
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_dvwiki.records.chance import Rate
    from pytest_dvwiki.records.targets import Target


class Judge:
    """Applies the rules of `fixes` to the tables.

    Args:
        db: The tables.
        tasks: The folder of the records, for the lists of tests.
    """

    def __init__(self, db: sqlite3.Connection, tasks: Path) -> None:
        self._db = db
        self.passes = Passes(db, tasks)

    def update(
        self,
        fingerprints: Iterable[str] | None,
        ran: Iterable[str] = (),
        seen: Iterable[str] = (),
        late: str | None = None,
    ) -> set[str]:
        """Judge the fixes of causes again.

        Args:
            fingerprints: Causes to judge from scratch; None for all.
            ran: Tests of new runs that are the newest on record; their open fixes may hold now.
            seen: Causes of these runs; judged again only if they may have come back.
            late: Sort key of the first added run, if older than a run already on record.

        Returns:
            The causes with fixes that are judged differently, with another proposed fix, or with a fix that now shares
            its commits with other causes.
        """
        more: set[str] = set()
        if fingerprints is None:
            before, commits = self._kept(), proposals.commits(self._db, None)
            for table in ("fix_states", "fix_commits", "fix_tests"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608 (constants)
            rows = self._db.execute(
                "SELECT fingerprint FROM passed_again"
                " UNION SELECT fingerprint FROM fix_rows WHERE fingerprint IS NOT NULL"
            )
            causes = {fingerprint for (fingerprint,) in rows}
        else:
            rows = self._db.execute(
                "SELECT DISTINCT fingerprint FROM fix_tests WHERE nodeid IN (SELECT value FROM json_each(?))",
                (json_list(ran),),
            )
            seen = set(seen) - set(fingerprints)
            causes = {*fingerprints, *filter(self._can_return, seen)}
            self._relabel(seen - causes)
            more = {fingerprint for (fingerprint,) in rows} - causes
            before, commits = self._kept(causes | more), proposals.commits(self._db, causes | more)
            self._continue(more)
        for cause in sorted(causes):
            self._keep(cause, self.judge((cause,)))
        after = self._kept(causes | more)
        changed = {cause for cause in before.keys() | after.keys() if before.get(cause) != after.get(cause)}
        differing = commits ^ proposals.commits(self._db, causes | more)
        related = proposals.with_commits(self._db, {name for name, _ in differing})
        renewed = proposals.renew_proposals(
            self._db, None if fingerprints is None else changed, causes.union(seen), late
        )
        return changed | related | renewed

    def _can_return(self, cause: str) -> bool:
        """Return whether another occurrence can change a fix of the cause: only the first return after a fix does."""
        return any(state.returned is None for state in self.states((cause,)))

    def _relabel(self, causes: Iterable[str]) -> None:
        """Update subtype and pattern of the causes' fixes to those of the newest occurrences."""
        self._db.execute(
            "UPDATE fix_states SET (subtype, pattern) = (SELECT subtype, pattern FROM occurrences o"
            " WHERE o.fingerprint = fix_states.fingerprint ORDER BY moment DESC LIMIT 1)"
            " WHERE fingerprint IN (SELECT value FROM json_each(?))",
            (json_list(causes),),
        )

    def _continue(self, causes: Iterable[str]) -> None:
        """Count the passes of new runs for the open fixes of causes about which these runs have no other evidence."""
        for cause in sorted(causes):
            states = self.states((cause,))
            counted = fixes.continued(states, CauseRecords(self._db, self.passes, (cause,)))
            if counted != states:
                self._keep(cause, counted)

    def states(self, fingerprints: Sequence[str]) -> list[fixes.FixState]:
        """Return the fixes of a cause, oldest first. Several fingerprints are treated as one cause."""
        if len(fingerprints) > 1:
            return self.judge(fingerprints)
        row = self._db.execute("SELECT states FROM fix_states WHERE fingerprint = ?", tuple(fingerprints)).fetchone()
        return fixes.STATES.decode(row[0]) if row else []

    def _kept(self, causes: Iterable[str] | None = None) -> dict[str, str]:
        if causes is None:
            return dict(self._db.execute("SELECT fingerprint, states FROM fix_states"))
        query = "SELECT fingerprint, states FROM fix_states WHERE fingerprint IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(query, (json_list(causes),)))

    def _keep(self, fingerprint: str, states: list[fixes.FixState]) -> None:
        proposals.keep_commits(self._db, fingerprint, states)
        self._db.execute("DELETE FROM fix_tests WHERE fingerprint = ?", (fingerprint,))
        tests = {test.nodeid for state in states if state.fix.result == "open" for test in state.tests}
        self._db.executemany("INSERT INTO fix_tests VALUES (?, ?)", [(test, fingerprint) for test in sorted(tests)])
        if not states:
            self._db.execute("DELETE FROM fix_states WHERE fingerprint = ?", (fingerprint,))
            return
        subtype, pattern = self._db.execute(
            "SELECT subtype, pattern FROM occurrences WHERE fingerprint = ? ORDER BY moment DESC LIMIT 1",
            (fingerprint,),
        ).fetchone()
        held, failed = fixes.tally(states)
        self._db.execute(
            "INSERT OR REPLACE INTO fix_states VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                fingerprint,
                subtype,
                pattern,
                held,
                failed,
                states[-1].moment,
                states[-1].moment if states[-1].fix.result == "held" and states[-1].returned is None else None,
                max(self._final_from(fingerprint, state) for state in states),
                msgspec.json.encode(states).decode(),
            ),
        )

    def _final_from(self, fingerprint: str, state: fixes.FixState) -> str:
        """Return the sort key of the last run whose passes can change the result of a fix; `~` if any later run can."""
        if state.fix.held_in is None:
            return f"{state.returned or ''}{EVER}"
        query = "SELECT 1 FROM causes WHERE fingerprint = ? AND newest > ?"
        if state.returned is None and self._db.execute(query, (fingerprint, state.moment)).fetchone():
            # Another test still fails with the cause. If that test passed in between, the cause came back.
            return EVER
        (moment,) = self._db.execute("SELECT moment FROM runs WHERE task_id = ?", (state.fix.held_in,)).fetchone()
        return str(moment)

    def judged_by(self, moment: str) -> set[str]:
        """Return the causes whose fixes may be judged differently because of a run that is added late."""
        rows = self._db.execute("SELECT fingerprint FROM fix_states WHERE until >= ?", (moment,))
        return {fingerprint for (fingerprint,) in rows}

    def is_deterministic(self, fingerprints: Sequence[str]) -> bool:
        """Return whether a cause occurs with every seed, judging by its subtype and history."""
        return CauseRecords(self._db, self.passes, fingerprints).is_deterministic(EVER)

    def comes_and_goes(self, fingerprints: Sequence[str]) -> bool:
        """Return whether a cause failed and passed with the same sources and seed, or among the attempts of one run."""
        records = CauseRecords(self._db, self.passes, fingerprints)
        return records.comes_and_goes(records.all_tests(EVER), "", EVER)

    def rates(self, fingerprints: Sequence[str], since: str) -> dict[str, Rate]:
        """Map each test to its failure rate with a cause since the given sort key."""
        records = CauseRecords(self._db, self.passes, fingerprints)
        by_test: dict[str, list[Target]] = {}
        for test in records.all_tests(EVER):
            by_test.setdefault(test.nodeid, []).append(test)
        return {nodeid: records.rate(tests, since, EVER) for nodeid, tests in by_test.items()}

    def undone(self, fingerprints: Sequence[str], failing: Sequence[Target]) -> fixes.FixState | None:
        """Return the newest fix that did not last, judging by the current failures; None if there is none."""
        states = self.states(fingerprints)
        records = CauseRecords(self._db, self.passes, fingerprints)
        fixed_later: set[Target] = set()
        for state in reversed([state for state in states if state.tests or state is states[-1]]):
            if fixed_later.isdisjoint(state.tests) and records.is_back(state.moment, state.tests, failing):
                return state
            fixed_later.update(state.tests)
        return None

    def judge(self, fingerprints: Sequence[str]) -> list[fixes.FixState]:
        """Judge the fixes of a cause from its records, not from stored results; return them oldest first."""
        records = CauseRecords(self._db, self.passes, fingerprints)
        return fixes.judge(records.steps(), records)
