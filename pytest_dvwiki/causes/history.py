"""The interface through which the packages above query the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.model import (
        FailedTest,
        Failure,
        KnownBin,
        Occurrence,
        Onset,
        OriginType,
        Pass,
        Passing,
        SinceFix,
        StandingFix,
        StillFailing,
        Verdict,
    )
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.records.matrix import Split
    from pytest_dvwiki.records.subtype_history import SubtypeHistory


class History(Protocol):
    """The knowledge of the archive; implemented by the wiki."""

    def cause(self, fingerprint: str) -> Cause | None:
        """Return the cause with a fingerprint or alias; None if no record has it."""
        ...

    def register_formers(self, formers: Mapping[str, str | None]) -> None:
        """Register the version 1 names of a run's causes, by current fingerprint, before the run is on record."""
        ...

    def standing_fixes(self, fingerprint: str) -> Sequence[StandingFix]:
        """Return the newest fix of each of a check's causes that has not returned; the last seen cause first."""
        ...

    def cause_of(
        self, occurrence: Occurrence, task_id: str, changes: Sequence[SinceFix] = (), *, without_fix: bool = False
    ) -> str:
        """Return the cause with which a check fails in a run that is not on record yet, and remember it."""
        ...

    def reference(self, cause: str) -> str:
        """Return a name of a cause that stays valid in records, whatever other causes its check gets later."""
        ...

    def names(self, fingerprint: str, former: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return all fingerprints of a cause, the current one first, and the names of all its pages."""
        ...

    def subtype(self, failure_subtype: str) -> SubtypeHistory | None:
        """Return the history of a failure subtype; None if no record has it."""
        ...

    def matrix(self, fingerprint: str, commit: str) -> tuple[Split, ...]:
        """Return the axes that divide the failures of a cause at a commit from passes of its tests there."""
        ...

    def refresh(self) -> None:
        """Read what has been archived since the first query."""
        ...

    def undone_fix(self, occurrence: Occurrence) -> FixState | None:
        """Return a cause's newest fix if a new occurrence shows that the fix did not last, else None."""
        ...

    def regressed(self, occurrence: Occurrence, *, fix_in_place: bool = False) -> bool:
        """Tell whether a new occurrence is the first since the cause was closed, or since a fix of it had held.

        If that fix is still in the sources, the check may report another fault: only a closed page counts then.
        """
        ...

    def still_failing(self, passing: Sequence[Passing]) -> tuple[StillFailing, ...]:
        """Return the passing tests whose pass is news for a failure on record, by test and fingerprint."""
        ...

    def fix_template(self, failure_subtype: str) -> str:
        """Return the fix section of a subtype's page; empty if nobody wrote it."""
        ...

    def decisions(self, pattern: str, fingerprint: str) -> dict[OriginType, int]:
        """Return how many other causes of a pattern people assigned to each origin."""
        ...

    def last_passes(
        self, cause: Occurrence | Verdict, test: FailedTest | Failure, before: str = EVER
    ) -> Sequence[Pass]:
        """Return the newest passes of a failing test on its simulator without uncommitted changes, newest first.

        For a build that fails, runs in which the build passed count, whether or not their tests passed.

        Args:
            cause: The cause with which the test fails.
            test: The test that failed.
            before: Sort key of a run; only earlier passes count.
        """
        ...

    def onset(self, fingerprint: str) -> Onset | None:
        """Return where a cause first appeared since its last fix; None if no record has the cause."""
        ...

    def flaky(self, names: Collection[str]) -> Mapping[str, tuple[int, int]]:
        """Return, by test, in how many of the newest runs the test was flaky, and in how many the test ran."""
        ...

    def coverage(self) -> dict[tuple[str, str], KnownBin]:
        """Return, by covergroup and bin, the record of every bin that is, or was, a coverage hole."""
        ...
