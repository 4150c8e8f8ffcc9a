"""Sum up all records of a cause.

A *run* is a record in which the cause occurred. *Tests* counts failing tests over all runs. Times are UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Struct

from pytest_dvwiki.model import FirstBad, Onset, RunId, Waived
from pytest_dvwiki.records import cause_records, fixes, matrix, proposals, sides, tables
from pytest_dvwiki.records.chance import Rate
from pytest_dvwiki.records.kinds import SIMULATION_CLASSES, is_infrastructure
from pytest_dvwiki.records.name_parts import check_of
from pytest_dvwiki.records.sides import is_prose, is_unread
from pytest_dvwiki.records.targets import ANY, without_parameters
from pytest_dvwiki.redact import redact_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_dvwiki.model import Fix, Occurrence, Origin, OriginType
    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.records.proposals import ProposedFix

NEWEST_TASKS = 20
NEWEST_ROWS = 20
SEEDS = 20
NEWEST_UNPROVEN = 5
_MOST_EARLIER_ORIGINS = 3
"""Maximum number of fixes, and of ranges of commits, for which the origin of earlier failures is looked up."""
_ROWS_FOR_SEEDS = 200
TEXTS = msgspec.json.Decoder(tuple[str, ...])


class OccurrenceRow(NamedTuple):
    """One occurrence, as pages and outputs list it."""

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
    """The simulators on which tests are known to have failed."""
    without_fix: int
    """1 if the run's commit lacked the newest fix; `tables.REPORTED` if the failure was only reported; otherwise 0."""
    edited: tuple[str, ...] = ()
    """The files with uncommitted changes; empty if they are not on record."""
    edited_lines: tuple[str, ...] = ()
    """Short hashes of the lines of the uncommitted changes; empty if they are not on record."""


class UnprovenPass(NamedTuple):
    """A pass after a failure, without a known change that could explain it."""

    task_id: str
    finished: str
    nodeid: str
    simulator: str
    """Name of the simulator; empty if it is not on record."""
    changed: str
    """What changed between failure and pass: a `model.Change`."""
    seed: str | None
    failed_seed: str | None
    """Seed of the failure; `UNKNOWN_SEED` if it is not on record."""


class CauseHistory(Struct, frozen=True, kw_only=True):
    """The history of one cause, from the records."""

    fingerprint: str
    """The fingerprint of the cause's newest occurrence."""
    runs: int
    tests: int
    first_seen: str
    last_seen: str
    task_ids: tuple[str, ...]
    """Ids of the newest runs, newest first."""
    seeds: tuple[str, ...]
    """Distinct seeds of the newest occurrences, in ascending order."""
    rows: tuple[OccurrenceRow, ...]
    """The newest occurrences, newest first."""
    first: OccurrenceRow
    """The oldest occurrence."""
    newest: Occurrence
    fixes: tuple[fixes.FixState, ...]
    unproven: tuple[UnprovenPass, ...]
    """The newest passes that no fix explains, newest first."""
    first_bad: FirstBad | None
    """The range of commits that introduced the cause the last time it appeared or came back."""
    first_bad_task: str
    """The run that found `first_bad`."""
    first_bad_found: str
    """When the run `first_bad_task` finished."""
    regressed: tuple[str, str] | None
    """Time and id of the run where the cause came back after a fix that held, or after its page was closed.

    None once the cause is fixed.
    """
    waived: tuple[Waived, ...]
    """The waivers of the cause's newest occurrence."""
    proposal: ProposedFix | None
    """A fix that held for another cause of the same pattern, if this cause is not fixed."""
    same_commits: tuple[str, ...]
    """Other causes that were fixed by the commits of this cause's newest fix."""
    jobs: tuple[str, ...] = ()
    """For an infrastructure cause, the ids of the affected jobs; for a run without a job id, its task id."""
    hosts: tuple[str, ...] = ()
    """For an infrastructure cause, the affected machines that are on record."""
    reports: int = 0
    """Number of runs in which the cause was only reported."""
    matrix: tuple[matrix.Split, ...] = ()
    """The matrix axes that separate failing from passing runs of the same tests at the newest occurrence's commit."""
    earlier_origins: tuple[tuple[str, OriginType], ...] = ()
    """Earlier failures that may have had a different fault: a description, and the side to which they pointed.

    The description says which failures are meant.
    """

    @property
    def origin_fix(self) -> FixState | None:
        """Return the newest fix if it held and its origin differs from that of the last failure; otherwise None."""
        state = self.fixes[-1] if fixes.is_fixed(self.fixes) else None
        last = next((row.finished for row in self.rows if not row.without_fix), "")
        if state is None or state.fix.result != "held" or state.other_passes < state.other_tests:
            return None
        decides = last <= state.fix.date and sides.with_held_fix(self.newest, state.fix) != self.newest.origin
        return state if decides else None

    @property
    def origin(self) -> Origin:
        """Return the origin of the last failure, judged again after a fix that held.

        The origin is unknown if earlier failures point to the other side.
        """
        state = self.origin_fix
        last = self.newest.origin if state is None else sides.with_held_fix(self.newest, state.fix)
        return sides.of_both_sides(last, self.earlier_origins)


_ROW = (
    "SELECT o.fingerprint, r.task_id, r.finished, o.error_class, o.pattern, o.tests, o.names, o.seeds, r.vcs_commit,"
    " r.dirty, r.branch, r.simulators, o.without_fix, r.edited,"
    " r.edited_lines,"
    " (SELECT group_concat(DISTINCT f.simulator) FROM failed f WHERE f.run = o.run AND f.fingerprint = o.fingerprint)"
    " FROM occurrences o JOIN runs r ON r.id = o.run"
)


def occurrence_rows(archive: Archive, rest: str, values: Sequence[Any]) -> Iterator[OccurrenceRow]:
    """Yield the occurrences selected by the last clauses of an SQL statement, `WHERE o.… ORDER BY …`."""
    for (
        *row,
        names,
        seeds,
        commit,
        dirty,
        branch,
        simulators,
        without_fix,
        edited,
        lines,
        failing,
    ) in archive.db.execute(f"{_ROW} {rest}", tuple(values)):
        where = (commit, dirty, branch, _failing(simulators, failing or ""))
        edits = (TEXTS.decode(edited), TEXTS.decode(lines))
        yield OccurrenceRow._make((*row, TEXTS.decode(names), TEXTS.decode(seeds), *where, without_fix, *edits))


def _failing(simulators: str, failing: str) -> str:
    """Return the simulators of a run on which tests are known to have failed.

    Args:
        simulators: The run's simulators, with their versions.
        failing: The names of the simulators of the failures.
    """
    names = sorted({*failing.split(",")} - {"", ANY})
    found = [each for each in simulators.split(", ") if each.partition(" ")[0] in names]
    listed = {each.partition(" ")[0] for each in found}
    return ", ".join((*found, *(name for name in names if name not in listed)))


def cause(archive: Archive, fingerprints: Sequence[str]) -> CauseHistory | None:
    """Sum up the history of a cause.

    Args:
        archive: The records.
        fingerprints: All current and former fingerprints of the cause.

    Returns:
        The history; None if no record has any of the fingerprints.
    """
    found = archive.newest_occurrence(fingerprints)
    if found is None:
        return None
    where = "WHERE o.fingerprint IN (SELECT value FROM json_each(?))"
    present = archive.present(fingerprints)
    parameters = (tables.json_list(present),)
    rows = tuple(occurrence_rows(archive, f"{where} ORDER BY o.moment DESC LIMIT {NEWEST_ROWS}", parameters))
    # If these are all occurrences, as for a new cause, no further queries are needed.
    counts = _counts_of(rows) if len(rows) < NEWEST_ROWS else _counts(archive, parameters)
    task_ids, seeds = _newest_in(rows) if len(rows) < NEWEST_ROWS else _newest_of(archive, parameters)
    states = tuple(archive.fix_states(fingerprints))
    # If a cause is back, the commits that introduced it before its fix no longer matter.
    outlived = [state for state in states if (state.fix.counts or _may_separate_faults(state)) and state.returned]
    came, came_task, came_found = _first_bad(archive, fingerprints, outlived[-1].moment if outlived else "")
    is_fixed = fixes.is_fixed(states)
    first = next(row for row in rows if row.task_id == rows[-1].task_id)
    if len(rows) == NEWEST_ROWS:
        (first,) = occurrence_rows(archive, f"{where} ORDER BY o.moment LIMIT 1", parameters)
    jobs, hosts = _jobs(archive, parameters) if is_infrastructure(found) else ((), ())
    return CauseHistory(
        fingerprint=found.fingerprint,
        runs=counts.runs,
        tests=counts.tests,
        reports=counts.reports,
        first_seen=first.finished,
        last_seen=rows[0].finished,
        task_ids=task_ids,
        seeds=seeds,
        rows=rows,
        first=first,
        newest=found,
        fixes=states,
        unproven=_unproven(archive, parameters),
        first_bad=came,
        first_bad_task=came_task,
        first_bad_found=came_found,
        regressed=None if is_fixed else _regressed(archive, present, states),
        waived=_waived(archive, present, rows[0]),
        proposal=None if is_fixed else _proposal(archive, present, found),
        same_commits=tuple(proposals.same_commits(archive.db, present)) if is_fixed else (),
        jobs=jobs,
        hosts=hosts,
        matrix=matrix.splits(archive, present, rows[0].commit) if rows[0].commit and not rows[0].dirty else (),
        # Earlier origins matter only if there are several failures, and the last ones point to a side.
        earlier_origins=tuple(_earlier_origins(archive, fingerprints, outlived[-_MOST_EARLIER_ORIGINS:]))
        if len(rows) > 1 and (is_fixed or found.origin.type in sides.SIDES)
        else (),
    )


def _earlier_origins(
    archive: Archive, fingerprints: Sequence[str], outlived: Iterable[FixState]
) -> Iterator[tuple[str, OriginType]]:
    """Yield earlier failures that may have had a different fault: a description, and the side to which they pointed.

    These are the last failure before each fix in `outlived`, and the failure in each run that found for certain which
    commits introduced the cause. The newest of these runs is left out.

    Args:
        archive: The records.
        fingerprints: The fingerprints of the cause.
        outlived: Fixes after which the cause came back.
    """
    present = tables.json_list(archive.present(fingerprints))
    for state in outlived:
        side = _side_until(archive, present, state.moment)
        if side == "UNKNOWN" and state.fix.result == "held":
            last = archive.newest_occurrence(fingerprints, state.moment)
            side = None if last is None else sides.with_held_fix(last, state.fix).type
        if side is not None:
            yield f"before the fix of {state.fix.date[:10]}", side
    ranges = archive.db.execute(
        "SELECT b.moment, json_extract(b.row, '$.bad') FROM first_bad b"
        " WHERE b.fingerprint IN (SELECT value FROM json_each(?)) AND json_extract(b.row, '$.passed_with') = 'same'"
        " AND NOT json_extract(b.row, '$.dirty') ORDER BY b.moment DESC LIMIT ?",
        (present, 1 + _MOST_EARLIER_ORIGINS),
    ).fetchall()
    for moment, commit in ranges[1:]:
        side = _side_until(archive, present, moment)
        if side is not None:
            yield f"from {commit[:7]} on", side


def _side_until(archive: Archive, present: str, moment: str) -> OriginType | None:
    """Return the side to which the newest failure up to a run pointed; None if there is no failure."""
    row = archive.db.execute(
        "SELECT origin FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?)) AND moment <= ?"
        " ORDER BY moment DESC LIMIT 1",
        (present, moment),
    ).fetchone()
    return row[0] if row else None


class _OccurrenceCounts(NamedTuple):
    """Number of runs, failing tests, and reports of a cause."""

    runs: int
    tests: int
    reports: int


def _counts(archive: Archive, parameters: tuple[str]) -> _OccurrenceCounts:
    """Count the runs, failing tests and reports of a cause in the tables."""
    reported = f"COUNT(DISTINCT CASE WHEN without_fix = {tables.REPORTED} THEN moment END)"
    row = archive.db.execute(
        f"SELECT COUNT(DISTINCT moment), SUM(tests), {reported} FROM occurrences"  # noqa: S608 (constants)
        " WHERE fingerprint IN (SELECT value FROM json_each(?))",
        parameters,
    ).fetchone()
    return _OccurrenceCounts._make(row)


def _counts_of(rows: Sequence[OccurrenceRow]) -> _OccurrenceCounts:
    """Count the runs, failing tests and reports of a cause, given the rows of all its occurrences."""
    reported = {row.task_id for row in rows if row.without_fix == tables.REPORTED}
    return _OccurrenceCounts(len({row.task_id for row in rows}), sum(row.tests for row in rows), len(reported))


def _jobs(archive: Archive, parameters: tuple[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the jobs and the hosts on which a cause occurred."""
    rows = archive.db.execute(
        "SELECT DISTINCT r.task_id, r.run_id FROM occurrences o JOIN runs r ON r.id = o.run"
        " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) ORDER BY r.moment",
        parameters,
    )
    runs = [(task_id, msgspec.json.decode(run_id, type=RunId)) for task_id, run_id in rows]
    jobs = dict.fromkeys(run_id.job or task_id for task_id, run_id in runs)
    return tuple(jobs), tuple(dict.fromkeys(run_id.host for _, run_id in runs if run_id.host))


def _first_bad(archive: Archive, fingerprints: Sequence[str], after: str = "") -> tuple[FirstBad | None, str, str]:
    """Return the newest range of commits that introduced a cause, preferably a certain one, with the run that found it.

    The third value is the time at which that run finished.
    """
    if not archive.has_rows("first_bad"):
        return None, "", ""
    row = archive.db.execute(
        "SELECT b.row, r.task_id, r.finished FROM first_bad b JOIN runs r ON r.id = b.run"
        " WHERE b.fingerprint IN (SELECT value FROM json_each(?)) AND b.moment > ?"
        " ORDER BY json_extract(b.row, '$.passed_with') != 'same' OR json_extract(b.row, '$.dirty'), b.moment DESC"
        " LIMIT 1",
        (tables.json_list(archive.present(fingerprints)), after),
    ).fetchone()
    return (msgspec.json.decode(row[0], type=FirstBad), row[1], row[2]) if row else (None, "", "")


def _regressed(
    archive: Archive, fingerprints: Sequence[str], states: Sequence[fixes.FixState]
) -> tuple[str, str] | None:
    """Return the time and id of the run in which an open cause came back; None if it has not regressed.

    The cause has to occur after its newest fix; fixes whose passes may be due to chance are skipped. A check that
    fails again while the fix is still in the sources is not a regression: it may report a different fault.
    """
    lasting = [state for state in states if state.fix.counts or state.seed_passed or not state.fix.passes]
    row = archive.db.execute(
        "SELECT r.finished, r.task_id FROM occurrences o JOIN runs r ON r.id = o.run"
        " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) AND o.moment > ? AND NOT o.without_fix"
        " AND (o.regressed OR ?) ORDER BY o.moment LIMIT 1",
        (
            tables.json_list(fingerprints),
            lasting[-1].moment if lasting else "",
            bool(lasting) and lasting[-1].fix.result == "held" and not lasting[-1].fix.in_place,
        ),
    ).fetchone()
    return (row[0], row[1]) if row else None


def _waived(archive: Archive, fingerprints: Sequence[str], newest: OccurrenceRow) -> tuple[Waived, ...]:
    """Return the waivers of an occurrence."""
    if not archive.has_rows("waived"):
        return ()
    found = archive.db.execute(
        "SELECT w.row FROM waived w JOIN runs r ON r.id = w.run"
        " WHERE w.fingerprint IN (SELECT value FROM json_each(?)) AND r.task_id = ? ORDER BY w.number",
        (tables.json_list(fingerprints), newest.task_id),
    )
    return tuple(msgspec.json.decode(row, type=Waived) for (row,) in found)


class Caught(NamedTuple):
    """The failures that a waiver matched in the newest run where it matched anything."""

    task_id: str
    finished: str
    tests: int
    causes: int


def caught(archive: Archive) -> dict[str, Caught]:
    """Map the id of each waiver to the failures that it matched most recently."""
    rows = archive.db.execute(
        "SELECT json_extract(w.row, '$.id') waiver, r.task_id, r.finished, SUM(json_array_length(w.row, '$.tests')),"
        " COUNT(*), MAX(r.moment) FROM waived w JOIN runs r ON r.id = w.run GROUP BY waiver, r.id ORDER BY r.moment"
    )
    return {name: Caught(*rest[:4]) for name, *rest in rows}


def onset(archive: Archive, fingerprints: Sequence[str]) -> Onset | None:
    """Return the first appearance of a cause since its last proven fix; None if no record has the cause.

    A range of commits is omitted if it was found before a later pass with the failing seed, because the failures after
    that pass may have a different fault. It is also omitted if it was found before a fix that was later reverted, or
    that was still in the sources when the check failed again.
    """
    states = archive.fix_states(fingerprints)
    newest = next((state for state in reversed(states) if state.fix.counts), None)
    fixed, fix = (newest.moment, newest.fix) if newest is not None else ("", None)
    passed = max((state.moment for state in states if _may_separate_faults(state)), default=fixed)
    passed_at = fix.commits[-1] if fix is not None and fix.by == "git" and fix.log and fix.commits else None
    parameters = {
        "causes": tables.json_list(archive.present(fingerprints)),
        "fixed": fixed,
        "passed": max(fixed, passed),
    }
    occurrences = (
        "SELECT r.vcs_commit, o.moment FROM occurrences o JOIN runs r ON r.id = o.run"
        " WHERE o.fingerprint IN (SELECT value FROM json_each(:causes)) AND NOT o.without_fix"
    )
    before = archive.db.execute(
        f"{occurrences} AND o.moment < :fixed ORDER BY o.moment DESC LIMIT 1", parameters
    ).fetchone()
    first = archive.db.execute(f"{occurrences} AND o.moment > :passed ORDER BY o.moment LIMIT 1", parameters).fetchone()
    if first is None and before is None:
        return None
    rates = archive.rates(fingerprints, first[1]) if first else {}
    return Onset(
        moment=first and first[1],
        commit=_first_commit(archive, fingerprints, parameters),
        first_bad=_first_bad(archive, fingerprints, max(fixed, passed))[0],
        failed=_failed_since(archive, parameters),
        fixed_after=passed_at or (before and before[0]),
        comes_and_goes=archive.comes_and_goes(fingerprints),
        passes_needed=_passes_needed(rates),
        passes_to_hold=_passes_to_hold(newest),
        since={nodeid: (rate.failed, rate.runs) for nodeid, rate in rates.items()},
    )


def _first_commit(archive: Archive, fingerprints: Sequence[str], parameters: Mapping[str, str]) -> str | None:
    """Return the commit of the first run that had the cause and no relevant uncommitted changes.

    Only runs after the cause's last pass or fix count. A change is relevant if the simulation read the file; all
    simulations are assumed to read the same files as the newest one that failed. None if there is no such run.
    """
    rows = archive.db.execute(
        "SELECT r.vcs_commit, r.dirty, r.edited FROM occurrences o JOIN runs r ON r.id = o.run"
        " WHERE o.fingerprint IN (SELECT value FROM json_each(:causes)) AND NOT o.without_fix AND o.moment > :passed"
        " AND r.vcs_commit IS NOT NULL AND (NOT r.dirty OR r.edited != '[]') ORDER BY o.moment",
        parameters,
    )
    newest: Occurrence | None = None
    for commit, dirty, edited in rows:
        newest = archive.newest_occurrence(fingerprints) if dirty and newest is None else newest
        reads = newest.reads if newest is not None else ()
        if not dirty or all(is_unread(name, reads) or is_prose(name, reads) for name in TEXTS.decode(edited)):
            return str(commit)
    return None


def _failed_since(archive: Archive, parameters: Mapping[str, str]) -> frozenset[str]:
    """Return the tests that failed with the cause since its last pass or fix."""
    rows = archive.db.execute(
        "SELECT DISTINCT nodeid FROM failed WHERE fingerprint IN (SELECT value FROM json_each(:causes))"
        " AND moment > :passed",
        {"causes": parameters["causes"], "passed": parameters["passed"]},
    )
    return frozenset(nodeid for (nodeid,) in rows)


def _may_separate_faults(state: fixes.FixState) -> bool:
    """Return whether the failures after a fix may come from another fault than those before it.

    They may if a run with the failing seed passed, or if it is known whether the sources still had the fix when the
    cause came back.
    """
    return state.seed_passed or state.fix.in_place is not None


def _passes_to_hold(fixed: fixes.FixState | None) -> dict[str, int]:
    """Map each test to the number of passes that its last fix needed to hold.

    The same number of passes before the cause came back shows that it was absent.
    """
    if fixed is None or fixed.fix.held_in is None:
        return {}
    return {test.nodeid: fixed.fix.needed for test in fixed.tests}


def _passes_needed(rates: Mapping[str, Rate]) -> dict[str, int]:
    """Map each test to the number of passes before its first failure that prove that the cause was not there yet.

    The given rates leave out the first failure.
    """
    # The current failure is one more run; one pass is added, because the runs are few, unless the failures are alike.
    return {
        nodeid: 1
        if rate.is_alike and rate.failed == rate.runs
        else Rate(failed=rate.failed, runs=rate.runs + 2).runs_needed
        for nodeid, rate in rates.items()
        if rate.failed
    }


def _proposal(archive: Archive, present: Sequence[str], newest: Occurrence) -> ProposedFix | None:
    """Return the fix that is proposed for an open cause; None if there is none.

    A fix that only git describes must consist of commits: nobody could look at uncommitted changes. None of the commits
    may be a suspect for the open cause, or belong to a fix of this cause. If only a simulation can report the failure,
    such as a failed comparison, the fix must also have changed a file that the simulation reads. A fix of another cause
    of the same check is no proposal: it was in place when that check failed again.
    """
    found = proposals.proposal(archive.db, present, newest.pattern) if archive.has_rows("proposals") else None
    if found is not None and check_of(found.fingerprint) in map(check_of, present):
        return None
    if found is None or found.fix.by != "git":
        return found
    fix = found.fix
    is_elsewhere = (
        newest.error_class in SIMULATION_CLASSES
        and fix.file_count == len(fix.files)
        and all(is_unread(file, newest.reads) for file in fix.files)
    )
    came = _first_bad(archive, present)[0]
    is_suspect = came is not None and not {*fix.log}.isdisjoint(came.log)
    own = {line for state in archive.fix_states(present) for line in state.fix.log}
    is_tried = not own.isdisjoint(fix.log)
    return None if is_elsewhere or is_suspect or is_tried or fix.note or not fix.log else found


def _unproven(archive: Archive, parameters: tuple[str]) -> tuple[UnprovenPass, ...]:
    if not archive.has_rows("passed_again"):
        return ()
    rows = archive.db.execute(
        "SELECT r.task_id, r.finished, p.nodeid, p.simulator, p.changed, p.seed, p.failed_seed FROM passed_again p"
        " JOIN runs r ON r.id = p.run WHERE p.fingerprint IN (SELECT value FROM json_each(?)) AND p.proof = 1"
        " ORDER BY p.moment DESC, p.nodeid LIMIT ?",
        (*parameters, NEWEST_UNPROVEN),
    )
    return tuple(map(UnprovenPass._make, rows))


def _newest_of(archive: Archive, parameters: tuple[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of the newest runs of a cause, newest first, and its newest seeds in ascending order."""
    task_ids: dict[str, None] = {}
    seeds: dict[str, None] = {}
    for moment, text in archive.db.execute(
        "SELECT moment, seeds FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
        " ORDER BY moment DESC LIMIT ?",
        (*parameters, _ROWS_FOR_SEEDS),
    ):
        task_ids[moment.split(" ", 2)[2]] = None
        seeds |= dict.fromkeys(TEXTS.decode(text))
        if len(task_ids) >= NEWEST_TASKS and len(seeds) >= SEEDS:
            break
    return tuple(task_ids)[:NEWEST_TASKS], _ascending(seeds)


def _newest_in(rows: Sequence[OccurrenceRow]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what `_newest_of` returns, computed from the rows of all occurrences, newest first."""
    seeds = dict.fromkeys(seed for row in rows for seed in row.seeds)
    return tuple(dict.fromkeys(row.task_id for row in rows))[:NEWEST_TASKS], _ascending(seeds)


def _ascending(seeds: Mapping[str, None]) -> tuple[str, ...]:
    """Return the first `SEEDS` seeds in ascending order."""
    return tuple(sorted(list(seeds)[:SEEDS], key=lambda seed: (len(seed), seed)))


def statements(archive: Archive, fingerprints: Sequence[str]) -> tuple[tuple[Fix, str], ...]:
    """Return the fixes of a cause that people and agents stated, oldest first, each with the id of its run.

    Withdrawn statements are omitted.
    """
    steps = cause_records.stated(archive.db, archive.present(fingerprints))
    return tuple((step.fix, step.task_id) for step in steps if step.fix and step.fix.by != "git")


def causes_of_pattern(archive: Archive, pattern: str) -> list[str]:
    """Return the causes that were classified by a pattern, sorted."""
    rows = archive.db.execute(
        "SELECT DISTINCT fingerprint FROM occurrences WHERE pattern = ? ORDER BY fingerprint", (pattern,)
    )
    return [fingerprint for (fingerprint,) in rows]


def fingerprints(archive: Archive) -> list[str]:
    """Return all causes on record, sorted."""
    return [row[0] for row in archive.db.execute("SELECT fingerprint FROM causes ORDER BY 1")]


def causes_of_test(archive: Archive, nodeid: str) -> list[tuple[str, str]]:
    """Return the fingerprints and subtypes of the causes that made a test fail, newest first.

    Args:
        archive: The records.
        nodeid: The test. A test name without parameters matches every parametrization; a runner's name matches all the
            tests it runs.
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
    """Return the failing tests that match a node id: the test, tests inside it, and every parametrization of them."""
    nodeid = redact_id(nodeid)
    parts = nodeid.split("::")
    parents = ["::".join(parts[:count]) for count in range(2, len(parts) + 1)]
    # Each range of names ends at the prefix with another last character, the next one: `;` instead of `:`, a backslash
    # instead of `[`, and `0` instead of `/`.
    ranges = [(f"{nodeid}::", f"{nodeid}:;"), *((f"{parent}[", f"{parent}\\") for parent in parents)]
    ranges.append((f"{nodeid}/", f"{nodeid}0"))
    found = [nodeid]
    for first, last in ranges:
        rows = archive.db.execute("SELECT DISTINCT nodeid FROM failed WHERE nodeid > ? AND nodeid < ?", (first, last))
        for (other,) in rows:
            plain = without_parameters(other)
            if other.startswith(f"{nodeid}::") or plain == nodeid or plain.startswith(f"{nodeid}::"):
                found.append(other)
    return found
