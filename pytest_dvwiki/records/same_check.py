# ruff: noqa: S608 (only constants are inserted into statements)
"""Decide whether a check that fails again reports a cause on record or a different one.

A fingerprint identifies a check. After a fix, a new failure of the check has a different cause if all of this is on
record:

* passes prove the fix, and the cause has not come back since;
* other tests fail, with other seeds, or with a seed that had passed while the cause made other tests fail;
* files were changed since the fix, but none that the fix changed, unless git shows that the lines of the fix are
  still there;
* the tests that had failed before the fix pass in the run that fails now.

The cause is also different if tests fail that the fix had made pass, while the fix is still in the sources, other
relevant sources were changed since, and nothing suggests that the fix only made the failure rarer. This requires one of
the following:

* a test fails with a seed that had passed with the fix, and no change since can alter the stimulus of that seed;
* the tests had failed in every run before the fix, at least two with different seeds, and passed in at least two since;
* the fix held, and the cause does not depend on the seed, or the failing seed had passed with the fix.

Even if no run passed in between, the cause is different if the changes that introduced the earlier cause cannot explain
the failure, because the failing simulation did not read them or its tests had passed with them, and other relevant
sources were changed.

Otherwise the cause is the same. It is back if a test that the fix made pass fails again, with any parameters; if only
other tests fail, the fix stays proven.

A run may record that its failures of one check have several causes. These are always different causes, and each is
decided by its own failures. `name_parts` describes the names.

Runs are decided in the order in which they finished, each from earlier records only, so it does not matter in which
order records arrive.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.model import SinceFix
from pytest_dvwiki.records import fixes, store
from pytest_dvwiki.records.cause_records import CauseRecords
from pytest_dvwiki.records.chance import FEWEST_RUNS
from pytest_dvwiki.records.kinds import UNKNOWN_SEED
from pytest_dvwiki.records.name_parts import OF_CHECK, SLASH, further_name, recorded_name, resolved
from pytest_dvwiki.records.tables import json_list
from pytest_dvwiki.records.targets import Target, share_a_test
from pytest_dvwiki.records.units import parents_of
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.records.passes import Passes

_BY_RUN = ("occurrences", "failed", "waived")
"""Tables whose rows have the cause of the occurrence in the same run; the column `part` keeps the recorded number."""
_BY_NAME = ("passed_again", "fix_rows", "first_bad")
"""Tables whose rows refer to a cause by name; the column `named` keeps the name from the record."""


class FailingTest(NamedTuple):
    """A failing test with its seed."""

    target: Target
    seed: str
    """Empty if the test has no seed, `UNKNOWN_SEED` if the seed is not on record."""


class Change(Struct, frozen=True, kw_only=True):
    """The changes between a fix and a run."""

    cause: str = ""
    """The cause that was fixed; empty if the row in the record does not name it."""
    since: str
    """Sort key of the first run of the fix; empty if it is not on record."""
    files: frozenset[str]
    """Files that differ from the run `since`."""
    is_whole: bool
    """Whether `files` lists all files that differ."""
    passed: frozenset[str]
    """Tests that had failed before the fix and pass now."""
    in_place: bool | None = None
    """Whether the sources still have the changes of the fix; None if unknown."""
    same_stimulus: bool = False
    """Whether the changes are known to leave the stimulus of every seed unchanged."""


class CheckFailure(Struct, frozen=True, kw_only=True):
    """A check that fails in a run."""

    moment: str
    """Sort key of the run; `~` if it is not on record yet."""
    task_id: str
    failing: frozenset[FailingTest]
    changes: tuple[Change, ...] = ()
    without_fix: bool = False
    """Whether the run's commit lacks a fix of the check."""
    undone: frozenset[str] = frozenset()
    """Names of causes that cannot explain the failure in this run."""
    part: int = 0
    """The number of the failure's cause among those that the check reported in the run."""
    taken: frozenset[str] = frozenset()
    """Causes of the check's other failures in the run."""

    @property
    def seeded(self) -> set[FailingTest]:
        """Return the failing tests that have no seed or a known seed."""
        return {each for each in self.failing if each.seed != UNKNOWN_SEED}


class Standing(Struct, frozen=True, kw_only=True):
    """A cause that has not come back since its newest fix."""

    name: str
    state: fixes.FixState
    tests: tuple[Target, ...]
    """The tests that had failed before the cause was fixed."""


def family(db: sqlite3.Connection, fingerprint: str) -> tuple[str, ...]:
    """Return the names of all causes of a check, oldest first; empty if there is only one."""
    if not db.execute(f"SELECT 1 FROM further WHERE {OF_CHECK}", {"name": fingerprint}).fetchone():
        return ()
    rows = db.execute(
        f"SELECT fingerprint FROM occurrences WHERE {OF_CHECK} GROUP BY fingerprint ORDER BY MIN(moment)",
        {"name": fingerprint},
    )
    return tuple(name for (name,) in rows)


def standing(db: sqlite3.Connection, passes: Passes, fingerprint: str, moment: str = EVER) -> list[Standing]:
    """Return the fixed causes of a check that had not come back before the given sort key, most recently seen first.

    Fixes whose passes may be chance are included; fixes without any pass are not.
    """
    found = []
    for name in _members(db, fingerprint, moment):
        records = CauseRecords(db, passes, (name,), moment)
        states = fixes.judge(records.steps(), records)
        newest = states[-1] if states else None
        if newest is None or newest.returned or newest.fix.result == "failed":
            continue
        if newest.fix.passes:
            tests = {*newest.tests, *records.last_failing(newest.moment)}
            found.append(Standing(name=name, state=newest, tests=tuple(sorted(tests))))
    return found


def open_causes(db: sqlite3.Connection, passes: Passes, fingerprint: str) -> tuple[str, ...]:
    """Return the causes of a check that are not fixed, most recently seen first."""
    fixed = {each.name for each in standing(db, passes, fingerprint) if each.state.fix.counts}
    return tuple(name for name in _members(db, fingerprint, EVER) if name not in fixed)


def last_causes(db: sqlite3.Connection, fingerprint: str, nodeids: Iterable[str]) -> dict[str, str]:
    """Map each test that has failed at a check to the cause of its newest failure there."""
    rows = db.execute(
        f"SELECT nodeid, fingerprint, MAX(moment) FROM failed WHERE {OF_CHECK}"
        " AND nodeid IN (SELECT value FROM json_each(:tests)) GROUP BY nodeid",
        {"name": fingerprint, "tests": json_list(nodeids)},
    )
    return {nodeid: cause for nodeid, cause, _ in rows}


def hidden_since(db: sqlite3.Connection, names: Sequence[str], nodeids: Iterable[str]) -> str | None:
    """Return the last commit at which tests failed with a cause, if all of them failed with other causes since.

    Return None if one of these tests has not failed otherwise since, or if the commit is unknown.

    Args:
        db: The tables.
        names: The current names of the cause.
        nodeids: Tests that fail now. Those that never failed with the cause are ignored.
    """
    own, last = json_list(names), ""
    for nodeid in nodeids:
        query = "SELECT MAX(moment) FROM failed WHERE nodeid = ? AND fingerprint IN (SELECT value FROM json_each(?))"
        (moment,) = db.execute(query, (nodeid, own)).fetchone()
        if moment is None:
            continue
        # The test did not run if, for example, its build failed.
        others = db.execute(
            "SELECT 1 FROM failed WHERE nodeid IN (SELECT value FROM json_each(?)) AND moment > ?"
            " AND fingerprint NOT IN (SELECT value FROM json_each(?)) LIMIT 1",
            (json_list((nodeid, *parents_of(nodeid))), moment, own),
        )
        if others.fetchone() is None:
            return None
        last = max(last, moment)
    row = db.execute("SELECT vcs_commit FROM runs WHERE moment = ? AND NOT dirty", (last,)).fetchone()
    return str(row[0]) if row and row[0] else None


def cause_of(db: sqlite3.Connection, passes: Passes, fingerprint: str, seen: CheckFailure) -> str:
    """Return the cause to which a failure of a check belongs, judging by earlier records.

    Args:
        db: The tables, with the causes of earlier runs assigned.
        passes: The tests that passed in each run.
        fingerprint: The fingerprint of the check.
        seen: The failure.
    """
    members = _members(db, fingerprint, seen.moment)
    if len(members) <= 1 and not (seen.changes or seen.undone or seen.taken):
        return members[0] if members else fingerprint
    before = {name: _failed(db, name, seen.moment) for name in members}
    stand = standing(db, passes, fingerprint, seen.moment)
    fixed = {each.name: each for each in stand if each.state.fix.counts}
    ended = {name for name, each in fixed.items() if _has_ended(each, before[name], seen, db, passes)}
    ended |= seen.taken | seen.undone
    members = [name for name in members if name not in ended]
    same_stimulus = [name for name in members if before[name] & seen.seeded]
    now = {each.target.nodeid for each in seen.failing}
    same_test = [name for name in members if share_a_test({each.target.nodeid for each in before[name]}, now)]
    still_open = [name for name in members if name not in fixed]
    lacking = [name for name in fixed if seen.without_fix and name not in ended]
    undone = [name for name in members if name in fixed and _is_undone(fixed[name], seen)]
    first = (
        *(name for name in undone if name in same_stimulus),
        *same_stimulus,
        *(name for name in lacking if name in same_test),
        *lacking,
        *(name for name in still_open if name in same_test),
        *(name for name in undone if name in same_test),
        *still_open,
        *same_test,
        *(name for name in fixed if name not in ended and not _is_another(fixed[name], before[name], seen, db, passes)),
    )
    return first[0] if first else further_name(fingerprint, seen.task_id, seen.part)


def _members(db: sqlite3.Connection, fingerprint: str, moment: str) -> list[str]:
    """Return the causes that a check reported before a run, most recently seen first."""
    rows = db.execute(
        f"SELECT fingerprint FROM occurrences WHERE {OF_CHECK} AND moment < :moment"
        " GROUP BY fingerprint ORDER BY MAX(moment) DESC",
        {"name": fingerprint, "moment": moment},
    )
    return [name for (name,) in rows]


def _failed(db: sqlite3.Connection, name: str, moment: str) -> frozenset[FailingTest]:
    """Return the tests that failed with a cause before a run, with their seeds."""
    rows = db.execute(
        "SELECT DISTINCT f.nodeid, f.simulator, f.config, f.seed FROM occurrences o"
        " JOIN failed f ON f.run = o.run AND f.fingerprint = o.fingerprint WHERE o.fingerprint = ? AND o.moment < ?",
        (name, moment),
    )
    return frozenset(FailingTest(Target(*on), seed) for *on, seed in rows)


def _is_another(
    fixed: Standing, before: frozenset[FailingTest], seen: CheckFailure, db: sqlite3.Connection, passes: Passes
) -> bool:
    """Return whether a failure in other tests has a different cause from the fixed one."""
    seeds, theirs = {each.seed for each in seen.failing}, {each.seed for each in before}
    if UNKNOWN_SEED in seeds | theirs or not seeds:
        return False
    change = _since(fixed, seen.changes)
    fix = fixed.state.fix
    knows_files = bool(change and change.is_whole and change.files and fix.files and fix.file_count == len(fix.files))
    # If git shows that the lines of the fix are still there, other changes in its files do not matter.
    if change is None or not knows_files or (change.files & set(fix.files) and not change.in_place):
        return False
    if not {test.nodeid for test in fixed.tests} <= set[str]().union(*(each.passed for each in seen.changes)):
        return False
    return all(_passed_beside(each, fixed, db, passes) for each in seen.failing if each.seed in theirs | {""})


def _passed_beside(test: FailingTest, fixed: Standing, db: sqlite3.Connection, passes: Passes) -> bool:
    """Return whether a test passed with its seed in a run with failures of the cause, before the fix."""
    rows = db.execute("SELECT DISTINCT moment FROM occurrences WHERE fingerprint = ?", (fixed.name,))
    return not {moment for (moment,) in rows}.isdisjoint(_passed(test, passes, fixed.state.moment))


def _passed(test: FailingTest, passes: Passes, before: str) -> Iterator[str]:
    """Yield the sort keys of earlier runs in which a test passed with its seed, or passed at all if it has no seed."""
    seed_hash = store.seed_hash(test.seed) if test.seed else None
    for each in passes.before(test.target, before):
        if not test.seed or each.seed_hash == seed_hash:
            yield each.moment


def _has_ended(
    fixed: Standing, before: frozenset[FailingTest], seen: CheckFailure, db: sqlite3.Connection, passes: Passes
) -> bool:
    """Return whether a cause is fixed for good, with its fix still in the sources, although its tests fail again."""
    seen = replace(seen, failing=frozenset(_as_repaired(test, fixed, passes) for test in seen.failing))
    state = fixed.state
    change = _since(fixed, seen.changes)
    again = {test for test in seen.failing if test.target in fixed.tests}
    if change is None or not change.in_place or not again:
        return False
    if change.same_stimulus and any(_passed_since(test, state, seen, db, passes) for test in again & seen.seeded):
        return not (state.past and state.past.comes_and_goes)
    if state.fix.result == "held" and _is_complete(state, before, seen):
        return all(next(passes.passing_runs([test.target], state.moment, seen.moment), None) for test in again)
    # A seed that failed before the fix, and did not run since, may fail as before.
    repaired = all(_passed_since(test, state, seen, db, passes) for test in again & before)
    return repaired and _turned(fixed, again, seen, db, passes)


def _as_repaired(test: FailingTest, fixed: Standing, passes: Passes) -> FailingTest:
    """Return a failing test in the configuration in which a fix repaired it, if there is only one such configuration.

    A change of the build command, such as a parameter in a Makefile, gives the same test another configuration. But if
    the test had passed in its configuration before the fix, it simply runs in several configurations.
    """
    on = (test.target.nodeid, test.target.simulator)
    same = [each for each in fixed.tests if (each.nodeid, each.simulator) == on]
    is_new = len(same) == 1 and test.target not in same and not passes.before(test.target, fixed.state.moment)
    return test._replace(target=same[0]) if is_new else test


def _passed_since(
    test: FailingTest, state: fixes.FixState, seen: CheckFailure, db: sqlite3.Connection, passes: Passes
) -> bool:
    """Return whether a test passed since a fix: with its seed, or at all if it has no seed.

    The first run of a fix counts even with uncommitted changes, if the fix is known to consist of commits only.
    """
    if any(moment >= state.moment for moment in _passed(test, passes, seen.moment)):
        return True
    rows = db.execute(
        "SELECT simulator, config FROM passed_again"
        " WHERE nodeid = ? AND moment = ? AND changed = 'commit' AND (seed = ? OR ? = '')",
        (test.target.nodeid, state.moment, test.seed, test.seed),
    )
    return not state.fix.note and any(test.target.is_met_by(*on) for on in rows)


def _turned(
    fixed: Standing, again: set[FailingTest], seen: CheckFailure, db: sqlite3.Connection, passes: Passes
) -> bool:
    """Return whether tests failed in every run before a fix (two or more), and passed in two or more since."""
    state = fixed.state
    names = {test.target.nodeid for test in again}
    tests = [test for test in fixed.tests if test.nodeid in names]
    records = CauseRecords(db, passes, (fixed.name,), seen.moment)
    rate = records.rate(tests, records.came(), state.moment)
    if not rate.failed == rate.runs >= FEWEST_RUNS or (state.past and state.past.comes_and_goes):
        return False
    since = (
        passes.passing_runs([target], state.moment, seen.moment, independent=True)
        for target in {test.target for test in again}
    )
    return all(len(list(itertools.islice(runs, FEWEST_RUNS))) == FEWEST_RUNS for runs in since)


def _is_undone(fixed: Standing, seen: CheckFailure) -> bool:
    """Return whether the fix is known to be missing from the sources of a run."""
    change = _since(fixed, seen.changes)
    return change is not None and change.in_place is False


def _is_complete(state: fixes.FixState, before: frozenset[FailingTest], seen: CheckFailure) -> bool:
    """Return whether nothing suggests that the fix only made the failure rarer."""
    if state.past is None:
        return state.fix.needed == 1 or seen.failing == seen.seeded <= before
    rate = state.past.rate
    always_failed = rate.failed == rate.runs >= FEWEST_RUNS
    return always_failed and not state.past.comes_and_goes and not seen.seeded & before


def _since(fixed: Standing, changes: Sequence[Change]) -> Change | None:
    """Return the changes since the run nearest to a fix: the first run after it, or else the last one before it."""
    moment = fixed.state.moment
    own = [each for each in changes if each.cause in {"", fixed.name}]
    after = [each for each in own if each.since >= moment]
    before = [each for each in own if "" < each.since < moment]
    return min(after, key=lambda each: each.since) if after else max(before, key=lambda each: each.since, default=None)


# Assigning the rows of the tables to causes


def place(db: sqlite3.Connection, passes: Passes, fingerprint: str, since: str) -> set[str]:
    """Assign the failures of a check to causes, starting with a given run.

    Args:
        db: The tables.
        passes: The tests that passed in each run.
        fingerprint: The fingerprint of the check.
        since: Sort key of the first run.

    Returns:
        The causes whose rows may have changed; empty if no failure changed its cause and the check has only one cause.
    """
    before = _placed(db, fingerprint, since)
    _reset(db, fingerprint, since)
    for moment, run in _runs(db, fingerprint, since):
        _place_run(db, passes, fingerprint, moment, run)
    after = _placed(db, fingerprint, since)
    if before == after and not any(SLASH in name for _, name in after):
        return set()
    db.execute(f"DELETE FROM further WHERE {OF_CHECK}", {"name": fingerprint})
    db.execute(
        f"INSERT INTO further SELECT DISTINCT fingerprint FROM occurrences WHERE {OF_CHECK} AND fingerprint != :name",
        {"name": fingerprint},
    )
    return {name for _, name in before | after}


def _placed(db: sqlite3.Connection, fingerprint: str, since: str) -> set[tuple[int, str]]:
    rows = db.execute(
        f"SELECT run, fingerprint FROM occurrences WHERE {OF_CHECK} AND moment >= :since",
        {"name": fingerprint, "since": since},
    )
    return set(rows)


def _reset(db: sqlite3.Connection, fingerprint: str, since: str) -> None:
    """Restore the recorded names in the rows of all runs from `since` on."""
    asked = {"name": fingerprint, "since": since}
    runs = f"SELECT run FROM occurrences WHERE {OF_CHECK} AND moment >= :since"
    numbered = "(SELECT :name || '/' || task_id || '/' || part FROM runs WHERE id = run)"
    for table in _BY_RUN:
        # Numbered rows first: one of them may still have the name of the check, which the other rows get.
        for name, rows in ((numbered, "part"), (":name", "NOT part")):
            query = f"UPDATE {table} SET fingerprint = {name} WHERE {rows} AND {OF_CHECK} AND run IN ({runs})"
            db.execute(query, asked)
    for table in _BY_NAME:
        db.execute(f"UPDATE OR IGNORE {table} SET fingerprint = named WHERE {OF_CHECK} AND moment >= :since", asked)


def _runs(db: sqlite3.Connection, fingerprint: str, since: str) -> Iterator[tuple[str, int]]:
    """Return sort key and row id of each run from `since` on that mentions a check, oldest first."""
    speaking = " UNION ".join(
        f"SELECT moment, run FROM {table} WHERE {OF_CHECK} AND moment >= :since" for table in ("occurrences", *_BY_NAME)
    )
    return iter(db.execute(f"{speaking} ORDER BY 1", {"name": fingerprint, "since": since}).fetchall())


def _place_run(db: sqlite3.Connection, passes: Passes, fingerprint: str, moment: str, run: int) -> None:
    found = _causes_in(db, passes, fingerprint, moment, run)
    for part, name in found.items():
        for table in _BY_RUN:
            db.execute(
                f"UPDATE {table} SET fingerprint = :own WHERE run = :run AND part = :part AND {OF_CHECK}",
                {"own": name, "run": run, "part": part, "name": fingerprint},
            )
    own = found.get(0)
    members = _members(db, fingerprint, moment)
    if {*members, *found.values(), fingerprint} == {fingerprint}:
        _name_alone(db, fingerprint, run)
        return
    of_pass: dict[str, str] = {}
    rows = db.execute(
        f"SELECT DISTINCT named, nodeid FROM passed_again WHERE run = :run AND {OF_CHECK} ORDER BY 1, 2",
        {"run": run, "name": fingerprint},
    ).fetchall()
    for named, nodeid in rows:
        cause = resolved(db, named) if SLASH in named else _last_of_test(db, fingerprint, nodeid, moment)
        of_pass.setdefault(named, cause)
        db.execute(
            "UPDATE OR IGNORE passed_again SET fingerprint = ? WHERE run = ? AND named = ? AND nodeid = ?",
            (cause, run, named, nodeid),
        )
    newest = members[0] if members else own or fingerprint
    for number, named, text in db.execute(
        f"SELECT number, named, row FROM fix_rows WHERE run = :run AND {OF_CHECK}", {"run": run, "name": fingerprint}
    ).fetchall():
        takes_back = fixes.ROW.decode(text).takes_back
        cause = resolved(db, named) if SLASH in named else of_pass.get(named, newest)
        if SLASH not in named and takes_back:
            cause = _of_statement(db, fingerprint, takes_back) or newest
        db.execute("UPDATE fix_rows SET fingerprint = ? WHERE run = ? AND number = ?", (cause, run, number))
    for named, nodeid in db.execute(
        f"SELECT named, json_extract(row, '$.nodeid') FROM first_bad WHERE run = :run AND {OF_CHECK}",
        {"run": run, "name": fingerprint},
    ).fetchall():
        default = own or _last_of_test(db, fingerprint, nodeid, moment)
        cause = resolved(db, named) if SLASH in named else default
        db.execute("UPDATE OR IGNORE first_bad SET fingerprint = ? WHERE run = ? AND named = ?", (cause, run, named))


def _name_alone(db: sqlite3.Connection, fingerprint: str, run: int) -> None:
    """Set the name of the check's only cause in all rows of a run that mention the check."""
    for table in _BY_NAME:
        db.execute(
            f"UPDATE OR IGNORE {table} SET fingerprint = :name WHERE run = :run AND {OF_CHECK}",
            {"name": fingerprint, "run": run},
        )


def _causes_in(db: sqlite3.Connection, passes: Passes, fingerprint: str, moment: str, run: int) -> dict[int, str]:
    """Return the causes of a check's failures in a run, by their numbers in the record."""
    found: dict[int, str] = {}
    rows = db.execute(
        "SELECT o.part, r.task_id, o.without_fix FROM occurrences o JOIN runs r ON r.id = o.run"
        f" WHERE {OF_CHECK} AND o.moment = :moment ORDER BY o.part",
        {"name": fingerprint, "moment": moment},
    ).fetchall()
    for part, task_id, without_fix in rows:
        seen = _seen(
            db,
            fingerprint,
            run,
            CheckFailure(
                moment=moment,
                task_id=task_id,
                failing=frozenset(),
                without_fix=bool(without_fix),
                part=part,
                taken=frozenset(found.values()),
            ),
        )
        found[part] = cause_of(db, passes, fingerprint, seen)
    return found


def _seen(db: sqlite3.Connection, fingerprint: str, run: int, empty: CheckFailure) -> CheckFailure:
    """Return a failure on record with its tests, the changes since fixes, and the causes that its record rules out."""
    recorded = recorded_name(fingerprint, empty.task_id, empty.part)
    failing = db.execute(
        "SELECT nodeid, simulator, config, seed FROM failed WHERE run = ? AND fingerprint = ?", (run, recorded)
    )
    changes = db.execute(
        "SELECT COALESCE(s.moment, ''), c.since, c.files, c.file_count, c.passed, c.in_place, c.same_stimulus,"
        " c.named FROM since_fix c LEFT JOIN runs s ON s.task_id = c.since"
        " WHERE c.run = ? AND c.part = ? AND c.fingerprint = ?",
        (run, empty.part, fingerprint),
    )
    undone = db.execute(
        "SELECT task_id FROM undone WHERE run = ? AND part = ? AND fingerprint = ?", (run, empty.part, fingerprint)
    )
    return replace(
        empty,
        failing=frozenset(FailingTest(Target(*on), seed) for *on, seed in failing),
        changes=tuple(
            change(
                db,
                since,
                SinceFix(
                    fingerprint=fingerprint,
                    cause=named,
                    since=task_id,
                    files=tuple(json.loads(names)),
                    file_count=count,
                    passed=tuple(json.loads(passed)),
                    in_place=None if kept is None else bool(kept),
                    same_stimulus=bool(same),
                ),
            )
            for since, task_id, names, count, passed, kept, same, named in changes
        ),
        undone=frozenset(resolved(db, f"{fingerprint}{SLASH}{of_run}") for (of_run,) in undone),
    )


def change(db: sqlite3.Connection, moment: str, row: SinceFix) -> Change:
    """Return the changes since a fix from a row of a record; `moment` is the sort key of `row.since`."""
    return Change(
        cause=resolved(db, row.cause) if row.cause else "",
        since=moment,
        files=frozenset(row.files),
        is_whole=row.file_count == len(row.files),
        passed=frozenset(row.passed),
        in_place=row.in_place,
        same_stimulus=row.same_stimulus,
    )


def _last_of_test(db: sqlite3.Connection, fingerprint: str, nodeid: str, moment: str) -> str:
    """Return the cause of the last failure of a test, or of a test inside it, before a run.

    Return the check's first cause if there was no such failure.
    """
    row = db.execute(
        "SELECT o.fingerprint FROM occurrences o JOIN failed f ON f.run = o.run AND f.fingerprint = o.fingerprint"
        " WHERE (o.fingerprint = :name OR o.fingerprint > :name || '/' AND o.fingerprint < :name || '0')"
        " AND o.moment < :moment AND (f.nodeid = :test OR f.nodeid > :test || '::' AND f.nodeid < :test || ':;')"
        " ORDER BY o.moment DESC LIMIT 1",
        {"name": fingerprint, "test": nodeid, "moment": moment},
    ).fetchone()
    return str(row[0]) if row else fingerprint


def _of_statement(db: sqlite3.Connection, fingerprint: str, task_id: str) -> str | None:
    """Return the cause whose fix is stated in a run; None if it states no fix."""
    row = db.execute(
        f"SELECT f.fingerprint FROM runs r JOIN fix_rows f ON f.run = r.id WHERE r.task_id = :task AND {OF_CHECK}",
        {"name": fingerprint, "task": task_id},
    ).fetchone()
    return str(row[0]) if row else None
