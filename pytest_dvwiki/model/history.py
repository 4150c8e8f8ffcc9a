"""The history of a cause, a test or a bin, as the records tell it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct, field

# msgspec reads the annotations when it converts JSON to fixes.
from pytest_dvwiki.model.archive import FirstBad, ListedCommits, RunId, Vcs


class Pass(NamedTuple):
    """A run in which a test passed, at a commit without uncommitted changes."""

    moment: str
    task_id: str
    commit: str
    seed: str | None
    """None if the test has no seed, or the seed is not on record."""
    seed_hash: str | None = None
    """Short hash of the seed; None if the seed is not on record."""


class Fix(Struct, ListedCommits, frozen=True, kw_only=True):
    """A fix with its outcome, from all records together; the row of one record is a `FixRow`."""

    text: str
    result: Literal["open", "held", "failed"] = "open"
    commits: tuple[str, str] | None = None
    by: Literal["person", "agent", "git"] = "git"
    date: str = ""
    log: tuple[str, ...] = ()
    """Commits between last failure and first pass, as `git log --oneline` shows them; only some if there are many."""
    log_count: int = 0
    """Number of all commits between last failure and first pass."""
    unread_count: int = 0
    """Number of commits that touch no code the failing simulation is known to have read; `log` lists them last."""
    files: tuple[str, ...] = ()
    """Files that differ between last failure and first pass; only some if there are many."""
    file_count: int = 0
    restored: tuple[str, ...] = ()
    """Those of `files` that the fix restored to their state before the cause came in."""
    note: str = ""
    """Other differences between the failure and the pass: uncommitted changes of either run."""
    maybe_later: bool = False
    """Whether a commit after those of the fix may have been the fix, since its first passes may be chance."""
    owners: tuple[str, ...] = ()
    """Owners of the files that differ, from CODEOWNERS."""
    authors: tuple[str, ...] = ()
    """Authors of the lines that the fix changed, as they were before the fix."""
    counts: bool = True
    """Whether the fix's passes are more than chance: one pass had the seed that failed, or there are enough passes."""
    passes: int = 0
    """Number of runs that are known to have passed, including the first; at most `needed`."""
    needed: int = 0
    """Number of passing runs after which the fix counts as held."""
    needed_as_proof: int = 0
    """Number of passing runs that rule out chance; 0 if a pass with the seed that failed proves the fix."""
    proven_in: str | None = None
    """Task id of the run whose pass ruled out chance, if the first passes did not."""
    held_in: str | None = None
    """Task id of the run after which the fix counts as held."""
    returned: str | None = None
    """Time at which the cause returned."""
    in_place: bool | None = None
    """Whether the sources had the fix when the cause returned; None if unknown, or if nothing else had changed."""

    @property
    def by_chance(self) -> bool:
        """Tell whether the cause returned after passes that may be chance, and nobody stated the fix."""
        return self.by == "git" and self.result == "failed" and not self.counts


class StandingFix(Struct, frozen=True, kw_only=True):
    """The fix of a cause that has not returned since."""

    cause: str
    fix: Fix
    since: str | None
    """Task id of the first run without uncommitted changes that passed with the fix."""
    commit: str | None
    """Commit of the run `since`."""
    tests: tuple[tuple[str, str, str], ...]
    """Node id, simulator and configuration of the tests that had failed."""


class SourceRun(Struct, frozen=True):
    """A run whose record lists an artefact."""

    task_id: str
    written: bool
    """Whether the run itself wrote the artefact."""
    run_id: RunId
    commit: str | None


class KnownBin(Struct, frozen=True):
    """What the archive knows about a coverage bin."""

    filled: bool
    """Whether the bin was covered in the newest run that recorded it."""
    hits: int | None = None
    """Hits in the newest run that recorded the bin; None if they are not on record."""


class Onset(Struct, frozen=True, kw_only=True):
    """The first appearance of a cause since its last fix, or ever if it has no fix."""

    moment: str | None = None
    """Sort key of the first run that failed; None if the cause has not returned since the fix."""
    commit: str | None = None
    """Commit of the first failing run without uncommitted changes."""
    first_bad: FirstBad | None = None
    """Narrowest range on record of commits that introduced the cause."""
    failed: frozenset[str] = frozenset()
    """The tests that failed since the fix."""
    fixed_after: str | None = None
    """Commit of the fix's first pass, else of the last failure before the fix; the cause came back after it."""
    comes_and_goes: bool = False
    """Whether a test failed with the cause and also passed, with the same sources and seed."""
    passes_needed: dict[str, int] = field(default_factory=dict)
    """How many passes with other seeds it takes, by test, to show that the cause was absent before the failure."""
    passes_to_hold: dict[str, int] = field(default_factory=dict)
    """Number of passes, by test, that made the fix hold; as many before the cause returned show that it was absent."""
    since: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Maps a test to two numbers of runs since the first failure: those where it failed with the cause, and all."""


class Passing(Struct, frozen=True, kw_only=True):
    """A test that passed in the current run, or a runner or module that contains a passing test."""

    nodeid: str
    seed: str | None = None
    other_seeds: tuple[str, ...] = ()
    """Other seeds with which the test passed in the same run."""
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    whole: bool = True
    """Whether no test inside the runner or module failed; True for a single test."""


class StillFailing(Struct, frozen=True, kw_only=True):
    """A test that failed with a cause and has not since passed with the strongest proof that a pass can give."""

    nodeid: str
    fingerprint: str
    seed: str | None
    """Seed of the pass if the test failed with that seed since its last fix, else the seed of its last failure.

    None if no seed matters, or none is on record.
    """
    vcs: Vcs
    """State of the repository in the last run at a known commit in which the test failed."""
    seed_vcs: Vcs
    """State of the repository in the last run in which the test failed with `seed`."""
    by: Passing
    """The pass in the current run."""
    simulators: str = ""
    """Simulators, with versions, of the run that `seed_vcs` belongs to."""
    same_config: bool = True
    """Whether the test failed in the build configuration in which it passes now."""
    config_known: bool = True
    """Whether the build configurations of the failure and of the pass are both on record."""
    deterministic: bool = False
    """Whether the failure does not depend on a seed."""
    seed_unknown: bool = False
    """Whether the test failed with a seed, but no failing seed is on record."""
    one_of_several: bool = False
    """Whether several designs are built in one folder and it is not known which one failed."""
    proof: int = 0
    """Rank, by `records.fixes.proof`, of the strongest pass since the failure; 0 if there was no pass."""
    evidence: str = ""
    """First cause and excerpt of the cause's newest occurrence."""
    reads: tuple[str, ...] = ()
    """Files that the failing simulation read."""
    fixed: Fix | None = None
    """A fix of the cause, recorded after the failure and proved by other tests, seeds or simulators."""
