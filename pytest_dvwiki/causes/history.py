"""What the archive knows, as the packages above ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    from pytest_dvwiki.records.aggregate import SubtypeHistory
    from pytest_dvwiki.records.fixes import FixState


class History(Protocol):
    """What the archive knows; implemented by the wiki."""

    def cause(self, fingerprint: str) -> Cause | None:
        """Return the cause of that fingerprint, or of one of its aliases; None where no record has it."""
        ...

    def foretell(self, formers: Mapping[str, str | None]) -> None:
        """Take in what version 1 called the causes of a run, by their present fingerprints, before it is on record."""
        ...

    def standing_fixes(self, fingerprint: str) -> Sequence[StandingFix]:
        """Return the fixes that stand of the causes of a check, of that seen last first."""
        ...

    def cause_of(
        self, occurrence: Occurrence, task_id: str, changes: Sequence[SinceFix] = (), *, without_fix: bool = False
    ) -> str:
        """Return the cause with which a check fails in a run that is not on record yet, and remember it."""
        ...

    def reference(self, cause: str) -> str:
        """Return a name of a cause that records may have, whatever other causes its check has later."""
        ...

    def names(self, fingerprint: str, former: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return all fingerprints of a cause, the one first that it has now, and the names of all its pages."""
        ...

    def subtype(self, failure_subtype: str) -> SubtypeHistory | None:
        """Return what the records say of a failure subtype; None where none has it."""
        ...

    def refresh(self) -> None:
        """Takes in what was archived since the first question."""
        ...

    def undone_fix(self, occurrence: Occurrence) -> FixState | None:
        """Return the newest fix of a cause of which a new occurrence says that it did not last."""
        ...

    def regressed(self, occurrence: Occurrence) -> bool:
        """Tell whether a new occurrence of a cause is a regression: it was closed, or is back after a fix that held."""
        ...

    def still_failing(self, passing: Sequence[Passing]) -> tuple[StillFailing, ...]:
        """Return, of tests that pass now, those of which a pass is news, by test and fingerprint."""
        ...

    def fix_template(self, failure_subtype: str) -> str:
        """What the page of a subtype says of fixing it; empty where nobody wrote it."""
        ...

    def decisions(self, pattern: str, fingerprint: str) -> dict[OriginType, int]:
        """How many causes that a pattern named, other than the one given, people decided to be what."""
        ...

    def last_passes(self, cause: Occurrence | Verdict, test: FailedTest | Failure, before: str = "~") -> Sequence[Pass]:
        """Return the newest passes of a failing test on its simulator without uncommitted changes, newest first.

        Args:
            cause: With which it fails.
            test: The test as it failed.
            before: Sort key of a run; passes before it are looked for.
        """
        ...

    def onset(self, fingerprint: str) -> Onset | None:
        """Where a cause came in since its last fix, None where no record has it."""
        ...

    def coverage(self) -> dict[tuple[str, str], KnownBin]:
        """By covergroup and bin what is on record of every bin that is a coverage hole, or was one."""
        ...
