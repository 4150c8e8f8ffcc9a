"""Decide whether a check that fails again after a fix reports the fixed cause or a different one."""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pytest_dvwiki.model import SinceFix
from pytest_dvwiki.pipeline.exclusions import Exclusions, may_matter
from pytest_dvwiki.pipeline.passes import passing, touch_stimulus
from pytest_dvwiki.records.name_parts import SLASH, check_of
from pytest_dvwiki.records.sides import with_restored_only
from pytest_dvwiki.records.targets import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.capture.git.repository import Repository
    from pytest_dvwiki.causes.cause import Cause, RuledOut
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Occurrence, Run, StandingFix, Undone, Vcs
    from pytest_dvwiki.pipeline.exclusions import Excluded
    from pytest_dvwiki.records.fixes import FixState

_MOST_FILES = 100
"""Maximum number of changed files listed in a record."""
_MOST_FAILING = 10
"""Maximum number of commits at which a cause occurred that are compared with the sources of this run."""
_MOST_FIXES = 5
"""Maximum number of a cause's newest fixes looked up in git."""


class CauseOfRun(NamedTuple):
    """The cause of a failing check in a run."""

    name: str
    beside: Cause | None = None
    """Another cause of the same check, if this cause is new."""
    beside_why: RuledOut = ""
    """Why `beside` cannot explain the failure; empty if it was fixed."""
    fix_in_place: bool | None = None
    """Whether the cause's newest fix is still in the run's sources; None if unknown."""
    changed_since_fix: bool = False
    """Whether relevant sources were changed since the cause's newest fix."""
    undone: FixState | None = None
    """An older fix that was reverted since the newest fix; None if there is none."""


class Returns:
    """Decides whether a failing check of a run reports a recorded cause or a new one."""

    def __init__(self, run: Run, vcs: Vcs | None, history: History, repository: Repository) -> None:
        self._run = run
        self._vcs = vcs
        self._history = history
        self._repository = repository
        self.exclusions = Exclusions(run, vcs, history, repository)
        self._assigned: dict[str, list[str]] = {}
        """Per check, the causes that have been assigned to failures of this run so far."""
        self.apart: set[str] = set()
        """New causes of one check in this run that differ, because their simulations read no changed file in common."""
        self.rows: list[SinceFix] = []
        """Changes and passes since earlier fixes, for checks that fail again."""
        self.undone: list[Undone] = []
        """Earlier causes of the failing checks that are ruled out, although no fix of them is on record."""

    def cause_of(self, occurrence: Occurrence) -> CauseOfRun:
        """Return the cause of an occurrence, and keep the evidence for the record.

        A cause that an earlier call returned for the same check is not returned again.
        """
        given = self._assigned.setdefault(check_of(occurrence.fingerprint), [])
        found, rows, undone = self.decided(occurrence, given)
        given.append(found.name)
        self.rows += rows
        self.undone += undone
        return found

    def decided(
        self, occurrence: Occurrence, taken: Sequence[str] = ()
    ) -> tuple[CauseOfRun, list[SinceFix], list[Undone]]:
        """Return the cause of an occurrence, and the evidence for the record: the rows of `since_fix` and of `undone`.

        Args:
            occurrence: A check that fails in this run.
            taken: Causes that other failures of the same check in this run have; none of them is returned.
        """
        standing = self._history.standing_fixes(check_of(occurrence.fingerprint))
        commit = self._vcs.commit if self._vcs is not None else None
        counting = [each for each in standing if each.fix.counts]
        lacking = {each.cause for each in counting if self._repository.lacks(each.fix, commit)}
        if lacking:
            name = self._history.cause_of(occurrence, self._run.task_id, without_fix=True, taken=taken)
            if name in lacking:
                return CauseOfRun(name), [], []
        found = {} if lacking else dict(self._rows(occurrence, standing))
        rows = list(found.values())
        name, undone = self._named(occurrence, rows, taken)
        others = [*undone, *(each.cause for each in counting)] if self._history.cause(name) is None else []
        beside = self._history.cause(others[0]) if others else None
        in_place = found[name].in_place if name in found else self._returned_in_place(name, occurrence)
        why: RuledOut = next((each.why for each in undone.values()), "")
        if not others and occurrence.fingerprint in self.apart:
            why = "apart"
        of_run = CauseOfRun(name, beside, why, in_place, name in found, self._undone(name))
        return of_run, rows, [each.row for each in undone.values()]

    def _named(
        self, occurrence: Occurrence, rows: Sequence[SinceFix], taken: Sequence[str]
    ) -> tuple[str, dict[str, Excluded]]:
        """Return the cause of a failure, and the causes that are ruled out."""
        others = {name: self.exclusions.excluded(name, occurrence) for name in taken}
        undone = {name: found for name, found in others.items() if found is not None}
        while True:
            ruled_out = tuple(each.row for each in undone.values())
            name = self._history.cause_of(occurrence, self._run.task_id, rows, undone=ruled_out, taken=taken)
            found = self.exclusions.excluded(name, occurrence) if name not in undone else None
            if found is None:
                return name, undone
            undone[name] = found

    def _returned_in_place(self, name: str, occurrence: Occurrence) -> bool | None:
        """Return whether the sources still have a cause's newest fix, although the cause came back in an earlier run.

        Return None if this is unknown, or if nothing relevant changed since the fix.
        """
        known, vcs = self._history.cause(name), self._vcs
        newest = known.states[-1] if known is not None and known.states else None
        if newest is None or newest.returned is None or vcs is None or not newest.fix.commits:
            return None
        in_place = self._repository.keeps(with_restored_only(newest.fix, occurrence.reads), vcs)
        if not in_place:
            return in_place
        files = self._repository.changed(newest.fix.commits[-1], vcs)
        return True if files and may_matter(files, occurrence) else None

    def _undone(self, name: str) -> FixState | None:
        """Return an older fix that was reverted since the newest fix; None if the newest was reverted, too."""
        known, vcs = self._history.cause(name), self._vcs
        if known is None or vcs is None or len(known.states) < 2:  # noqa: PLR2004
            return None
        *older, newest = known.states[-_MOST_FIXES:]
        passed = [each for each in reversed(older) if each.fix.result != "failed"]
        found = next((each for each in passed if self._repository.undid(each.fix, newest.fix, vcs)), None)
        return None if found is not None and self._repository.keeps(newest.fix, vcs) is False else found

    def _rows(self, occurrence: Occurrence, standing: Sequence[StandingFix]) -> Iterator[tuple[str, SinceFix]]:
        """Yield the changes since each lasting fix of a check, with the name of the fixed cause."""
        for each in standing:
            commit = each.sources.commit if each.sources is not None else None
            if each.since is None or each.sources is None or commit is None or self._vcs is None:
                continue
            files = self._repository.changed(commit, self._vcs)
            if files is None or may_matter(each.sources.edited, occurrence):
                continue  # the edits may have made the tests pass
            in_place = self._repository.keeps(with_restored_only(each.fix, occurrence.reads), self._vcs)
            read = self.exclusions.changes_since(commit, self._vcs, occurrence)
            if in_place is not False and not read:
                continue
            if in_place and self._is_taken_back(each.cause, commit, read):
                in_place = None
            name = self._history.reference(each.cause)
            yield (
                each.cause,
                SinceFix(
                    fingerprint=occurrence.fingerprint,
                    cause=name if SLASH in name else "",
                    since=each.since,
                    files=files[:_MOST_FILES],
                    file_count=len(files),
                    passed=tuple(sorted({test for test, *on in each.tests if self._has_passed(Target(test, *on))})),
                    in_place=in_place,
                    same_stimulus=not touch_stimulus(read, occurrence.reads),
                ),
            )

    def _is_taken_back(self, cause: str, passed: str, files: Sequence[str]) -> bool:
        """Return whether code that changed between a run with the cause and the fix was changed back since the fix.

        The fix may have repaired only one of two faults, and the repair of the other one, unseen by any run, is undone.

        `passed` is the full hash of the commit of the fix's first run, since which the code in `files` changed.
        """
        known, vcs = self._history.cause(cause), self._vcs
        if known is None or known.history is None or vcs is None:
            return False
        failed = dict.fromkeys(row.commit for row in known.history.rows if row.commit and not row.dirty)
        good = known.first_bad.good if known.first_bad is not None else None
        return any(
            self._repository.takes_back((commit, passed), vcs, files, good)
            for commit in itertools.islice(failed, _MOST_FAILING)
        )

    def _has_passed(self, target: Target) -> bool:
        """Return whether a test passed on its simulator and configuration."""
        return any(nodeid == target.nodeid and target.is_met_by(*where) for nodeid, *where in self._passed)

    @cached_property
    def _passed(self) -> set[tuple[str, str, str]]:
        """Return the passed tests, and runners without failed tests, each with simulator and configuration."""
        found = passing(self._run.results)
        return {(each.nodeid, each.simulator or "", each.config or "") for each in found if each.whole}
