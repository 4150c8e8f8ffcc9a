"""The interface that packages in higher layers use to query the archive."""

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
    """Queries of the archive; `wiki.query.WikiHistory` implements them."""

    def cause(self, fingerprint: str) -> Cause | None:
        """Return the cause with a fingerprint or alias; None if no record has it."""
        ...

    def register_formers(self, formers: Mapping[str, str | None]) -> None:
        """Register the version 1 fingerprints that belong to the fingerprints of a run not on record yet."""
        ...

    def standing_fixes(self, fingerprint: str) -> Sequence[StandingFix]:
        """Return the newest fix of each cause of `fingerprint` that has not returned, the most recently seen first."""
        ...

    def cause_of(
        self, occurrence: Occurrence, task_id: str, changes: Sequence[SinceFix] = (), *, without_fix: bool = False
    ) -> str:
        """Return the cause of a failure in a run that is not on record yet, and remember it."""
        ...

    def reference(self, cause: str) -> str:
        """Return a name for a cause that stays valid in records even if its check reports other causes later."""
        ...

    def names(self, fingerprint: str, former: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return all fingerprints of a cause, beginning with the current one, and the names of all its pages."""
        ...

    def subtype(self, failure_subtype: str) -> SubtypeHistory | None:
        """Return the history of a failure subtype; None if no record has it."""
        ...

    def matrix(self, fingerprint: str, commit: str) -> tuple[Split, ...]:
        """Return the axes that separate, at one commit, the failures of a cause from the passes of its tests."""
        ...

    def refresh(self) -> None:
        """Read what has been archived since the first query or the last refresh."""
        ...

    def undone_fix(self, occurrence: Occurrence) -> FixState | None:
        """Return a cause's newest fix if a new occurrence shows that the fix did not last, else None."""
        ...

    def regressed(self, occurrence: Occurrence, *, fix_in_place: bool = False) -> bool:
        """Return whether an occurrence is the cause's first one since its page was closed, or since a fix that held.

        If that fix is still in the sources, the check may report another fault: then only a closed page counts.
        """
        ...

    def still_failing(self, passing: Sequence[Passing]) -> tuple[StillFailing, ...]:
        """Return the passing tests that failed before and are not proven fixed, one entry per test and fingerprint."""
        ...

    def fix_template(self, failure_subtype: str) -> str:
        """Return the fix advice on the page of a subtype; empty if people have not written or accepted any."""
        ...

    def decisions(self, pattern: str, fingerprint: str) -> dict[OriginType, int]:
        """Return, for each origin, how many other causes of a pattern people assigned to it."""
        ...

    def last_passes(
        self, cause: Occurrence | Verdict, test: FailedTest | Failure, before: str = EVER
    ) -> Sequence[Pass]:
        """Return a failing test's most recent passes on its simulator without uncommitted changes, newest first.

        If the build fails, runs in which the same build passed count as well, whether or not their tests passed.

        Args:
            cause: Why the test fails.
            test: The test that failed.
            before: Sort key of a run; only earlier passes count.
        """
        ...

    def onset(self, fingerprint: str) -> Onset | None:
        """Return where a cause first appeared since its last fix; None if no record has the cause."""
        ...

    def flaky(self, names: Collection[str]) -> Mapping[str, tuple[int, int]]:
        """Return, for each test, the number of newest runs in which it was flaky, and in which it ran."""
        ...

    def coverage(self) -> dict[tuple[str, str], KnownBin]:
        """Return what is on record about every present or former coverage hole, by covergroup and bin."""
        ...
