"""Query the tables for the evidence about one cause's fixes."""

from __future__ import annotations

import itertools
import json
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_dvwiki.records import fixes, targets
from pytest_dvwiki.records.chance import FEWEST_RUNS, Rate
from pytest_dvwiki.records.kinds import UNKNOWN_SEED
from pytest_dvwiki.records.name_parts import check_of, resolved
from pytest_dvwiki.records.passes import LOOKED_BACK
from pytest_dvwiki.records.tables import REPORTED, json_list
from pytest_dvwiki.records.targets import ANY, Target, is_design_known, meets, share_a_test
from pytest_dvwiki.records.units import without_folder
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_dvwiki.records.passes import Passes

_MOST_OTHERS = 50
"""Maximum number of other tests of a cause that are looked up."""
_MOST_FOLDERS = 15
"""Maximum number of other folders in which runs of a test count towards its failure rate."""
_PASSES = (
    "SELECT p.moment, p.nodeid, p.failed_seed, p.same_seed, p.same_seed OR p.seed IS p.failed_seed,"
    " r.task_id, r.finished, p.simulator, p.config, r.dirty"
    " FROM passed_again p JOIN runs r ON r.id = p.run"
    " WHERE p.fingerprint IN (SELECT value FROM json_each(?)) AND p.proof > 1"
)
_ROWS = (
    "SELECT f.moment, r.task_id, r.finished, f.row FROM fix_rows f JOIN runs r ON r.id = f.run"
    " WHERE f.fingerprint IN (SELECT value FROM json_each(?)) ORDER BY f.moment, f.number"
)


def stated(db: sqlite3.Connection, causes: Sequence[str]) -> list[fixes.Step]:
    """Return the statements about how a cause was fixed, in order of their runs; withdrawn statements are omitted.

    Args:
        db: The tables.
        causes: The current and former fingerprints of the cause.
    """
    found = [(*rest, fixes.ROW.decode(row)) for *rest, row in db.execute(_ROWS, (json_list(causes),))]
    taken_back = {row.takes_back for *_, row in found}
    return [
        fixes.Step(moment=moment, task_id=task_id, date=finished, fix=fixes.stated_fix(row, finished))
        for moment, task_id, finished, row in found
        if task_id not in taken_back and row.takes_back is None
    ]


class CauseRecords:
    """The records of one cause, as `fixes` needs them.

    This class is long because each method is a separate query, and all share what has been read about the cause.

    Args:
        db: The tables.
        passes: The tests that passed in each run.
        fingerprints: The current and former fingerprints of the cause.
        until: Sort key of a run; this run and later ones are ignored.
    """

    def __init__(self, db: sqlite3.Connection, passes: Passes, fingerprints: Sequence[str], until: str = EVER) -> None:
        self._db = db
        self._passes = passes
        self._causes = fingerprints
        self._until = until

    def came(self) -> str:
        """Return the sort key of the first run on the sources that first showed the cause; empty if none showed it."""
        row = self._db.execute(
            "SELECT MIN(moment) FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " AND NOT without_fix",
            (json_list(self._causes),),
        ).fetchone()
        return self.since_sources(row[0]) if row[0] else ""

    def since_sources(self, moment: str) -> str:
        """Return the sort key of the first run with the same sources as the given run.

        If a cause occurs with these sources, an earlier pass with the same sources did not prove the cause absent.
        """
        row = self._db.execute(
            "SELECT MIN(e.moment) FROM runs r JOIN runs e ON e.source_commit = r.source_commit AND e.moment <= r.moment"
            " AND (NOT r.dirty AND NOT e.dirty OR r.dirty AND e.dirty AND e.changes = r.changes) WHERE r.moment = ?",
            (moment,),
        ).fetchone()
        return row[0] or moment

    def returns(self, moment: str, tests: Sequence[Target]) -> fixes.Return | None:
        """Return the first occurrence after a fix that shows that the cause came back; None if there is none.

        Args:
            moment: Sort key of the run that passed, or that recorded a statement about the fix.
            tests: The tests that passed; empty if unknown.
        """
        rows = self._db.execute(
            "SELECT f.moment, r.finished, r.dirty, f.nodeid, f.simulator, f.config FROM occurrences o"
            " JOIN failed f ON f.run = o.run AND f.fingerprint = o.fingerprint JOIN runs r ON r.id = o.run"
            " WHERE o.fingerprint IN (SELECT value FROM json_each(?)) AND o.moment > ? AND o.moment < ?"
            " AND NOT o.without_fix ORDER BY o.moment",
            (json_list(self._causes), moment, self._until),
        )
        for (when, finished, dirty), group in itertools.groupby(rows, key=lambda row: row[:3]):
            failing = [Target(*row[3:]) for row in group]
            same = any(_is_same_test(each, test) for each in failing for test in tests)
            if same or not tests or any(self._is_back(each, tests, moment, when) for each in failing):
                changed, in_place = self._since_fix(moment, when)
                return fixes.Return(
                    moment=when,
                    time=finished,
                    same_test=same or not tests,
                    other_sources=self._have_other_sources(moment, when),
                    seed_had_passed=self._had_passed(moment, when),
                    is_dirty=bool(dirty),
                    changed=changed,
                    fix_in_place=in_place,
                )
        return None

    def _had_passed(self, fixed: str, back: str) -> bool:
        """Return whether a test failed with a seed that had passed in the first run of a fix."""
        row = self._db.execute(
            "SELECT 1 FROM passed_again p JOIN failed f ON f.nodeid = p.nodeid AND f.simulator = p.simulator"
            " AND f.config = p.config AND f.seed = p.seed AND f.fingerprint = p.fingerprint"
            " WHERE p.moment = ? AND f.moment = ? AND p.fingerprint IN (SELECT value FROM json_each(?)) LIMIT 1",
            (fixed, back, json_list(self._causes)),
        ).fetchone()
        return row is not None

    def _since_fix(self, fixed: str, back: str) -> tuple[bool, bool | None]:
        """Return whether sources are known to have changed since a fix, and whether a failing run still had the fix.

        The second value is None if unknown.
        """
        rows = self._db.execute(
            "SELECT c.named, c.in_place FROM since_fix c JOIN runs s ON s.task_id = c.since JOIN runs r ON r.id = c.run"
            " WHERE r.moment = :back AND s.moment >= :fixed AND c.fingerprint IN (SELECT value FROM json_each(:checks))"
            " ORDER BY s.moment",
            {"back": back, "fixed": fixed, "checks": json_list(map(check_of, self._causes))},
        ).fetchall()
        own = [kept for named, kept in rows if not named or resolved(self._db, named) in self._causes]
        return bool(own), bool(own[0]) if own and own[0] is not None else None

    def _have_other_sources(self, one: str, other: str) -> bool:
        """Return whether two runs are known to differ in their commits or uncommitted changes."""
        rows = self._db.execute(
            "SELECT source_commit, changes FROM runs WHERE moment IN (?, ?)", (one, other)
        ).fetchall()
        return len(set(rows)) > 1 and all(commit for commit, _ in rows)

    def is_back(self, moment: str, tests: Sequence[Target], failing: Sequence[Target]) -> bool:
        """Return whether the failing tests show that the cause came back after `tests` were fixed."""
        return not tests or any(
            any(_is_same_test(each, test) for test in tests) or self._is_back(each, tests, moment, EVER)
            for each in failing
        )

    def _is_back(self, failing: Target, tests: Sequence[Target], moment: str, when: str) -> bool:
        """Return whether a failure of another test shows that the cause came back after `tests` were fixed.

        The failing test must have failed with this cause before the fix, and passed in the first run with the fix or in
        a later one. A test that never failed with the cause before counts only if it is another parametrization of a
        fixed test. If the fixed tests did not run on the failing test's simulator, the failure shows nothing.
        """
        if not any(ANY in (test.simulator, failing.simulator) or test.simulator == failing.simulator for test in tests):
            return False
        last = self._db.execute(
            "SELECT MAX(moment) FROM failed WHERE nodeid = ? AND simulator = ? AND config = ? AND moment < ?"
            " AND fingerprint IN (SELECT value FROM json_each(?))",
            (*failing, moment, json_list(self._causes)),
        ).fetchone()[0]
        if last is None:
            return share_a_test([failing.nodeid], [test.nodeid for test in tests])
        passed = next((at for at, *_ in self._passes.passing_runs([failing], last, when)), None)
        return passed is not None and passed >= moment

    def failed_between(self, tests: Sequence[Target], after: str, before: str) -> bool:
        """Return whether one of the tests failed with the cause between two runs."""
        row = self._db.execute(
            f"SELECT 1 FROM json_each(?) t JOIN failed f ON {meets('f')} AND f.moment > ? AND f.moment < ?"  # noqa: S608
            " AND f.fingerprint IN (SELECT value FROM json_each(?)) JOIN occurrences o ON o.run = f.run"
            " AND o.fingerprint = f.fingerprint AND NOT o.without_fix LIMIT 1",
            (targets.json_targets(tests), after, before, json_list(self._causes)),
        ).fetchone()
        return row is not None

    def last_failing(self, moment: str) -> list[Target]:
        """Return the tests of the cause's last occurrence up to a run."""
        previous = self._previous(moment)
        rows = self._db.execute(
            "SELECT DISTINCT nodeid, simulator, config FROM failed WHERE run = ?"
            " AND fingerprint IN (SELECT value FROM json_each(?)) ORDER BY 1, 2, 3",
            (previous[0] if previous else None, json_list(self._causes)),
        )
        return [Target(*row) for row in rows]

    def is_deterministic(self, before: str) -> bool:
        """Return whether the cause occurs with every seed, judging by its subtype and its occurrences before a run."""
        row = self._db.execute(
            "SELECT deterministic FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " AND moment < ? ORDER BY moment DESC LIMIT 1",
            (json_list(self._causes), before),
        ).fetchone()
        if not (row and row[0]):
            return False
        return not self.comes_and_goes(self.all_tests(before), "", before)

    def all_tests(self, before: str) -> list[Target]:
        """Return all tests that failed with the cause before a run."""
        return [test for test, first in self._first_failures if first < before]

    @cached_property
    def _first_failures(self) -> list[tuple[Target, str]]:
        """Return each test that failed with the cause, with the sort key of its first failure."""
        rows = self._db.execute(
            "SELECT nodeid, simulator, config, MIN(moment) FROM failed"
            " WHERE fingerprint IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            (json_list(self._causes),),
        )
        return [(Target(*row[:3]), row[3]) for row in rows]

    def _previous(self, moment: str) -> tuple[int, str] | None:
        """Return the row id and sort key of the last run with the cause, up to a given run; None if there is none."""
        row: tuple[int, str] | None = self._db.execute(
            "SELECT run, moment FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " AND moment <= ? ORDER BY moment DESC LIMIT 1",
            (json_list(self._causes), moment),
        ).fetchone()
        return row

    def steps(self) -> list[fixes.Step]:
        """Return the passes and statements that suggest a fix, in order of their runs."""
        asked = (json_list(self._causes),)
        steps = []
        for moment, nodeid, failed_seed, same_seed, seed_passed, task_id, finished, *on, dirty in self._db.execute(
            _PASSES, asked
        ).fetchall():
            previous = self._previous(moment)
            # A run in which another test still failed with the cause contains no fix.
            if previous is not None and previous[1] != moment:
                test = self._as_it_failed(Target(nodeid, *on), moment)
                steps.append(
                    fixes.Step(
                        moment=moment,
                        task_id=task_id,
                        date=finished,
                        test=test,
                        failed_seed=failed_seed,
                        same_seed=bool(same_seed),
                        seed_passed=bool(seed_passed),
                        is_dirty=bool(dirty),
                    )
                )
        steps += [step for step in stated(self._db, self._causes) if self._previous(step.moment) is not None]
        known = (step for step in steps if step.moment < self._until)
        return sorted(known, key=lambda step: (step.moment, step.test or ("", "", "")))

    def _as_it_failed(self, test: Target, before: str) -> Target:
        """Return the target that later passes must match: any simulator, if the test failed before one was chosen."""
        row = self._db.execute(
            "SELECT simulator FROM failed WHERE nodeid = ? AND moment < ?"
            " AND fingerprint IN (SELECT value FROM json_each(?)) ORDER BY moment DESC LIMIT 1",
            (test.nodeid, before, json_list(self._causes)),
        ).fetchone()
        return Target(test.nodeid, ANY, ANY) if row and row[0] == ANY else test

    def passing_runs(
        self, tests: Sequence[Target], since: str, before: str | None, most: int, past: fixes.Past | None = None
    ) -> list[fixes.PassingRun]:
        """Return the first `most` runs in which one of the tests passed, from `since` to `before`.

        If these runs have to rule out chance (`past`), a run with the same seed and sources as an earlier one is
        skipped.
        """
        end = min(before or EVER, self._until)
        independent = past is not None and not past.comes_and_goes
        runs = self._passes.passing_runs(tests, since, end, independent=independent)
        return [
            fixes.PassingRun(task_id=task_id, moment=moment, branch=branch, sources=sources)
            for moment, task_id, branch, sources in itertools.islice(runs, most)
        ]

    def rate(self, tests: Sequence[Target], since: str, before: str) -> Rate:
        """Return the failure rate of tests in the newest runs from `since` to `before`.

        A test that runs in several folders of a run, for example one for each seed, counts as one run in each.

        Failures with the same seed are counted once, and so are passes with the same seed and sources, unless the tests
        are intermittent with one seed. Failures without a seed are all counted.
        """
        independent = not self.comes_and_goes(tests, since, before)
        seeds: dict[tuple[str, int], set[str]] = {}
        passing: set[tuple[str, int]] = set()
        known: set[tuple[str | None, ...]] = set()
        for number, each in enumerate(self._by_folder(tests, since, before)):
            seeds |= {(moment, number): found for moment, found in self._failing_seeds(each, since, before)}
            runs = self._passes.passing_runs(each, since, before, independent=independent, known=known)
            passing |= {(moment, number) for moment, *_ in runs}
        failing = set(seeds) - (_repeated(seeds) if independent else set())
        newest = sorted(failing | (passing - set(seeds)))[-LOOKED_BACK:]
        failed = [moment for moment, _ in filter(failing.__contains__, newest)]
        return Rate(failed=len(failed), runs=len(newest), is_alike=self._are_alike(failed))

    def _are_alike(self, moments: Sequence[str]) -> bool:
        """Return whether the tests failed in all of several runs at the same simulation times with the same values."""
        if len(moments) < FEWEST_RUNS:
            return False
        rows = self._db.execute(
            "SELECT DISTINCT values_hash FROM occurrences WHERE fingerprint IN (SELECT value FROM json_each(?))"
            " AND moment IN (SELECT value FROM json_each(?)) LIMIT 2",
            (json_list(self._causes), json_list(moments)),
        ).fetchall()
        return len(rows) == 1 and rows[0] != (None,)

    def _failing_seeds(self, tests: Sequence[Target], since: str, before: str) -> Iterator[tuple[str, set[str]]]:
        """Yield the sort key and the failing seeds of the newest runs in which one of the tests failed."""
        seed = f"CASE WHEN o.unseeded AND f.seed = '{UNKNOWN_SEED}' THEN '' ELSE f.seed END"
        rows = self._db.execute(
            f"SELECT f.moment, json_group_array(DISTINCT {seed}) FROM json_each(:tests) t JOIN failed f ON {meets('f')}"  # noqa: S608
            " AND f.fingerprint IN (SELECT value FROM json_each(:causes)) AND f.moment >= :since AND f.moment < :before"
            " JOIN occurrences o ON o.fingerprint = f.fingerprint AND o.moment = f.moment"
            f" AND o.without_fix != {REPORTED}"
            " GROUP BY 1 ORDER BY 1 DESC LIMIT :most",
            {
                "causes": json_list(self._causes),
                "tests": targets.json_targets(tests),
                "since": since,
                "before": before,
                "most": LOOKED_BACK,
            },
        )
        yield from ((moment, set(json.loads(found))) for moment, found in rows)

    def _by_folder(self, tests: Sequence[Target], since: str, before: str) -> list[list[Target]]:
        """Group tests by folder: the same test in two folders is in two lists.

        The same tests in other folders are added if they failed with the cause before `before`, or if they ran between
        `since` and `before` and the names of the folders differ only in numbers. If the design is unknown, as when a
        build was skipped, the results files must have the same name.
        """
        groups: dict[tuple[tuple[str, str] | None, str, str], list[Target]] = {}
        for test in sorted(tests):
            kind = without_folder(test.nodeid)
            if kind is not None and not kind[0] and not is_design_known(test.config):
                kind = None
            groups.setdefault((kind, test.simulator, "" if kind else test.nodeid), []).append(test)
        folders: list[list[Target]] = []
        for (kind, simulator, _), own in groups.items():
            names = dict.fromkeys(test.nodeid for test in own)
            if kind is not None:
                names |= dict.fromkeys(self._in_other_folders(own, kind, since, before))
            configs = {config for test in own for config in (test.config, "") if is_design_known(test.config)} or {ANY}
            for number, name in enumerate(names):
                if number == len(folders):
                    folders.append([])
                found = [test for test in own if test.nodeid == name]
                folders[number] += found or [Target(name, simulator, config) for config in sorted(configs)]
        return folders

    def _in_other_folders(self, own: Sequence[Target], kind: tuple[str, str], since: str, before: str) -> Iterable[str]:
        """Return the names of tests in other folders that count as the tests `own`.

        Args:
            own: Tests of one kind.
            kind: Results file and test, as `without_folder` returns them.
            since: Sort key of the first run.
            before: Sort key after the last run.
        """
        known = {test.config for test in own if is_design_known(test.config)}
        names = {name for test in own for name in self._passes.in_other_folders(test.nodeid, since, before)}
        for test in self.all_tests(before):
            is_alike = test.simulator == own[0].simulator and without_folder(test.nodeid) == kind
            if is_alike and (not known or test.config in known or not is_design_known(test.config)):
                names.add(test.nodeid)
        return sorted(names)[:_MOST_FOLDERS]

    def comes_and_goes(self, tests: Sequence[Target], since: str, before: str) -> bool:
        """Return whether a test failed and passed with the same sources and seed, or among the attempts of one run."""
        found = self._db.execute(
            f"SELECT 1 FROM json_each(:tests) t JOIN passed_again p ON {meets('p')} AND p.changed = 'nothing'"  # noqa: S608
            " AND p.fingerprint IN (SELECT value FROM json_each(:causes)) AND p.moment >= :since AND p.moment < :before"
            " UNION ALL SELECT 1 FROM json_each(:tests) t JOIN other o ON o.outcome = 'flaky'"
            f" AND ({meets('o')} OR (o.simulator = '' AND o.nodeid = json_extract(t.value, '$[0]')))"
            " AND (o.causes IS NULL OR EXISTS (SELECT 1 FROM json_each(o.causes) c"
            "  WHERE c.value IN (SELECT value FROM json_each(:checks))))"
            " JOIN runs r ON r.id = o.run AND r.moment >= :since AND r.moment < :before LIMIT 1",
            {
                "causes": json_list(self._causes),
                "checks": json_list(map(check_of, self._causes)),
                "tests": targets.json_targets(tests),
                "since": since,
                "before": before,
            },
        ).fetchone()
        return found is not None

    def others(self, tests: Sequence[Target], runs: Sequence[fixes.PassingRun]) -> tuple[int, int]:
        """Return how many other tests failed with the cause before the runs, and how many of these passed again.

        Only passes from the first to the last of the runs count. Tests that passed after the cause appeared and failed
        later are left out, because another fault made them fail.
        """
        if not runs:
            return 0, 0
        rows = self._db.execute(
            "SELECT DISTINCT t.value FROM first_bad b, json_each(b.row, '$.passed_after') t"
            " WHERE b.fingerprint IN (SELECT value FROM json_each(?)) AND b.moment < ?",
            (json_list(self._causes), runs[0].moment),
        )
        mine = {test.nodeid for test in tests} | {name for (name,) in rows}
        further = [test for test in self.all_tests(runs[0].moment) if test.nodeid not in mine]
        names = {test.nodeid for test in further[:_MOST_OTHERS]}
        passed = {
            test.nodeid
            for test in further[:_MOST_OTHERS]
            if self.passing_runs([test], runs[0].moment, f"{runs[-1].moment}{EVER}", 1)
        }
        return len(names), len(passed)


def _repeated(seeds: Mapping[tuple[str, int], set[str]]) -> set[tuple[str, int]]:
    """Return the failing runs, as sort key and number of the folder, that only repeat seeds of earlier failures.

    Runs without a seed are not repeats.
    """
    known: set[str] = set()
    repeated = set()
    for run in sorted(seeds):
        if "" not in seeds[run] and seeds[run] <= known:
            repeated.add(run)
        known |= seeds[run]
    return repeated


def _is_same_test(failing: Target, test: Target) -> bool:
    """Return whether two tests are the same, or one contains the other, on the same simulator."""
    same_place = ANY in {failing.simulator, test.simulator} or failing.simulator == test.simulator
    inside = failing.nodeid.startswith(f"{test.nodeid}::") or test.nodeid.startswith(f"{failing.nodeid}::")
    return same_place and (failing.nodeid == test.nodeid or inside)
