"""Find passing tests that failed before, and whose failure is not proven fixed yet."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pytest_dvwiki.model import MOST_READ, StillFailing, Vcs
from pytest_dvwiki.records import fixes, tables
from pytest_dvwiki.records.aggregate import TEXTS
from pytest_dvwiki.records.kinds import UNKNOWN_SEED, is_beyond_sources
from pytest_dvwiki.records.targets import ANY, Target, build_of, is_same_config
from pytest_dvwiki.records.units import is_folder
from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.model import Command, Fix, Occurrence, Passing
    from pytest_dvwiki.records.archive import Archive

_MOST_OLDER = 20
"""Maximum number of older occurrences to read from their records."""
_LAST_FAILURES = (
    "WITH last AS (SELECT f.nodeid, f.fingerprint, f.simulator, f.config, MAX(f.moment) AS moment"
    " FROM failed f WHERE f.nodeid IN (SELECT value FROM json_each(?))"
    " AND NOT EXISTS (SELECT 1 FROM occurrences o WHERE o.fingerprint = f.fingerprint AND o.moment = f.moment"
    " AND o.without_fix) GROUP BY 1, 2, 3, 4)"
    " SELECT nodeid, fingerprint, simulator, config, moment, COALESCE((SELECT MAX(p.proof) FROM passed_again p"
    " WHERE p.nodeid = last.nodeid AND p.fingerprint = last.fingerprint AND p.moment > last.moment"
    " AND last.simulator IN (p.simulator, '*')), 0) AS proof FROM last WHERE proof < ? ORDER BY 1, 2, 3, 4"
)
"""Query for the last failure of each test with each cause, and the strongest proof of a fix by a later pass."""


def still_failing(archive: Archive, passing: Sequence[Passing]) -> list[StillFailing]:
    """Return the passing tests whose earlier failures are not proven fixed yet.

    A pass on another simulator is ignored, unless the test failed before a simulator was chosen.

    Args:
        archive: The records.
        passing: The tests that pass in the current run. If a pass with another seed at a later commit is already on
            record, only passes with the seed that failed count; other passes are left out.

    Returns:
        One entry per test, target and cause, ordered by test and cause.
    """
    by_test: dict[str, list[Passing]] = {}
    for each in passing:
        by_test.setdefault(each.nodeid, []).append(each)
    rows = archive.db.execute(_LAST_FAILURES, (tables.json_list(by_test), fixes.CERTAIN)).fetchall()
    causes = _Causes(archive)
    failures = (
        _LastFailure(Target(nodeid, simulator, config), fingerprint, moment, proof)
        for nodeid, fingerprint, simulator, config, moment, proof in rows
    )
    entries = (_entry(archive, causes, failure, by_test[failure.test.nodeid]) for failure in failures)
    return [entry for entry in entries if entry is not None]


class _LastFailure(NamedTuple):
    """The last failure of a test with a cause."""

    test: Target
    fingerprint: str
    moment: str
    """Sort key of the run."""
    proof: int
    """The strongest proof of a fix by a later pass."""


class _Causes:
    """The records of causes, each read once: one cause may have made thousands of tests fail."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.is_deterministic = functools.cache(archive.is_deterministic)
        self.newest = functools.cache(lambda fingerprint: archive.newest_occurrence((fingerprint,)))
        self.fixes = functools.cache(lambda fingerprint: archive.fix_states((fingerprint,)))
        self._tests = functools.cache(self._tests_of)
        self._older: dict[tuple[str, str], Occurrence | None] = {}
        self._called: dict[tuple[str, str], Occurrence | None] = {}

    def last(self, failure: _LastFailure) -> Occurrence | None:
        """Return a cause's last occurrence in which the test failed; None once `_MOST_OLDER` records have been read."""
        if any(nodeid == failure.test.nodeid for nodeid, _ in self._tests(failure.fingerprint)):
            return self.newest(failure.fingerprint)
        # Another test, of another design, has failed with the cause since then.
        return self._at_last_failure(failure, self._older)

    def command(self, failure: _LastFailure) -> Command | None:
        """Return the command of a test's last failure on its simulator; None if it is not on record."""
        test = failure.test
        if test.simulator in {ANY, ""}:
            return None
        is_newest = (test.nodeid, test.simulator) in self._tests(failure.fingerprint)
        seen = self.newest(failure.fingerprint) if is_newest else self._at_last_failure(failure, self._called)
        if seen is None or {each.simulator for each in seen.tests if each.nodeid == test.nodeid} != {test.simulator}:
            return None
        return next((each for each in (seen.command, seen.quickest) if each and each.test == test.nodeid), None)

    def _at_last_failure(
        self, failure: _LastFailure, read: dict[tuple[str, str], Occurrence | None]
    ) -> Occurrence | None:
        known = failure.fingerprint, failure.moment
        if known not in read and len(read) < _MOST_OLDER:
            read[known] = self._archive.newest_occurrence((failure.fingerprint,), failure.moment)
        return read.get(known)

    def _tests_of(self, fingerprint: str) -> set[tuple[str, str]]:
        newest = self.newest(fingerprint)
        return {(test.nodeid, test.simulator or "") for test in newest.tests} if newest is not None else set()


def _entry(archive: Archive, causes: _Causes, failure: _LastFailure, passing: Sequence[Passing]) -> StillFailing | None:
    """Return the entry for a failure; None if the failure is proven fixed, or if no pass is relevant to it.

    Args:
        archive: The records.
        causes: The causes on record.
        failure: The last failure of the test with a cause.
        passing: The passes of the test in the current run.
    """
    test, fingerprint, moment, proof = failure
    newest = causes.newest(fingerprint)
    deterministic = causes.is_deterministic(fingerprint)
    by = _best_pass(test, passing)
    if by is None or not (by.whole or deterministic) or (newest is not None and is_beyond_sources(newest)):
        return None
    failed_with = () if deterministic else _seeds(archive, test, fingerprint)
    seeds = tuple(seed for seed in failed_with if seed != UNKNOWN_SEED)
    seed_unknown = bool(failed_with) and not seeds
    seed = next((one for one in seeds if one in {by.seed, *by.other_seeds}), seeds[0] if seeds else None)
    by = replace(by, seed=seed) if seed in by.other_seeds else by
    fixed = _first_fix(state.fix for state in causes.fixes(fingerprint) if state.moment > moment)
    proven = fixed is not None and fixed.counts
    if proof >= fixes.ANY_SEED and (deterministic or proven or seed_unknown or by.seed != seed):
        return None
    seen = causes.last(failure)
    if seen is not None and is_folder(test.nodeid) and _is_of_other_modules(seen, by):
        return None
    since = _certain_pass(archive, test, fingerprint, moment)
    last = _last_run(archive, test, fingerprint, since) or (Vcs(), "")
    with_seed = (_last_run(archive, test, fingerprint, since, seed) if seed in seeds else None) or last
    return StillFailing(
        nodeid=test.nodeid,
        fingerprint=fingerprint,
        seed=seed,
        proof=proof,
        vcs=last[0],
        evidence=f"{seen.primary}\n{seen.excerpt}" if seen else "",
        reads=seen.reads if seen else (),
        command=causes.command(failure),
        by=by,
        seed_vcs=with_seed[0],
        fixed=fixed,
        simulators=with_seed[1],
        same_config=test.simulator == ANY or is_same_config(by.config or "", test.config),
        config_known=test.simulator == ANY or bool(by.config and test.config),
        deterministic=deterministic,
        seed_unknown=seed_unknown,
        one_of_several=_is_one_of_several(archive, test, moment, passing),
    )


def _first_fix(fixes_since: Iterable[Fix]) -> Fix | None:
    """Return the first fix on record that may have repaired a failure before it; None if that is unknown.

    A fix that was undone when the cause returned repaired nothing that passes now. If its passes may be chance, it may
    have repaired nothing at all. If it is not known whether it was undone, this fix or a later one made the test pass.
    """
    for fix in fixes_since:
        if fix.returned is None or (fix.counts and fix.in_place):
            return fix
        if fix.counts and fix.in_place is None:
            return None
    return None


def _is_of_other_modules(seen: Occurrence, by: Passing) -> bool:
    """Return whether a simulation stopped with a Python error before its first test, and other test modules passed.

    The design of such a simulation was built, so a pass of other test modules on this design is no evidence of a fix.
    """
    read = [f"/{path}" for path in seen.reads if path.endswith(".py")]
    if seen.error_class != "python_error" or not read or not by.modules or len(seen.reads) >= MOST_READ:
        return False
    places = [module.replace(".", "/") for module in by.modules]
    files = tuple(f"/{place}{end}" for place in places for end in (".py", "/__init__.py"))
    return not any(path.endswith(files) for path in read)


def _is_one_of_several(archive: Archive, failed: Target, moment: str, passing: Sequence[Passing]) -> bool:
    """Return whether a failed folder builds several designs, and not all of them have been built since.

    Args:
        archive: The records.
        failed: The folder; its configuration is empty if the failing design is unknown.
        moment: Sort key of the run in which the folder failed.
        passing: The passes of the folder in the current run.
    """
    if build_of(failed.config) or not is_folder(failed.nodeid):
        return False
    before = archive.passes.builds(failed.nodeid, "", moment)
    since = archive.passes.builds(failed.nodeid, moment, EVER) | {build_of(each.config or "") for each in passing}
    return len(before) > 1 and not before <= since


def _best_pass(failed: Target, passing: Sequence[Passing]) -> Passing | None:
    """Return the most conclusive pass: on the same simulator, preferably in the same configuration."""
    same = [each for each in passing if failed.simulator in {ANY, each.simulator or ""}]
    return max(same, key=lambda each: (is_same_config(each.config or "", failed.config), each.whole), default=None)


def _seeds(archive: Archive, failed: Target, fingerprint: str) -> tuple[str, ...]:
    """Return the seeds that failed with a cause since the test's last pass after a change, newest first.

    `UNKNOWN_SEED` is included if a seed is not on record.
    """
    nodeid, simulator, config = failed
    rows = archive.db.execute(
        "SELECT seed FROM failed f WHERE nodeid = :test AND simulator = :simulator AND config = :config"
        " AND fingerprint = :cause AND seed != '' AND moment > COALESCE((SELECT MAX(p.moment) FROM passed_again p"
        " WHERE p.nodeid = :test AND p.fingerprint = :cause AND p.proof > 1 AND :simulator IN (p.simulator, '*')"
        # Passes after the last failure do not count: one is being judged now, and the others proved no fix.
        " AND p.moment < (SELECT MAX(moment) FROM failed l WHERE l.nodeid = :test AND l.simulator = :simulator"
        " AND l.config = :config AND l.fingerprint = :cause)), '') GROUP BY seed ORDER BY MAX(moment) DESC, seed",
        {"test": nodeid, "simulator": simulator, "config": config, "cause": fingerprint},
    )
    return tuple(seed for (seed,) in rows)


def _certain_pass(archive: Archive, failed: Target, fingerprint: str, before: str) -> str:
    """Return the sort key of the last pass before a run that proved a fix with certainty; empty if none did."""
    row = archive.db.execute(
        "SELECT MAX(moment) FROM passed_again WHERE nodeid = ? AND ? IN (simulator, '*') AND fingerprint = ?"
        " AND proof = ? AND moment < ?",
        (failed.nodeid, failed.simulator, fingerprint, fixes.CERTAIN, before),
    ).fetchone()
    return row[0] or ""


def _last_run(
    archive: Archive, failed: Target, fingerprint: str, since: str, seed: str | None = None
) -> tuple[Vcs, str] | None:
    """Return repository state and simulators of the last run in which a test failed, preferably one at a known commit.

    If the test also failed at this commit without uncommitted changes, the uncommitted changes of the last run are left
    out. None if there is no such run.

    Args:
        archive: The records.
        failed: The test.
        fingerprint: The cause.
        since: Sort key; earlier failures are ignored because they were fixed.
        seed: The failing seed; None for any.
    """
    row = archive.db.execute(
        "SELECT r.vcs_commit, r.branch, r.dirty, r.changes, r.edited, r.edited_lines, r.simulators FROM failed f"
        " JOIN occurrences o ON o.fingerprint = f.fingerprint AND o.moment = f.moment AND NOT o.without_fix"
        " JOIN runs r ON r.id = f.run WHERE f.nodeid = ? AND f.simulator = ? AND f.config = ? AND f.fingerprint = ?"
        " AND f.moment > ? AND ? IN (f.seed, '') ORDER BY r.vcs_commit IS NULL, f.moment DESC LIMIT 1",
        (*failed, fingerprint, since, seed or ""),
    ).fetchone()
    if row is None:
        return None
    commit, branch, dirty, changes, edited, lines, simulators = row
    if dirty and seed is None and _failed_without_edits(archive, failed, fingerprint, since, commit):
        return Vcs(commit=commit, branch=branch), simulators
    vcs = Vcs(
        commit=commit,
        branch=branch,
        dirty=bool(dirty),
        changes=changes,
        edited=TEXTS.decode(edited),
        edited_lines=TEXTS.decode(lines),
    )
    return vcs, simulators


def _failed_without_edits(archive: Archive, failed: Target, fingerprint: str, since: str, commit: str) -> bool:
    """Return whether a test failed with a cause at a commit without uncommitted changes, in a run after `since`."""
    row = archive.db.execute(
        "SELECT 1 FROM failed f JOIN runs r ON r.id = f.run WHERE f.nodeid = ? AND f.simulator = ? AND f.config = ?"
        " AND f.fingerprint = ? AND f.moment > ? AND r.vcs_commit = ? AND NOT r.dirty LIMIT 1",
        (*failed, fingerprint, since, commit),
    ).fetchone()
    return row is not None
