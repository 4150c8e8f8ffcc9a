"""Sum up the history of a failure subtype, as `records/aggregate.py` does for a cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.records import fixes, tables
from pytest_dvwiki.records.aggregate import NEWEST_ROWS, OccurrenceRow, occurrence_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.model import Fix
    from pytest_dvwiki.records.archive import Archive


class SubtypeHistory(Struct, frozen=True, kw_only=True):
    """The history of one failure subtype, from the records."""

    name: str
    error_class: str
    """The class of most runs; of equally frequent classes, the first in alphabetical order."""
    runs: int
    tests: int
    first_seen: str
    last_seen: str
    patterns: tuple[tuple[str, int, str], ...]
    """The ids of matching patterns, sorted, each with its number of runs and its newest run."""
    rows: tuple[OccurrenceRow, ...]
    """The newest occurrences, newest first."""
    words: dict[str, str]
    """Maps the fingerprint of each cause in `rows` to its newest masked message."""
    causes: int
    fixes: tuple[tuple[str | None, Fix, str], ...]
    """The newest fixes, newest first: fingerprint (None for a fix of the whole subtype), fix, task id."""
    held: int
    failed: int
    reported: int = 0
    """How many of the fixes in `held` and `failed` are known only from reports of agents."""

    @property
    def held_fix(self) -> Fix | None:
        """Return the newest fix that held and is instructive, preferably one whose cause has not returned."""
        held = [
            fix
            for cause, fix, _ in self.fixes
            if fix.result == "held" and fix.is_instructive and not is_reported(cause, fix)
        ]
        return min(held, key=lambda fix: fix.returned is not None, default=None)


def is_reported(cause: str | None, fix: Fix) -> bool:
    """Return whether the result of a fix was only reported by an agent, and is not shown by runs of a cause."""
    return cause is None and fix.by == "agent"


def history_of(archive: Archive, name: str, merged: Iterable[Sequence[str]] = ()) -> SubtypeHistory | None:
    """Sum up a failure subtype.

    Args:
        archive: The records.
        name: The subtype.
        merged: Groups of fingerprints to be treated as one cause each, even if the records keep them apart.

    Returns:
        The history of the subtype; None if it is not on record.
    """
    tallies: dict[str, dict[str, tuple[int, int]]] = {"class": {}, "pattern": {}, "subtype": {}}
    for kind, of, runs, tests in archive.db.execute(
        "SELECT kind, name, runs, tests FROM tallies WHERE subtype = ? AND kind IN (SELECT value FROM json_each(?))",
        (name, tables.json_list(tallies)),
    ):
        tallies[kind][of] = runs, tests
    if not tallies["subtype"]:
        return None
    ((runs, tests),) = tallies["subtype"].values()
    first, last, causes = archive.db.execute(
        "SELECT (SELECT MIN(moment) FROM occurrences WHERE subtype = :name),"
        " (SELECT MAX(moment) FROM occurrences WHERE subtype = :name),"
        " (SELECT COUNT(*) FROM tallies WHERE subtype = :name AND kind = 'cause')",
        {"name": name},
    ).fetchone()
    newest_of = (
        "SELECT r.task_id FROM occurrences o JOIN runs r ON r.id = o.run"
        " WHERE o.subtype = ? AND o.pattern = ? ORDER BY o.moment DESC LIMIT 1"
    )
    patterns = [
        (pattern, count, *archive.db.execute(newest_of, (name, pattern)).fetchone())
        for pattern, (count, _) in sorted(tallies["pattern"].items())
    ]
    newest = occurrence_rows(
        archive, f"WHERE o.subtype = ? ORDER BY o.moment DESC, o.fingerprint LIMIT {NEWEST_ROWS}", (name,)
    )
    rows = tuple(newest)
    groups = _groups(archive, name, merged)
    done = _fixes(archive, name, groups)
    held, failed = _tally(archive, name, groups)
    return SubtypeHistory(
        name=name,
        error_class=min(tallies["class"], key=lambda each: (-tallies["class"][each][0], each)),
        runs=runs,
        tests=tests,
        first_seen=first.split(" ", 1)[0],
        last_seen=last.split(" ", 1)[0],
        patterns=tuple(patterns),
        rows=rows,
        words=_words(archive, {row.fingerprint for row in rows}),
        causes=causes - sum(len(group) - 1 for group in groups),
        fixes=done,
        held=held,
        failed=failed,
        reported=sum(fix.by == "agent" and fix.result != "open" for fix, _ in _stated(archive, name)),
    )


def _words(archive: Archive, causes: set[str]) -> dict[str, str]:
    """Return the newest message of each cause, masked as for the fingerprint."""
    kept = archive.db.execute(
        "SELECT d.fingerprint, d.words FROM details d"
        " JOIN causes c ON c.fingerprint = d.fingerprint AND c.newest = d.moment"
        " WHERE d.fingerprint IN (SELECT value FROM json_each(?))",
        (tables.json_list(sorted(causes)),),
    )
    found = dict(kept)
    # The details were removed with the newest run, so the occurrence that is now the newest is read from its file.
    rest = ((cause, archive.newest_occurrence((cause,))) for cause in causes - found.keys())
    return found | {cause: mask(newest.primary) for cause, newest in rest if newest is not None}


def _groups(archive: Archive, name: str, merged: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the causes of a subtype in each group of merged fingerprints, for groups with several such causes."""
    asked = [tuple(archive.present(group)) for group in merged]
    rows = archive.db.execute(
        "SELECT name FROM tallies WHERE subtype = ? AND kind = 'cause' AND name IN (SELECT value FROM json_each(?))",
        (name, tables.json_list(fingerprint for group in asked for fingerprint in group)),
    )
    known = {fingerprint for (fingerprint,) in rows}
    found = (tuple(fingerprint for fingerprint in group if fingerprint in known) for group in asked)
    return [group for group in found if len(group) > 1]


def _tally(archive: Archive, name: str, groups: Sequence[Sequence[str]]) -> tuple[int, int]:
    of_one = tables.json_list(fingerprint for group in groups for fingerprint in group)
    held, failed = archive.db.execute(
        "SELECT COALESCE(SUM(held), 0), COALESCE(SUM(failed), 0) FROM fix_states WHERE subtype = ?"
        " AND fingerprint NOT IN (SELECT value FROM json_each(?))",
        (name, of_one),
    ).fetchone()
    ends = [fixes.tally(archive.fix_states(group)) for group in groups]
    stated = [fix.result for fix, _ in _stated(archive, name)]
    return (
        held + sum(each for each, _ in ends) + stated.count("held"),
        failed + sum(each for _, each in ends) + stated.count("failed"),
    )


def _fixes(archive: Archive, name: str, groups: Sequence[tuple[str, ...]]) -> tuple[tuple[str | None, Fix, str], ...]:
    found: list[tuple[str, str | None, Fix, str]] = [
        (fix.date, None, fix, task_id) for fix, task_id in _stated(archive, name)
    ]
    rows = archive.db.execute(
        "SELECT fingerprint, states FROM fix_states WHERE subtype = ? ORDER BY newest DESC, fingerprint DESC LIMIT ?",
        (name, NEWEST_ROWS),
    ).fetchall()
    of_one = {fingerprint: group for group in groups for fingerprint in group}
    for fingerprint, states in rows:
        if fingerprint not in of_one:
            found += [(state.fix.date, fingerprint, state.fix, state.task_id) for state in fixes.STATES.decode(states)]
    for group in dict.fromkeys(of_one[fingerprint] for fingerprint, _ in rows if fingerprint in of_one):
        found += [(state.fix.date, group[0], state.fix, state.task_id) for state in archive.fix_states(group)]
    found.sort(key=lambda item: (item[0], item[3], item[1] or ""), reverse=True)
    return tuple(item[1:] for item in found[:NEWEST_ROWS])


def _stated(archive: Archive, name: str) -> list[tuple[Fix, str]]:
    """Return the fixes that people and agents stated for the subtype as a whole, each with the id of its run."""
    rows = archive.db.execute(
        "SELECT f.row, r.finished, r.task_id FROM fix_rows f JOIN runs r ON r.id = f.run"
        " WHERE f.subtype = ? AND f.fingerprint IS NULL ORDER BY f.moment, f.number",
        (name,),
    )
    return [(fixes.stated_fix(fixes.ROW.decode(text), finished), task_id) for text, finished, task_id in rows]


def names(archive: Archive) -> list[str]:
    """Return all failure subtypes on record, sorted."""
    return [row[0] for row in archive.db.execute("SELECT subtype FROM tallies WHERE kind = 'subtype' ORDER BY 1")]


def of_causes(archive: Archive, causes: Iterable[str]) -> set[str]:
    """Return all failure subtypes that the causes ever had."""
    query = "SELECT DISTINCT subtype FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
    return {name for (name,) in archive.db.execute(query, (tables.json_list(sorted(causes)),))}
