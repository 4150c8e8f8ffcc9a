"""The history of a cause, a test or a coverage bin, collected from the records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, field

# msgspec reads the annotations when it converts JSON to fixes.
from pytest_dvwiki.model.archive import FirstBad, ListedCommits, RunId, Vcs

if TYPE_CHECKING:
    from pytest_dvwiki.model.failure import Command


class Pass(NamedTuple):
    """A passing run of a test at a commit."""

    moment: str
    task_id: str
    commit: str
    seed: str | None
    """Seed of the test; None if the test has no seed, or if its seed is not recorded."""
    seed_hash: str | None = None
    """Short hash of the seed; None if no hash is recorded."""
    edited: tuple[str, ...] = ()
    """Files with uncommitted changes during the run."""


class Fix(Struct, ListedCommits, frozen=True, kw_only=True):
    """A fix and its outcome, collected from all records; a `FixRow` is the part in one record."""

    text: str
    result: Literal["open", "held", "failed"] = "open"
    commits: tuple[str, str] | None = None
    by: Literal["person", "agent", "git"] = "git"
    date: str = ""
    log: tuple[str, ...] = ()
    """Commits between last failure and first pass, as printed by `git log --oneline`; truncated if there are many."""
    log_count: int = 0
    """Total number of commits between last failure and first pass."""
    unread_count: int = 0
    """Number of commits that change no file known to be read by the failing simulation; they come last in `log`."""
    files: tuple[str, ...] = ()
    """Files that differ between last failure and first pass; truncated if there are many."""
    file_count: int = 0
    restored: tuple[str, ...] = ()
    """The subset of `files` that the fix restored to their state before the cause appeared."""
    note: str = ""
    """Other differences between failure and pass: uncommitted changes in either run."""
    maybe_later: bool = False
    """Whether a later commit may be the real fix, because the first passes may be chance."""
    owners: tuple[str, ...] = ()
    """Owners of the differing files according to CODEOWNERS."""
    authors: tuple[str, ...] = ()
    """Authors of the changed lines as they were before the fix."""
    counts: bool = True
    """Whether chance is ruled out: a pass used the failing seed, or there are enough passes."""
    passes: int = 0
    """Number of runs known to have passed, including the first; at most `needed`."""
    needed: int = 0
    """Number of passing runs required for the fix to hold."""
    needed_as_proof: int = 0
    """Number of passing runs required to rule out chance; 0 if a pass with the failing seed proves the fix."""
    proven_in: str | None = None
    """Task id of the run that ruled out chance, if the first passes did not."""
    held_in: str | None = None
    """Task id of the run from which the fix holds."""
    returned: str | None = None
    """Time of the run in which the cause returned; None if it has not."""
    in_place: bool | None = None
    """Whether the sources contained the fix when the cause returned; None if unknown or if nothing else had changed."""

    @property
    def is_instructive(self) -> bool:
        """Return whether a fix may help with another cause: somebody stated it, or git knows exactly what changed."""
        return self.by != "git" or (not self.note and bool(self.files or self.log))

    @property
    def by_chance(self) -> bool:
        """Return whether only git describes the fix, the fix failed, and chance may explain the passes in between."""
        return self.by == "git" and self.result == "failed" and not self.counts


class StandingFix(Struct, frozen=True, kw_only=True):
    """The newest fix of a cause, if the cause has not come back since."""

    cause: str
    fix: Fix
    since: str | None
    """Task id of the first run that passed with the fix, if possible one without uncommitted changes."""
    sources: Vcs | None
    """Commit and uncommitted changes of the run `since`."""
    tests: tuple[tuple[str, str, str], ...]
    """Node id, simulator and configuration of the tests that had failed."""


class SourceRun(Struct, frozen=True):
    """A run whose record lists an artefact."""

    task_id: str
    written: bool
    """Whether the run wrote the artefact itself."""
    run_id: RunId
    commit: str | None


class KnownBin(Struct, frozen=True):
    """The archived state of a coverage bin."""

    filled: bool
    """Whether the bin was covered in the newest run that recorded it."""
    hits: int | None = None
    """Hits in the newest run that recorded the bin; None if not recorded."""


class Onset(Struct, frozen=True, kw_only=True):
    """The first occurrence of a cause after its last fix, or the very first one if it has no fix."""

    moment: str | None = None
    """Sort key of the first failing run; None if the cause has not returned after the fix."""
    commit: str | None = None
    """Commit of the first failing run without uncommitted changes to files that the simulation reads."""
    first_bad: FirstBad | None = None
    """Newest recorded range of commits that introduced the cause, preferably a certain one."""
    failed: frozenset[str] = frozenset()
    """The tests that have failed since the fix."""
    fixed_after: str | None = None
    """Commit of the fix's first pass, or else of the last failure before the fix; the cause returned after it."""
    comes_and_goes: bool = False
    """Whether a test both failed with the cause and passed with the same sources and seed."""
    passes_needed: dict[str, int] = field(default_factory=dict)
    """Number of passes with other seeds, by test, required to show that the cause was absent before the failure."""
    passes_to_hold: dict[str, int] = field(default_factory=dict)
    """Number of passes, by test, that made the fix hold; as many before the return prove that the cause was absent."""
    since: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Maps a test to two numbers of runs since the first failure: failures with the cause, and all runs."""


class Passing(Struct, frozen=True, kw_only=True):
    """A test that passed in the current run, or a runner or module with a passing test."""

    nodeid: str
    seed: str | None = None
    other_seeds: tuple[str, ...] = ()
    """Further seeds of passes of the test in the same run."""
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    whole: bool = True
    """Whether no test in the runner or module failed; always True for a single test."""
    modules: frozenset[str] = frozenset()
    """Modules of the cocotb tests that passed; empty if one of them is unknown."""


class StillFailing(Struct, frozen=True, kw_only=True):
    """A passing test whose earlier failure with a cause is not proven fixed yet."""

    nodeid: str
    fingerprint: str
    seed: str | None
    """Seed of the pass if the test has failed with this seed since its last fix, else the seed of the last failure.

    None if the failure does not depend on a seed, or if the seed is not recorded.
    """
    vcs: Vcs
    """State of the repository in the last failing run at a known commit."""
    seed_vcs: Vcs
    """State of the repository in the last run that failed with `seed`."""
    by: Passing
    """The pass in the current run."""
    simulators: str = ""
    """Simulators, with versions, of the run described by `seed_vcs`."""
    same_config: bool = True
    """Whether the failure had the build configuration of the pass."""
    config_known: bool = True
    """Whether the build configurations of failure and pass are both recorded."""
    deterministic: bool = False
    """Whether the failure is independent of the seed."""
    seed_unknown: bool = False
    """Whether failures of the test had seeds, but none is recorded."""
    one_of_several: bool = False
    """Whether the failure is a failed build in a folder with several designs, and not all of them were built since."""
    proof: int = 0
    """Rank of the strongest pass since the failure, from `records.fixes.proof`; 0 without a pass."""
    evidence: str = ""
    """First cause and excerpt of the cause's newest occurrence with this test."""
    reads: tuple[str, ...] = ()
    """Files that the failing simulation read."""
    command: Command | None = None
    """The command of the last failure on the simulator of the pass; None if it is not on record."""
    fixed: Fix | None = None
    """The first recorded fix after the failure, from passes of other tests or seeds, or stated; None without one."""
