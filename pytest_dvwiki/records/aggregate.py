"""Sum up what all records together say of a cause, a subtype and the tests.

A *run* is a record in which the cause occurred. *Tests* counts failing tests over all runs. Times are UTC.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.model import BinRow, FirstBad, KnownBin, Onset, StillFailing, Vcs, Waived
from pytest_dvwiki.records import cause_records, fixes, proposals, tables
from pytest_dvwiki.records.chance import Rate
from pytest_dvwiki.records.kinds import UNKNOWN_SEED
from pytest_dvwiki.records.targets import ANY, Target, build_of, is_same_config, without_parameters
from pytest_dvwiki.records.units import is_folder
from pytest_dvwiki.redact import redact_id
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.model import Fix, Occurrence, Passing
    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.records.proposals import Proposal

NEWEST_TASKS = 20
NEWEST_ROWS = 20
SEEDS = 20
NEWEST_UNPROVEN = 5
_ROWS_FOR_SEEDS = 200
_states = msgspec.json.Decoder(list[fixes.FixState])
_texts = msgspec.json.Decoder(tuple[str, ...])
_bin_row = msgspec.json.Decoder(BinRow)


class Row(NamedTuple):
    """One occurrence in a table."""

    fingerprint: str
    task_id: str
    finished: str
    error_class: str
    pattern: str | None
    tests: int
    names: tuple[str, ...]
    """The first three failing tests."""
    seeds: tuple[str, ...]
    commit: str | None
    dirty: int
    branch: str | None
    simulators: str
    without_fix: int
    """1 if the commit of the run did not contain the newest fix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprovenPass:
    """A pass after a failure where no change is known that explains it."""

    task_id: str
    finished: str
    nodeid: str
    simulator: str
    """Empty if it is not on record."""
    changed: str
    """A `model.Change`."""
    seed: str | None
    failed_seed: str | None
    """`UNKNOWN_SEED` where it is not on record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseHistory:
    """What the records say of one cause."""

    fingerprint: str
    """The fingerprint of its newest occurrence."""
    runs: int
    tests: int
    first_seen: str
    last_seen: str
    task_ids: tuple[str, ...]
    """The newest, newest first."""
    seeds: tuple[str, ...]
    """Distinct ones of the newest occurrences, in ascending order."""
    rows: tuple[Row, ...]
    """The newest occurrences, newest first."""
    first: Row
    """The oldest occurrence."""
    newest: Occurrence
    fixes: tuple[fixes.FixState, ...]
    unproven: tuple[UnprovenPass, ...]
    """The newest passes that are not a fix, newest first."""
    first_bad: FirstBad | None
    """The commits with which it came the last time."""
    first_bad_task: str
    """The run that found `first_bad`."""
    regressed: tuple[str, str] | None
    """Time and id of the run in which it came back after it was closed or a fix had held; None once it is fixed."""
    waived: tuple[Waived, ...]
    """The waivers of its newest occurrence."""
    proposal: Proposal | None
    """A fix that held for another cause of the same pattern, if no fix of this cause lasts."""
    same_commits: tuple[str, ...]
    """Other causes that the commits of its newest fix fixed too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtypeHistory:
    """What the records say of one failure subtype."""

    name: str
    error_class: str
    """The class of most runs; of equals the first by name."""
    runs: int
    tests: int
    first_seen: str
    last_seen: str
    patterns: tuple[tuple[str, int, str], ...]
    """Ids of the patterns that matched, by name, each with its number of runs and the id of the newest run."""
    rows: tuple[Row, ...]
    """The newest occurrences, newest first."""
    words: dict[str, str]
    """The masked message of each cause in `rows`, by fingerprint, as it was reported last."""
    causes: int
    fixes: tuple[tuple[str | None, Fix, str], ...]
    """The newest fixes, newest first: fingerprint (None for one of the whole subtype), fix, task id."""
    held: int
    failed: int

    @property
    def held_fix(self) -> Fix | None:
        """Return the newest fix that held, preferably one whose cause has not returned."""
        held = [fix for _, fix, _ in self.fixes if fix.result == "held"]
        return min(held, key=lambda fix: fix.returned is not None, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """What one run says of a bin."""

    task_id: str
    finished: str
    action_class: str
    feature: str
    scenario: str
    priority: int | None
    filled: bool
    hits: int | None = None
    goal: int | None = None
    """The number of hits from which the bin is covered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """What the records say of one bin of a covergroup."""

    covergroup: str
    bin: str
    first: CoverageRow
    rows: tuple[CoverageRow, ...]
    """The newest, newest first."""
    total: int
    """Number of rows on record."""
    filled_by: str | None
    """The run that filled it; None if the newest run found it unfilled."""

    @property
    def since(self) -> str:
        """Return the time since which the bin has been in its present state, as far as the rows go back."""
        same = itertools.takewhile(lambda row: row.filled == self.rows[0].filled, self.rows)
        return list(same)[-1].finished


_ROW = (
    "SELECT o.fingerprint, r.task_id, r.finished, o.error_class, o.pattern, o.tests, o.names, o.seeds, r.vcs_commit,"
    " r.dirty, r.branch, r.simulators, o.without_fix FROM occurrences o JOIN runs r ON r.id = o.run"
)


def _rows(archive: Archive, rest: str, values: Sequence[Any]) -> Iterator[Row]:
    for row in archive.db.execute(f"{_ROW} {rest}", tuple(values)):
        yield Row._make((*row[:6], _texts.decode(row[6]), _texts.decode(row[7]), *row[8:]))


def cause(archive: Archive, fingerprints: Sequence[str]) -> CauseHistory | None:
    """Sum up a cause.

    Args:
        archive: The records.
        fingerprints: Its fingerprint, and others that it has or had.

    Returns:
        None if no record has one of them.
    """
    found = archive.newest_occurrence(fingerprints)
    if found is None:
        return None
    where = "WHERE o.fingerprint IN (SELECT value FROM json_each(?))"
    asked = (tables.json_list(archive.present(fingerprints)),)
    runs, tests = archive.db.execute(
        f"SELECT COUNT(DISTINCT moment), SUM(tests) FROM occurrences o {where}",  # noqa: S608 (constants)
        asked,
    ).fetchone()
    rows = tuple(_rows(archive, f"{where} ORDER BY o.moment DESC LIMIT {NEWEST_ROWS}", asked))
    task_ids, seeds = _newest_of(archive, asked)
    present = archive.present(fingerprints)
    states = tuple(archive.fix_states(fingerprints))
    # For a cause that is back, the commits that introduced it before its fix say nothing.
    outlived = [state.moment for state in states if (state.fix.counts or state.seed_passed) and state.returned]
    came, came_task = _first_bad(archive, fingerprints, outlived[-1] if outlived else "")
    is_fixed = fixes.is_fixed(states)
    (first,) = _rows(archive, f"{where} ORDER BY o.moment LIMIT 1", asked)
    return CauseHistory(
        fingerprint=found.fingerprint,
        runs=runs,
        tests=tests,
        first_seen=first.finished,
        last_seen=rows[0].finished,
        task_ids=task_ids,
        seeds=seeds,
        rows=rows,
        first=first,
        newest=found,
        fixes=states,
        unproven=_unproven(archive, fingerprints),
        first_bad=came,
        first_bad_task=came_task,
        regressed=None if is_fixed else _regressed(archive, present, states),
        waived=_waived(archive, present, rows[0]),
        proposal=None if is_fixed else proposals.proposal(archive.db, present, found.pattern),
        same_commits=tuple(proposals.same_commits(archive.db, present)) if is_fixed else (),
    )


def _first_bad(archive: Archive, fingerprints: Sequence[str], after: str = "") -> tuple[FirstBad | None, str]:
    """Return the newest range of commits with which a cause came, and the run that found it.

    A range that names commits is preferred.
    """
    row = archive.db.execute(
        "SELECT b.row, r.task_id FROM first_bad b JOIN runs r ON r.id = b.run"
        " WHERE b.fingerprint IN (SELECT value FROM json_each(?)) AND b.moment > ?"
        " ORDER BY json_extract(b.row, '$.passed_with') != 'same' OR json_extract(b.row, '$.dirty'), b.moment DESC"
        " LIMIT 1",
        (tables.json_list(archive.present(fingerprints)), after),
    ).fetchone()
    return (msgspec.json.decode(row[0], type=FirstBad), row[1]) if row else (None, "")


def _regressed(
    archive: Archive, fingerprints: Sequence[str], states: Sequence[fixes.FixState]
) -> tuple[str, str] | None:
    """Return the time and id of the run in which an open cause came back; None if it has not regressed."""
    row = archive.db.execute(
        "SELECT r.finished, r.task_id FROM occurrences o JOIN runs r ON r.id = o.run"
        " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) AND o.moment > ? AND NOT o.without_fix"
        " AND (o.regressed OR ?) ORDER BY o.moment LIMIT 1",
        (
            tables.json_list(fingerprints),
            states[-1].moment if states else "",
            bool(states) and states[-1].fix.result == "held",
        ),
    ).fetchone()
    return (row[0], row[1]) if row else None


def _waived(archive: Archive, fingerprints: Sequence[str], newest: Row) -> tuple[Waived, ...]:
    """Return the waivers of an occurrence."""
    found = archive.db.execute(
        "SELECT w.row FROM waived w JOIN runs r ON r.id = w.run"
        " WHERE w.fingerprint IN (SELECT value FROM json_each(?)) AND r.task_id = ? ORDER BY w.number",
        (tables.json_list(fingerprints), newest.task_id),
    )
    return tuple(msgspec.json.decode(row, type=Waived) for (row,) in found)


class Caught(NamedTuple):
    """The failures that a waiver matched in the newest run in which it matched any."""

    task_id: str
    finished: str
    tests: int
    causes: int


def caught(archive: Archive) -> dict[str, Caught]:
    """Return what each waiver caught last, by its id."""
    rows = archive.db.execute(
        "SELECT json_extract(w.row, '$.id') waiver, r.task_id, r.finished, SUM(json_array_length(w.row, '$.tests')),"
        " COUNT(*), MAX(r.moment) FROM waived w JOIN runs r ON r.id = w.run GROUP BY waiver, r.id ORDER BY r.moment"
    )
    return {name: Caught(*rest[:4]) for name, *rest in rows}


def onset(archive: Archive, fingerprints: Sequence[str]) -> Onset | None:
    """Tell where a cause first appeared since its last fix whose passes count; return None if no record has it.

    A range from before a pass with the seed that failed is left out, whether or not that pass proves a fix:
    the failures since then may be another fault.
    """
    states = archive.fix_states(fingerprints)
    newest = next((state for state in reversed(states) if state.fix.counts), None)
    fixed, fix = (newest.moment, newest.fix) if newest is not None else ("", None)
    passed = max((state.moment for state in states if state.seed_passed), default=fixed)
    passed_at = fix.commits[-1] if fix is not None and fix.by == "git" and fix.log and fix.commits else None
    asked = {"causes": tables.json_list(archive.present(fingerprints)), "fixed": fixed, "passed": max(fixed, passed)}
    occurrences = (
        "SELECT r.vcs_commit, o.moment FROM occurrences o JOIN runs r ON r.id = o.run"
        " WHERE o.fingerprint IN (SELECT value FROM json_each(:causes)) AND NOT o.without_fix"
    )
    before = archive.db.execute(f"{occurrences} AND o.moment < :fixed ORDER BY o.moment DESC LIMIT 1", asked).fetchone()
    first = archive.db.execute(f"{occurrences} AND o.moment > :passed ORDER BY o.moment LIMIT 1", asked).fetchone()
    if first is None and before is None:
        return None
    clean = archive.db.execute(
        f"{occurrences} AND o.moment > :passed AND r.vcs_commit IS NOT NULL AND NOT r.dirty ORDER BY o.moment LIMIT 1",
        asked,
    ).fetchone()
    return Onset(
        moment=first and first[1],
        commit=clean and clean[0],
        first_bad=_first_bad(archive, fingerprints, max(fixed, passed))[0],
        fixed_after=passed_at or (before and before[0]),
        comes_and_goes=archive.comes_and_goes(fingerprints),
        passes_needed=_passes_to_hold(newest) | (_passes_needed(archive, fingerprints, first[1]) if first else {}),
    )


def _passes_to_hold(fixed: fixes.FixState | None) -> dict[str, int]:
    """Return, by test, the number of passes that made a fix hold.

    That many passes before the cause returns show that it was absent.
    """
    if fixed is None or fixed.fix.held_in is None:
        return {}
    return {test.nodeid: fixed.fix.needed for test in fixed.tests}


def _passes_needed(archive: Archive, fingerprints: Sequence[str], since: str) -> dict[str, int]:
    """Return, by test, how many passes before the first failure show that the cause was not there yet.

    `since` is the moment of that failure. It says nothing of the rate: without it there would be no question.
    """
    found = {}
    for nodeid, rate in archive.rates(fingerprints, since).items():
        # The present failure is one more run; one pass is added, since the runs are few.
        if rate.failed:
            found[nodeid] = Rate(failed=rate.failed, runs=rate.runs + 2).runs_needed
    return found


def _unproven(archive: Archive, fingerprints: Sequence[str]) -> tuple[UnprovenPass, ...]:
    rows = archive.db.execute(
        "SELECT r.task_id, r.finished, p.nodeid, p.simulator, p.changed, p.seed, p.failed_seed FROM passed_again p"
        " JOIN runs r ON r.id = p.run WHERE p.fingerprint IN (SELECT value FROM json_each(?)) AND p.proof = 1"
        " ORDER BY p.moment DESC, p.nodeid LIMIT ?",
        (tables.json_list(fingerprints), NEWEST_UNPROVEN),
    )
    return tuple(
        UnprovenPass(
            task_id=task_id,
            finished=finished,
            nodeid=nodeid,
            simulator=simulator,
            changed=changed,
            seed=seed,
            failed_seed=failed_seed,
        )
        for task_id, finished, nodeid, simulator, changed, seed, failed_seed in rows
    )


def _newest_of(archive: Archive, asked: tuple[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the newest runs of a cause, newest first, and the seeds of its newest occurrences in ascending order."""
    task_ids: dict[str, None] = {}
    seeds: dict[str, None] = {}
    for moment, text in archive.db.execute(
        "SELECT moment, seeds FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
        " ORDER BY moment DESC LIMIT ?",
        (*asked, _ROWS_FOR_SEEDS),
    ):
        task_ids[moment.split(" ", 2)[2]] = None
        seeds |= dict.fromkeys(_texts.decode(text))
        if len(task_ids) >= NEWEST_TASKS and len(seeds) >= SEEDS:
            break
    newest = list(seeds)[:SEEDS]
    return tuple(task_ids)[:NEWEST_TASKS], tuple(sorted(newest, key=lambda seed: (len(seed), seed)))


def subtype(archive: Archive, name: str, merged: Iterable[Sequence[str]] = ()) -> SubtypeHistory | None:
    """Sum up a failure subtype.

    Args:
        archive: The records.
        name: The subtype.
        merged: Groups of fingerprints; each group is one cause, whatever the records call it.

    Returns:
        None if no record has it.
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
    newest = _rows(archive, f"WHERE o.subtype = ? ORDER BY o.moment DESC, o.fingerprint LIMIT {NEWEST_ROWS}", (name,))
    rows = tuple(newest)
    groups = _groups(archive, name, merged)
    done = _subtype_fixes(archive, name, groups)
    held, failed = _subtype_tally(archive, name, groups)
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
    )


def _words(archive: Archive, causes: set[str]) -> dict[str, str]:
    """Return the newest message of each cause, masked as for its fingerprint."""
    kept = archive.db.execute(
        "SELECT d.fingerprint, d.words FROM details d"
        " JOIN causes c ON c.fingerprint = d.fingerprint AND c.newest = d.moment"
        " WHERE d.fingerprint IN (SELECT value FROM json_each(?))",
        (tables.json_list(sorted(causes)),),
    )
    found = dict(kept)
    # If the newest run was removed, the details are missing: the occurrence that is newest now is read from its file.
    rest = ((cause, archive.newest_occurrence((cause,))) for cause in causes - found.keys())
    return found | {cause: mask(newest.primary) for cause, newest in rest if newest is not None}


def _groups(archive: Archive, name: str, merged: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the groups of merged fingerprints of which a subtype has two or more, reduced to those that it has."""
    asked = [tuple(archive.present(group)) for group in merged]
    rows = archive.db.execute(
        "SELECT name FROM tallies WHERE subtype = ? AND kind = 'cause' AND name IN (SELECT value FROM json_each(?))",
        (name, tables.json_list(fingerprint for group in asked for fingerprint in group)),
    )
    known = {fingerprint for (fingerprint,) in rows}
    found = (tuple(fingerprint for fingerprint in group if fingerprint in known) for group in asked)
    return [group for group in found if len(group) > 1]


def _subtype_tally(archive: Archive, name: str, groups: Sequence[Sequence[str]]) -> tuple[int, int]:
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


def _subtype_fixes(
    archive: Archive, name: str, groups: Sequence[tuple[str, ...]]
) -> tuple[tuple[str | None, Fix, str], ...]:
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
            found += [(state.fix.date, fingerprint, state.fix, state.task_id) for state in _states.decode(states)]
    for group in dict.fromkeys(of_one[fingerprint] for fingerprint, _ in rows if fingerprint in of_one):
        found += [(state.fix.date, group[0], state.fix, state.task_id) for state in archive.fix_states(group)]
    found.sort(key=lambda item: (item[0], item[3], item[1] or ""), reverse=True)
    return tuple(item[1:] for item in found[:NEWEST_ROWS])


def _stated(archive: Archive, name: str) -> list[tuple[Fix, str]]:
    """Return the fixes that people stated for the subtype as a whole, each with its run."""
    rows = archive.db.execute(
        "SELECT f.row, r.finished, r.task_id FROM fix_rows f JOIN runs r ON r.id = f.run"
        " WHERE f.subtype = ? AND f.fingerprint IS NULL ORDER BY f.moment, f.number",
        (name,),
    )
    return [(fixes.stated_fix(fixes.ROW.decode(text), finished), task_id) for text, finished, task_id in rows]


def statements(archive: Archive, fingerprints: Sequence[str]) -> tuple[tuple[Fix, str], ...]:
    """Return how people and agents say a cause was fixed, oldest first, each with its run.

    Statements that were taken back are left out.
    """
    steps = cause_records.stated(archive.db, archive.present(fingerprints))
    return tuple((step.fix, step.task_id) for step in steps if step.fix and step.fix.by != "git")


def still_failing(archive: Archive, passing: Sequence[Passing]) -> list[StillFailing]:
    """Return those of the passing tests that had failed and whose passes so far do not settle it.

    A pass counts for a failure on the same simulator only, unless the test failed before a simulator was chosen.

    Args:
        archive: The records.
        passing: The tests. Once a test has passed at a commit with another seed than the one that failed, only a pass
            with the failing seed is news.

    Returns:
        One entry per test, target and cause, ordered by test and cause.
    """
    by_test: dict[str, list[Passing]] = {}
    for each in passing:
        by_test.setdefault(each.nodeid, []).append(each)
    rows = archive.db.execute(
        "WITH last AS (SELECT f.nodeid, f.fingerprint, f.simulator, f.config, MAX(f.moment) AS moment"
        " FROM failed f WHERE f.nodeid IN (SELECT value FROM json_each(?))"
        " AND NOT EXISTS (SELECT 1 FROM occurrences o WHERE o.fingerprint = f.fingerprint AND o.moment = f.moment"
        " AND o.without_fix) GROUP BY 1, 2, 3, 4)"
        " SELECT nodeid, fingerprint, simulator, config, moment, COALESCE((SELECT MAX(p.proof) FROM passed_again p"
        " WHERE p.nodeid = last.nodeid AND p.fingerprint = last.fingerprint AND p.moment > last.moment"
        " AND last.simulator IN (p.simulator, '*')), 0) AS proof FROM last WHERE proof < ? ORDER BY 1, 2, 3, 4",
        (tables.json_list(by_test), fixes.CERTAIN),
    ).fetchall()
    # One cause may have failed thousands of tests.
    is_deterministic = functools.cache(archive.is_deterministic)
    newest_of = functools.cache(lambda fingerprint: archive.newest_occurrence((fingerprint,)))
    fixes_of = functools.cache(lambda fingerprint: archive.fix_states((fingerprint,)))
    found = []
    for nodeid, fingerprint, simulator, config, moment, proof in rows:
        failed = Target(nodeid, simulator, config)
        by = _best_pass(failed, by_test[nodeid])
        if by is None:
            continue
        deterministic = is_deterministic(fingerprint)
        drawn_with = () if deterministic else _seeds(archive, failed, fingerprint)
        seeds = tuple(seed for seed in drawn_with if seed != UNKNOWN_SEED)
        seed_unknown = bool(drawn_with) and not seeds
        seed = next((one for one in seeds if one in {by.seed, *by.other_seeds}), seeds[0] if seeds else None)
        by = replace(by, seed=seed) if seed in by.other_seeds else by
        fixed = next((state.fix for state in fixes_of(fingerprint) if state.moment > moment), None)
        proven = fixed is not None and fixed.counts
        settled = proof >= fixes.ANY_SEED and (deterministic or proven or seed_unknown or by.seed != seed)
        if settled or not (by.whole or deterministic):
            continue
        vcs, simulators = _last_run(archive, failed, fingerprint)
        drawn, simulators = _last_run(archive, failed, fingerprint, seed) if seed in seeds else (vcs, simulators)
        newest = newest_of(fingerprint)
        found.append(
            StillFailing(
                nodeid=nodeid,
                fingerprint=fingerprint,
                seed=seed,
                proof=proof,
                vcs=vcs,
                evidence=f"{newest.primary}\n{newest.excerpt}" if newest else "",
                reads=newest.reads if newest else (),
                by=by,
                drawn=drawn,
                fixed=fixed,
                simulators=simulators,
                same_config=simulator == ANY or is_same_config(by.config or "", config),
                config_known=simulator == ANY or bool(by.config and config),
                deterministic=deterministic,
                seed_unknown=seed_unknown,
                one_of_several=_is_one_of_several(archive, failed, moment, by_test[nodeid]),
            )
        )
    return found


def _is_one_of_several(archive: Archive, failed: Target, moment: str, passing: Sequence[Passing]) -> bool:
    """Tell whether a folder failed that builds several designs, and not all of them were built since.

    Args:
        archive: The records.
        failed: The folder; its configuration is empty if it is unknown which of its designs failed.
        moment: The moment of its failure.
        passing: Its passes in the present run.
    """
    if build_of(failed.config) or not is_folder(failed.nodeid):
        return False
    before = archive.builds(failed.nodeid, "", moment)
    since = archive.builds(failed.nodeid, moment, EVER) | {build_of(each.config or "") for each in passing}
    return len(before) > 1 and not before <= since


def _best_pass(failed: Target, passing: Sequence[Passing]) -> Passing | None:
    """Return the most telling pass for a failure: preferably in its configuration, always on its simulator."""
    same = [each for each in passing if failed.simulator in {ANY, each.simulator or ""}]
    return max(same, key=lambda each: (is_same_config(each.config or "", failed.config), each.whole), default=None)


def _seeds(archive: Archive, failed: Target, fingerprint: str) -> tuple[str, ...]:
    """Return the seeds with which a test failed with a cause since its last pass after a change, newest first.

    `UNKNOWN_SEED` is among them if a seed is not on record.
    """
    nodeid, simulator, config = failed
    rows = archive.db.execute(
        "SELECT seed FROM failed f WHERE nodeid = :test AND simulator = :simulator AND config = :config"
        " AND fingerprint = :cause AND seed != '' AND moment > COALESCE((SELECT MAX(p.moment) FROM passed_again p"
        " WHERE p.nodeid = :test AND p.fingerprint = :cause AND p.proof > 1 AND :simulator IN (p.simulator, '*')"
        # A pass after the last failure is the one in question, or did not settle the matter.
        " AND p.moment < (SELECT MAX(moment) FROM failed l WHERE l.nodeid = :test AND l.simulator = :simulator"
        " AND l.config = :config AND l.fingerprint = :cause)), '') GROUP BY seed ORDER BY MAX(moment) DESC, seed",
        {"test": nodeid, "simulator": simulator, "config": config, "cause": fingerprint},
    )
    return tuple(seed for (seed,) in rows)


def _last_run(archive: Archive, failed: Target, fingerprint: str, seed: str | None = None) -> tuple[Vcs, str]:
    """Return the repository state and simulators of the last run at a commit in which a test failed with a cause."""
    commit, branch, dirty, changes, edited, simulators = archive.db.execute(
        "SELECT r.vcs_commit, r.branch, r.dirty, r.changes, r.edited, r.simulators FROM failed f"
        " JOIN occurrences o ON o.fingerprint = f.fingerprint AND o.moment = f.moment AND NOT o.without_fix"
        " JOIN runs r ON r.id = f.run WHERE f.nodeid = ? AND f.simulator = ? AND f.config = ? AND f.fingerprint = ?"
        " AND ? IN (f.seed, '') ORDER BY r.vcs_commit IS NULL, f.moment DESC LIMIT 1",
        (*failed, fingerprint, seed or ""),
    ).fetchone()
    vcs = Vcs(commit=commit, branch=branch, dirty=bool(dirty), changes=changes, edited=_texts.decode(edited))
    return vcs, simulators


def causes_of_pattern(archive: Archive, pattern: str) -> list[str]:
    """Return the causes that a pattern named, sorted."""
    rows = archive.db.execute(
        "SELECT DISTINCT fingerprint FROM occurrences WHERE pattern = ? ORDER BY fingerprint", (pattern,)
    )
    return [fingerprint for (fingerprint,) in rows]


def fingerprints(archive: Archive) -> list[str]:
    """Return all causes on record, sorted."""
    return [row[0] for row in archive.db.execute("SELECT fingerprint FROM causes ORDER BY 1")]


def subtypes(archive: Archive) -> list[str]:
    """Return all failure subtypes on record, sorted."""
    return [row[0] for row in archive.db.execute("SELECT subtype FROM tallies WHERE kind = 'subtype' ORDER BY 1")]


def subtypes_of(archive: Archive, causes: Iterable[str]) -> set[str]:
    """Return all failure subtypes that the causes ever had."""
    query = "SELECT DISTINCT subtype FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
    return {name for (name,) in archive.db.execute(query, (tables.json_list(sorted(causes)),))}


def holes(archive: Archive) -> list[tuple[str, str]]:
    """Return the covergroup and bin of every coverage row on record, sorted."""
    return list(archive.db.execute("SELECT DISTINCT covergroup, bin FROM coverage ORDER BY 1, 2"))


def bins(archive: Archive) -> dict[tuple[str, str], KnownBin]:
    """Return the newest state of each bin on record, by covergroup and bin."""
    rows = archive.db.execute(
        "SELECT covergroup, bin, row FROM coverage c WHERE NOT EXISTS (SELECT 1 FROM coverage d"
        " WHERE d.covergroup = c.covergroup AND d.bin = c.bin AND (d.moment, d.number) > (c.moment, c.number))"
    )
    found = ((covergroup, name, _bin_row.decode(row)) for covergroup, name, row in rows)
    return {(covergroup, name): KnownBin(row.filled, row.hits) for covergroup, name, row in found}


def hole(archive: Archive, covergroup: str, bin_name: str) -> Hole | None:
    """Sum up a bin of a covergroup; return None if no record has it."""
    found = archive.db.execute(
        "SELECT r.task_id, r.finished, c.row FROM coverage c JOIN runs r ON r.id = c.run"
        " WHERE c.covergroup = ? AND c.bin = ? ORDER BY c.moment DESC, c.number DESC",
        (covergroup, bin_name),
    )
    rows = [_coverage_row(task_id, finished, _bin_row.decode(text)) for task_id, finished, text in found]
    if not rows:
        return None
    since_filled = list(itertools.takewhile(lambda row: row.filled, rows))
    return Hole(
        covergroup=covergroup,
        bin=bin_name,
        first=rows[-1],
        rows=tuple(rows[:NEWEST_ROWS]),
        total=len(rows),
        filled_by=since_filled[-1].task_id if since_filled else None,
    )


def _coverage_row(task_id: str, finished: str, row: BinRow) -> CoverageRow:
    return CoverageRow(
        task_id=task_id,
        finished=finished,
        action_class=row.action_class or "",
        feature=row.feature or "",
        scenario=row.scenario or "",
        priority=row.priority,
        filled=row.filled,
        hits=row.hits,
        goal=row.goal,
    )


def causes_of_test(archive: Archive, nodeid: str) -> list[tuple[str, str]]:
    """Return the fingerprints and subtypes of the causes with which a test failed, newest first.

    Args:
        archive: The records.
        nodeid: The test. Without parameters it stands for all their values, and a runner for all tests inside it.
    """
    rows = archive.db.execute(
        "SELECT f.fingerprint, o.subtype, MAX(f.moment) AS newest FROM failed f"
        " JOIN occurrences o ON o.fingerprint = f.fingerprint AND o.moment = f.moment"
        " WHERE f.nodeid IN (SELECT value FROM json_each(?))"
        " GROUP BY f.fingerprint ORDER BY newest DESC, f.fingerprint",
        (tables.json_list(_variants(archive, nodeid)),),
    )
    return [(fingerprint, name) for fingerprint, name, _ in rows]


def _variants(archive: Archive, nodeid: str) -> list[str]:
    """Return the failing tests that a node id stands for: itself, tests inside it, and both with any parameters."""
    nodeid = redact_id(nodeid)
    parts = nodeid.split("::")
    parents = ["::".join(parts[:count]) for count in range(2, len(parts) + 1)]
    # The character after `:` is `;`, the one after `[` a backslash.
    ranges = [(f"{nodeid}::", f"{nodeid}:;"), *((f"{parent}[", f"{parent}\\") for parent in parents)]
    found = [nodeid]
    for first, last in ranges:
        rows = archive.db.execute("SELECT DISTINCT nodeid FROM failed WHERE nodeid > ? AND nodeid < ?", (first, last))
        for (other,) in rows:
            plain = without_parameters(other)
            if other.startswith(f"{nodeid}::") or plain == nodeid or plain.startswith(f"{nodeid}::"):
                found.append(other)
    return found
