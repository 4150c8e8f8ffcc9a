"""Frozen data classes for failures, runs and history, and the protocol between capture and patterns.

The classes import nothing heavy, and `msgspec` converts them to JSON and back.
Paths are relative to the root with `/`; times are UTC in the form `2026-11-21T20:27:30Z`; durations are seconds.

Creating a data class takes a millisecond, so the classes in `archive` and `history` are created at first use:
classifying a failure needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.model.failure import (
    Attempt,
    Canceller,
    Clue,
    Command,
    Excerpt,
    Failure,
    Frame,
    Like,
    LogReference,
    Origin,
    OriginType,
    Outcome,
    Phase,
    Place,
    Result,
    RunnerUp,
    Source,
    Tier,
    Verdict,
)
from pytest_dvwiki.model.protocols import Interest

if TYPE_CHECKING:
    from pytest_dvwiki.model.archive import (
        FOR_ALL,
        MOST_READ,
        WRITTEN,
        Axes,
        BinRow,
        Change,
        CoverBin,
        FailedTest,
        FirstBad,
        FixRow,
        Gate,
        Gated,
        GateMode,
        GateReason,
        ListedCommits,
        News,
        Occurrence,
        OtherTest,
        PassedAgain,
        Run,
        RunId,
        RunRecord,
        Simulator,
        SinceFix,
        SourceRow,
        Suite,
        Totals,
        Vcs,
        Waived,
    )
    from pytest_dvwiki.model.history import Fix, KnownBin, Onset, Pass, Passing, SourceRun, StandingFix, StillFailing

__all__ = [
    "FOR_ALL",
    "MOST_READ",
    "WRITTEN",
    "Attempt",
    "Axes",
    "BinRow",
    "Canceller",
    "Change",
    "Clue",
    "Command",
    "CoverBin",
    "Excerpt",
    "FailedTest",
    "Failure",
    "FirstBad",
    "Fix",
    "FixRow",
    "Frame",
    "Gate",
    "GateMode",
    "GateReason",
    "Gated",
    "Interest",
    "KnownBin",
    "Like",
    "ListedCommits",
    "LogReference",
    "News",
    "Occurrence",
    "Onset",
    "Origin",
    "OriginType",
    "OtherTest",
    "Outcome",
    "Pass",
    "PassedAgain",
    "Passing",
    "Phase",
    "Place",
    "Result",
    "Run",
    "RunId",
    "RunRecord",
    "RunnerUp",
    "Simulator",
    "SinceFix",
    "Source",
    "SourceRow",
    "SourceRun",
    "StandingFix",
    "StillFailing",
    "Suite",
    "Tier",
    "Totals",
    "Vcs",
    "Verdict",
    "Waived",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_dvwiki.model import archive, history  # noqa: PLC0415

    value = globals()[name] = getattr(archive, name, None) or getattr(history, name)
    return value
