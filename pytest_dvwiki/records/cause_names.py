"""The names of causes: current and former fingerprints, and names for several causes that one check reports."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pytest_dvwiki.records import same_check, tables
from pytest_dvwiki.records.name_parts import SLASH, check_of, found_in_run, further_name, resolved

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


_MOSTLY_EMPTY = ("aliases", "first_bad", "fix_states", "further", "passed_again", "proposals", "splits", "waived")


class CauseNames:
    """Names of the causes in the tables."""

    db: sqlite3.Connection

    @cached_property
    def _empty(self) -> frozenset[str]:
        """Return the tables known to be empty, so that looking up a cause does not query them."""
        asked = "UNION ALL".join(f" SELECT '{name}' WHERE NOT EXISTS (SELECT 1 FROM {name}) " for name in _MOSTLY_EMPTY)  # noqa: S608
        return frozenset(name for (name,) in self.db.execute(asked))

    def has_rows(self, table: str) -> bool:
        """Return False if a table is known to be empty. Only the tables in `_MOSTLY_EMPTY` are checked."""
        return table not in self._empty

    def forget(self) -> None:
        """Discard the list of empty tables, because the tables changed."""
        self.__dict__.pop("_empty", None)

    def present(self, fingerprints: Sequence[str]) -> tuple[str, ...]:
        """Return the current fingerprints of causes; a fingerprint that was never replaced is returned unchanged."""
        names = fingerprints
        if self.has_rows("aliases"):
            rows = self.db.execute(
                "SELECT fingerprint, became FROM aliases WHERE fingerprint IN (SELECT value FROM json_each(?))",
                (tables.json_list(map(check_of, fingerprints)),),
            )
            became = dict(rows.fetchall())
            checks = [name.partition(SLASH) for name in fingerprints]
            names = [f"{became.get(check, check)}{slash}{run}" for check, slash, run in checks]
        return tuple(dict.fromkeys(resolved(self.db, name) if SLASH in name else name for name in names))

    def identities(self, *fingerprints: str) -> tuple[str, ...]:
        """Return the current fingerprints of the given causes, followed by their former ones."""
        present = self.present(fingerprints)
        if not self.has_rows("aliases"):
            return present
        former = self.db.execute(
            "SELECT fingerprint FROM aliases WHERE became IN (SELECT value FROM json_each(?)) ORDER BY fingerprint",
            (tables.json_list(present),),
        )
        return (*present, *(name for (name,) in former))

    def family(self, name: str) -> tuple[str, ...]:
        """Return all causes that share this cause's check, oldest first; empty if there is only this one."""
        return same_check.family(self.db, check_of(*self.present((name,)))) if self.has_rows("further") else ()

    def further(self) -> frozenset[str]:
        """Return every cause that is not the first one of its check."""
        return frozenset(name for (name,) in self.db.execute("SELECT fingerprint FROM further"))

    def reference(self, name: str) -> str:
        """Return a name for a cause that stays unambiguous even if its check reports further causes later."""
        if SLASH in name or not self.family(name):
            return name
        task_id, part = self.db.execute(
            "SELECT r.task_id, o.part FROM occurrences o JOIN runs r ON r.id = o.run WHERE o.fingerprint = ?"
            " ORDER BY o.moment LIMIT 1",
            self.present((name,)),
        ).fetchone()
        return further_name(name, task_id, part)

    def called_in(self, task_id: str, fingerprint: str) -> str:
        """Return the cause that a run recorded under a fingerprint; the check's first cause if the run is unknown."""
        name = fingerprint if SLASH in fingerprint else further_name(fingerprint, task_id, 0)
        return self.present((name,))[0]

    def found_in_run(self, name: str) -> str | None:
        """Return the cause for a name that contains a task id; None if the run with this id is not on record."""
        check, slash, of_run = name.partition(SLASH)
        return found_in_run(self.db, f"{self.present((check,))[0]}{slash}{of_run}")

    def joined(self) -> frozenset[str]:
        """Return the causes that were merged into an older cause."""
        return frozenset(name for (name,) in self.db.execute("SELECT fingerprint FROM names WHERE learned"))

    def starting_with(self, digits: str) -> list[str]:
        """Return the current and former fingerprints with the given prefix."""
        rows = self.db.execute(
            "SELECT fingerprint FROM causes WHERE fingerprint GLOB ? UNION SELECT fingerprint FROM aliases"
            " WHERE fingerprint GLOB ? ORDER BY fingerprint",
            (f"{digits}*", f"{digits}*"),
        )
        return [name for (name,) in rows]

    def has(self, fingerprint: str) -> bool:
        """Return whether a cause is on record."""
        query = "SELECT 1 FROM causes WHERE fingerprint IN (SELECT value FROM json_each(?)) LIMIT 1"
        return self.db.execute(query, (tables.json_list(self.present((fingerprint,))),)).fetchone() is not None

    def with_former(self, former: str) -> tuple[str, ...]:
        """Return the causes that have this version 1 fingerprint."""
        rows = self.db.execute(
            "SELECT DISTINCT fingerprint FROM identities WHERE former = ? ORDER BY fingerprint", (former,)
        )
        return tuple(name for (name,) in rows)

    def formers(self, *fingerprints: str) -> tuple[str, ...]:
        """Return the version 1 fingerprints that the given causes share with other causes."""
        if not self.has_rows("splits"):
            return ()
        rows = self.db.execute(
            "SELECT DISTINCT former FROM splits WHERE fingerprint IN (SELECT value FROM json_each(?)) ORDER BY former",
            (tables.json_list(fingerprints),),
        )
        return tuple(name for (name,) in rows)

    def heirs(self, *formers: str) -> tuple[str, ...]:
        """Return the causes that share one of the given version 1 fingerprints."""
        if not self.has_rows("splits"):
            return ()
        rows = self.db.execute(
            "SELECT DISTINCT fingerprint FROM splits WHERE former IN (SELECT value FROM json_each(?))"
            " ORDER BY fingerprint",
            (tables.json_list(formers),),
        )
        return tuple(name for (name,) in rows)

    def split(self) -> tuple[str, ...]:
        """Return the version 1 fingerprints that are shared by several causes."""
        return tuple(name for (name,) in self.db.execute("SELECT DISTINCT former FROM splits ORDER BY former"))
