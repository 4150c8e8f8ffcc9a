"""The interface through which higher layers query the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pytest_dvwiki.runs import EVER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

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
        Undone,
        Verdict,
    )
    from pytest_dvwiki.records.fixes import FixState
    from pytest_dvwiki.records.matrix import Split
    from pytest_dvwiki.records.subtype_history import SubtypeHistory


class History(Protocol):
    """Queries of the archive, implemented by `wiki.query.WikiHistory`.

    This class is long because triage, capture and the pipeline query the archive only through it.
    """

    def cause(self, fingerprint: str) -> Cause | None:
        """Return the cause with a fingerprint or alias; None if it is not on record."""
        ...

    def register_formers(self, formers: Mapping[str, str | None]) -> None:
        """Register the version 1 fingerprints of a run's causes before the run is on record."""
        ...

    def standing_fixes(self, fingerprint: str) -> Sequence[StandingFix]:
        """Return the newest fix of each cause of a check, unless the cause has come back since.

        The most recently seen cause comes first.
        """
        ...

    def cause_of(
        self,
        occurrence: Occurrence,
        task_id: str,
        changes: Sequence[SinceFix] = (),
        *,
        undone: Sequence[Undone] = (),
        without_fix: bool = False,
        taken: Collection[str] = (),
    ) -> str:
        """Return the name of a failure's cause, and remember the answer until the current run is on record."""
        ...

    def tools(self, task_id: str) -> Mapping[str, str]:
        """Map the tools of a run to their versions; tools with an unknown version are omitted."""
        ...

    def has_noise(self) -> bool:
        """Return whether any error message of a passing test is on record."""
        ...

    def noisy_tests(self, text: str) -> set[str]:
        """Return the tests that passed although they printed a given message; an empty name stands for every test."""
        ...

    def open_causes(self, fingerprint: str) -> tuple[str, ...]:
        """Return the causes of a check that are not fixed, the most recently seen first."""
        ...

    def last_causes(self, fingerprint: str, nodeids: Collection[str]) -> Mapping[str, str]:
        """Map each test that has failed at a check to the cause of its newest failure there."""
        ...

    def hidden_since(self, fingerprint: str, nodeids: Collection[str]) -> str | None:
        """Return the last commit at which tests failed with a cause, if all of them failed with other causes since.

        Return None if one of these tests has not failed otherwise since, or if the commit is unknown.
        """
        ...

    def reference(self, cause: str) -> str:
        """Return a name for a cause that stays valid in records even if its check reports further causes later."""
        ...

    def names(self, fingerprint: str, former: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return all fingerprints of a cause, the current one first, and the names of all its pages."""
        ...

    def pages_of(self, fingerprints: Iterable[str]) -> dict[str, tuple[tuple[str, ...], str | None]]:
        """Return, for each fingerprint, all names of its cause, the current one first, and the path of its page."""
        ...

    def subtype(self, failure_subtype: str) -> SubtypeHistory | None:
        """Return the history of a failure subtype; None if it is not on record."""
        ...

    def matrix(self, fingerprint: str, commit: str) -> tuple[Split, ...]:
        """Return the matrix axes that separate failures of a cause from passes of its tests at the same commit."""
        ...

    def refresh(self) -> None:
        """Read what was archived since the last refresh."""
        ...

    def undone_fix(self, occurrence: Occurrence) -> FixState | None:
        """Return the newest fix of a cause that, according to a new occurrence, did not last; None if there is none."""
        ...

    def regressed(self, occurrence: Occurrence, *, fix_in_place: bool = False) -> bool:
        """Return whether an occurrence is the first one since the cause's page was closed, or since a fix that held.

        If the fix is still in the sources, the check may report a different fault, so only a closed page counts.
        """
        ...

    def still_failing(self, passing: Sequence[Passing]) -> tuple[StillFailing, ...]:
        """Return the passing tests whose earlier failures are not proven fixed, one entry per test and fingerprint."""
        ...

    def fix_template(self, failure_subtype: str) -> str:
        """Return the fix advice on a subtype's page; empty if people have not written or accepted any."""
        ...

    def decisions(self, pattern: str, fingerprint: str) -> dict[OriginType, int]:
        """Return, for each origin, how many other causes of a pattern people assigned to it."""
        ...

    def last_passes(
        self,
        cause: Occurrence | Verdict,
        test: FailedTest | Failure,
        before: str = EVER,
        *,
        edited: bool = False,
        any_design: bool = False,
    ) -> Sequence[Pass]:
        """Return the most recent passes of a failing test on its simulator, newest first.

        If a build failed, runs in which the same build succeeded are included, even if their tests failed.

        Args:
            cause: The cause of the failure.
            test: The failing test.
            before: Sort key of a run; later passes are ignored.
            edited: Whether to include runs with uncommitted changes, if the files are on record.
            any_design: Whether passes of any design of a folder count if it is unknown which of them failed.
        """
        ...

    def onset(self, fingerprint: str) -> Onset | None:
        """Return where a cause first appeared since its last fix; None if no record has the cause."""
        ...

    def flaky(self, names: Collection[str]) -> Mapping[str, tuple[int, int]]:
        """Return two counts for each test: in how many of the newest runs it was flaky, and in how many it ran."""
        ...

    def coverage(self) -> dict[tuple[str, str], KnownBin]:
        """Return the recorded state of each present or former coverage hole, by covergroup and bin."""
        ...
