"""Decide whether a recorded cause cannot explain a failure of its check, although no fix of the cause is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import asdict

from pytest_dvwiki.capture.git.onset import is_undone, passed_since, proven_passes
from pytest_dvwiki.model import MOST_READ, Undone, Vcs
from pytest_dvwiki.pipeline.passes import NO_STIMULUS, touch_stimulus
from pytest_dvwiki.records.kinds import is_beyond_sources
from pytest_dvwiki.records.name_parts import SLASH
from pytest_dvwiki.records.sides import concerns
from pytest_dvwiki.records.targets import share_a_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.capture.git.repository import Repository
    from pytest_dvwiki.causes.cause import Cause, RuledOut
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import FirstBad, Occurrence, Onset, Run
    from pytest_dvwiki.records.aggregate import OccurrenceRow


class Excluded(NamedTuple):
    """A cause of the check that cannot explain the failure."""

    row: Undone
    why: RuledOut


class Exclusions:
    """Compares failures with the changes that introduced the causes of their checks."""

    def __init__(self, run: Run, vcs: Vcs | None, history: History, repository: Repository) -> None:
        named = {each.name: each.version for each in run.simulators}
        self._tools = {name: version for name, version in (named | asdict(run.axes)).items() if version}
        """The run's tools and their versions, named as in the archive; tools with an unknown version are omitted."""
        self._vcs = vcs
        self._history = history
        self._repository = repository

    def excluded(self, name: str, occurrence: Occurrence) -> Excluded | None:
        """Return the evidence that a cause cannot explain a failure; None if the cause may explain it.

        Return None also if it is uncertain which commits or uncommitted changes introduced the cause, or if no relevant
        source has changed since the last pass before the cause: a failure on the sources of that pass would only show
        that the pass was chance.
        """
        known, vcs = self._history.cause(name), self._vcs
        if known is None or known.history is None or vcs is None or is_beyond_sources(occurrence):
            return None
        onset = self._history.onset(name)
        if onset is None or onset.comes_and_goes:
            return None
        came, why = known.first_bad, self._why(known, vcs, occurrence, onset)
        since = came.good if came is not None and came.is_certain else known.history.rows[0].commit
        if why is None or since is None:
            return None
        changed = self._repository.changed(since, vcs) or ()
        if not may_matter(self._repository.in_code(changed, since, vcs), occurrence):
            return None
        run = self._history.reference(name).partition(SLASH)[2] or known.history.rows[0].task_id
        return Excluded(Undone(fingerprint=occurrence.fingerprint, task_id=run), why)

    def _why(self, known: Cause, vcs: Vcs, occurrence: Occurrence, onset: Onset) -> RuledOut | None:
        """Return why a cause cannot explain a failure; None if it may.

        The reason is empty if the cause came with uncommitted changes and was fixed by dropping them.
        """
        came = known.first_bad
        if came is None or not came.is_certain:
            return "" if self._is_dropped(known, vcs, occurrence) else None
        if self._is_unread(came, vcs, occurrence):
            return "unread"
        if self._is_undone(came, vcs, occurrence):
            return "undone"
        return "passed" if self._had_passed(came, vcs, occurrence, onset) else None

    def _is_dropped(self, known: Cause, vcs: Vcs, occurrence: Occurrence) -> bool:
        """Return whether a cause occurred only with uncommitted changes that are gone, and is fixed without them.

        If commits changed the same files since, return False, unless they are known to have changed other lines.
        """
        history, fix = known.history, known.newest_fix
        if history is None or history.runs > len(history.rows) or fix is None or not fix.counts or fix.returned:
            return False
        rows = history.rows
        is_by_dropping = fix.note or not (fix.log or fix.files)
        if not is_by_dropping or (vcs.dirty and not vcs.edited):
            return False
        if not all(row.dirty and row.edited and row.commit for row in rows):
            return False
        edited = {name for row in rows for name in row.edited if concerns(name, occurrence.reads)}
        return bool(edited) and not any(self._may_have_edits(row, vcs, edited) for row in rows)

    def _may_have_edits(self, row: OccurrenceRow, vcs: Vcs, edited: set[str]) -> bool:
        """Return whether the current sources may contain an earlier run's uncommitted changes to the files `edited`."""
        changed = self._repository.changed(str(row.commit), vcs)
        if changed is None:
            return True
        if edited.isdisjoint(changed):
            return False
        return not row.edited_lines or self._repository.has_edits(row.edited_lines, str(row.commit), vcs)

    def read_changes(self, occurrence: Occurrence) -> tuple[str, ...] | None:
        """Return the files that the simulations may have read, and whose code changed since the tests last passed.

        Return None if no pass proves the cause absent, or if something other than the sources may be at fault: a new
        version of a tool or, if a tool failed, the host.
        """
        if self._vcs is None or self._vcs.commit is None:
            return None
        if occurrence.error_class == "tool_error" or is_beyond_sources(occurrence):
            return None
        passes = proven_passes(occurrence, self._vcs, self._history, self._repository)
        if not passes or any(map(self._has_other_tools, {one.task_id for one in passes})):
            return None
        read = (self.changes_since(commit, self._vcs, occurrence) for commit in {one.commit for one in passes})
        return tuple(sorted({file for files in read for file in files}))

    def _has_other_tools(self, task_id: str) -> bool:
        """Return whether a tool of the current run is known to have had another version in an earlier run."""
        then = self._history.tools(task_id)
        return any(then.get(name, version) != version for name, version in self._tools.items())

    def _had_passed(self, came: FirstBad, vcs: Vcs, occurrence: Occurrence, onset: Onset) -> bool:
        """Return whether the failing tests had passed with the changes that introduced a cause of other tests.

        If so, later changes made the tests fail. Return False if these later changes may have altered the stimulus,
        because then they may only have revealed the cause.
        """
        if share_a_test(onset.failed, {test.nodeid for test in occurrence.tests}) or came.file_count != len(came.files):
            return False
        start = passed_since(occurrence, vcs, onset, self._history, self._repository)
        if start is None:
            return False
        until = self._repository.changed(came.bad, Vcs(commit=start.commit))
        if until is None or not set(came.files).isdisjoint(until):
            return False  # the pass may have had only a part of these changes
        read = self.changes_since(start.commit, vcs, occurrence)
        return bool(read) and not touch_stimulus(read, occurrence.reads)

    def changes_since(self, commit: str, vcs: Vcs, occurrence: Occurrence) -> tuple[str, ...]:
        """Return the files that the simulation may have read, and whose code changed since a commit."""
        code = self._repository.in_code(self._repository.changed(commit, vcs) or (), commit, vcs)
        if not may_matter(code, occurrence):
            return ()
        unread = self._repository.unread(code, occurrence.reads, str(vcs.commit))
        return tuple(file for file in code if file not in unread)

    def _is_unread(self, came: FirstBad, vcs: Vcs, occurrence: Occurrence) -> bool:
        """Return whether a failing simulation read none of the changed files that introduced a cause of other tests."""
        is_whole = 0 < came.file_count == len(came.files)
        if not is_whole or not occurrence.reads or came.nodeid in {test.nodeid for test in occurrence.tests}:
            return False
        commit = str(vcs.commit)
        reads = self._repository.with_removed(occurrence.reads, came.good, None if vcs.dirty else commit)
        return not may_matter(came.files, occurrence) and self._repository.are_unread(came.files, reads, commit)

    def _is_undone(self, came: FirstBad, vcs: Vcs, occurrence: Occurrence) -> bool:
        """Return whether the changes that introduced a cause are undone in this run.

        If they may have altered the stimulus of a seed, return False: they may only have revealed an older fault, which
        is still there.
        """
        has_seed = any(test.seed_unknown or test.stimulus_seed for test in occurrence.tests)
        if has_seed and touch_stimulus(came.files, occurrence.reads):
            return False
        return is_undone(came, vcs, self._repository, occurrence.reads)


def may_matter(files: Sequence[str], occurrence: Occurrence) -> bool:
    """Return whether a changed file may affect a failure.

    The files that the simulation read may; if these are unknown, all files but documentation may.
    """
    if not 0 < len(occurrence.reads) < MOST_READ:
        return any(NO_STIMULUS.search(name) is None for name in files)
    # The project's root may be below the repository's top.
    return any(f"/{name}".endswith(f"/{read}") for name in files for read in occurrence.reads)
