"""A run, and the record that the archive keeps of it."""

from __future__ import annotations

from typing import Any, Literal, Self

from msgspec import Struct, field

# msgspec reads the annotations when it converts JSON to records.
from pytest_dvwiki.model.failure import (  # noqa: TC001
    Attempt,
    Command,
    Failure,
    LogReference,
    Origin,
    Outcome,
    Phase,
    Place,
    Result,
)
from pytest_dvwiki.version import FINGERPRINT_VERSION, TOOL

News = Literal["NEW", "REGRESSED", "KNOWN"]
Change = Literal["commit", "uncommitted", "unrecorded", "seed", "nothing", "older", "branch", "configuration"]
"""The difference between a test's failure and its later pass.

These count as a fix: `commit` (other sources at another commit), `uncommitted` (other sources in the working tree),
`unrecorded` (one of the two runs has no commit on record). These do not: `seed` (only the seed), `nothing` (no known
difference), `older` (sources from before the failure), `branch` (a branch that never had the failing commit),
`configuration` (the build configuration of one of the two runs is not on record).
"""

WRITTEN = "written"
"""`SourceRow.kind` of a file that the run itself wrote; the run was read from all other files."""


class CoverBin(Struct, frozen=True, kw_only=True):
    """One bin of functional coverage, and how often it was hit."""

    covergroup: str
    """Path of the coverage point or cross that the bin belongs to: `fifo.level`."""
    bin: str
    hits: int
    goal: int = 1
    """Number of hits at which the bin counts as covered."""
    weight: int = 1
    """Weight of the coverage point that the bin belongs to."""

    @property
    def filled(self) -> bool:
        """Tell whether the bin is covered."""
        return self.hits >= self.goal


MOST_READ = 200
"""Maximum number of files in `Occurrence.reads`; a list of this length may be incomplete."""


class FailedTest(Struct, frozen=True, kw_only=True):
    """A failing test in an occurrence."""

    nodeid: str
    phase: Phase = "call"
    outcome: Literal["failed", "error"] = "failed"
    attempts: int = 1
    seed: str | None = None
    seed_unknown: bool = False
    """Whether the stimulus has a seed that is not on record. If False and `seed` is None, no seed matters."""
    sim_time: str | None = None
    simulator: str | None = None
    duration_s: float = 0.0
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""


class Occurrence(Struct, frozen=True, kw_only=True):
    """One cause in one run, with every test that failed because of it."""

    fingerprint: str
    error_class: str
    failure_subtype: str
    pattern: str | None
    origin: Origin
    primary: str
    tests: tuple[FailedTest, ...]
    excerpt: str = ""
    log: LogReference | None = None
    reproduce: str = ""
    """Command that reruns the failing test, as text; only in a record of schema 1."""
    ip_type: str | None = None
    fingerprint_v1: str | None = None
    """The cause's fingerprint of version 1, by which older records and pages name it."""
    command: Command | None = None
    unreproducible: str = ""
    """Why no command can reproduce the failure."""
    quickest: Command | None = None
    """Command of the failing test that took the least time; None if `command` runs that test."""
    reads: tuple[str, ...] = ()
    """HDL and Python files that the failing simulation read, relative to the repository's top; empty if unknown."""
    place: Place | None = None
    """The statement that reported the cause; None if unknown."""
    unseeded: str | None = None
    """File that draws random stimulus without using the seed, so that a rerun with the same seed may differ."""
    title: str | None = None
    """Title that a reporter gave the cause."""
    spec_section: str | None = None
    """Section of the specification that the cause violates, as reported."""
    owner: str | None = None
    """Who works on the cause, as reported."""


class Vcs(Struct, frozen=True, kw_only=True):
    """The state of the repository during a run."""

    commit: str | None = None
    branch: str | None = None
    dirty: bool = False
    changes: str | None = None
    """Hash of the uncommitted changes as 12 hex digits; None if they could not be read."""
    edited: tuple[str, ...] = ()
    """All files with uncommitted changes, relative to the repository's top; empty if unknown or too many."""


class RunId(Struct, frozen=True, kw_only=True):
    """Ids that tell apart runs with the same files; the commit is in `Vcs`."""

    given: str | None = None
    """Id that the caller of `dvwiki ingest` gave the run with `--run-id`."""
    ci: str | None = None
    """Number that a CI system gave the run: `github 9041 17`."""
    job: str | None = None
    """Id of the LSF or Slurm job: `slurm 8812`."""
    host: str | None = None
    """The machine, if the setting `record_host` puts it on record."""


class Simulator(Struct, frozen=True, kw_only=True):
    """A simulator that took part in a run."""

    name: str
    version: str | None = None


class Suite(Struct, frozen=True, kw_only=True):
    """The tests that ran on one simulator in one build configuration."""

    suite: str
    """Id of the list of tests, which is the file `tasks/suites/{suite}.txt`."""
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    seed: str | None = None
    """The seed of all tests in the list; None if they have no seed, or several."""
    seeds: str | None = None
    """Three digits of a hash of each test's seeds, in the order of the list; None unless the tests differ in seeds."""


class Axes(Struct, frozen=True, kw_only=True):
    """Versions of Python and cocotb, and the operating system: with the simulators, the axes of a matrix of runs."""

    python: str | None = None
    cocotb: str | None = None
    os: str | None = None


class Totals(Struct, frozen=True, kw_only=True):
    """Numbers of tests by outcome in a run, counting the tests inside a runner one by one."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    xfailed: int = 0
    flaky: int = 0
    waived: int = 0
    infrastructure: int = 0
    """How many of `failed` and `errors` are due to infrastructure alone: a licence, a limit, a host, a file system."""
    noise_errors: int = 0


class PassedAgain(Struct, frozen=True, kw_only=True):
    """A test's first pass after it failed with a cause, or a later pass that proves more than all before it."""

    nodeid: str
    fingerprint: str
    seed: str | None = None
    changed: Change = "unrecorded"
    failed_seed: str | None = None
    """Seed of the failure; None if there is no seed, no seed can change the failure, or the seed is not on record."""
    seed_unknown: bool = False
    """Whether the test failed with a seed that is not on record."""
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    new_stimulus: bool = False
    """Whether the stimulus may differ even with the same seed, because what draws it changed since the failure."""


FOR_ALL = "global"
"""Name of the mode in which a project accepts every failure, and the id of the waiver that this mode implies."""


class Waived(Struct, frozen=True, kw_only=True):
    """Failures of one cause that people accept."""

    id: str
    """Id of the waiver."""
    fingerprint: str
    tests: tuple[str, ...]
    reason: str
    owner: str = ""
    expires: str | None = None
    """The last day on which the waiver holds; None if it does not expire."""


GateMode = Literal["unwaived", "new"]
GateReason = Literal["waived", "wont_fix", "known", "new", "regressed", "unnamed"]
"""Why the gate lets failures through or stops them: a waiver covers them, or the state of their cause decides.

`unnamed` is a failure of error class `unknown` whose own fingerprint is not on record.
"""


class Gated(Struct, frozen=True, kw_only=True):
    """The gate's decision on failures of one cause."""

    fingerprint: str
    tests: tuple[str, ...]
    reason: GateReason
    passes: bool
    """Whether the gate lets these failures through."""


class Gate(Struct, frozen=True, kw_only=True):
    """The gate's decision on a run, made before the run is on record."""

    mode: GateMode
    base: str | None = None
    """The commit whose waivers, patterns, pages and records the gate read; None if it read the working tree."""
    refused: str = ""
    """Why the gate leaves the exit status alone, whatever the failures are; empty if it may act."""
    failures: tuple[Gated, ...] = ()

    @property
    def is_open(self) -> bool:
        """Tell whether the gate lets every failure through."""
        return not self.refused and all(each.passes for each in self.failures)


PassSeed = Literal["same", "other", "unknown"]
"""Whether a test passed with the seed of its failure; also `same` if the pass is proof enough without that seed."""


class ListedCommits:
    """The commits of a range; commits that change no code the failing simulation is known to have read come last."""

    __slots__ = ()
    log: tuple[str, ...]
    log_count: int
    unread_count: int

    @property
    def likely(self) -> tuple[str, ...]:
        """Return the commits in `log` that may matter to the failing simulation."""
        return self.log[: self.likely_count]

    @property
    def likely_count(self) -> int:
        """Return the number of commits in the range that may matter to the failing simulation."""
        return self.log_count - self.unread_count


class FirstBad(Struct, ListedCommits, frozen=True, kw_only=True):
    """The range of commits that introduced a cause: after a run that passed, up to the first run that failed."""

    fingerprint: str
    nodeid: str
    """The test that passed and failed."""
    good: str
    """Commit of the pass; if that commit changed no sources, the last one before it that did."""
    bad: str
    """Commit of the failure, or the last one before it that changed sources; `good` if no commit lies between."""
    dirty: bool = False
    """Whether the failing run had uncommitted changes; if so, no commit is said to have introduced the cause."""
    passed_with: PassSeed = "same"
    """Whether the pass had the failing seed; if not `same`, the cause may be older, and no commit is named."""
    log: tuple[str, ...] = ()
    """The commits of the range, as `git log --oneline` shows them; only some if there are many."""
    log_count: int = 0
    """Number of all commits in the range."""
    unread_count: int = 0
    """Number of commits that touch no code the failing simulation is known to have read; `log` lists them last."""
    files: tuple[str, ...] = ()
    """Files that differ between `good` and `bad`; only some if there are many."""
    file_count: int = 0
    owners: tuple[str, ...] = ()
    """Owners of the files that differ, from CODEOWNERS."""
    passed_after: tuple[str, ...] = ()
    """Tests with this cause that still passed, with the seed that fails, after the range: a later change broke them."""

    @property
    def is_certain(self) -> bool:
        """Tell whether it is certain that one of the commits introduced the cause."""
        return self.passed_with == "same" and not self.dirty

    @property
    def only_commit(self) -> str:
        """Return the commit that introduced the cause, as in `log`; empty if it may be one of several."""
        return self.log[0] if self.is_certain and self.log_count == len(self.log) == 1 else ""


class SinceFix(Struct, frozen=True, kw_only=True):
    """What changed and what passed since a fix, as seen by a run in which the fixed check fails again."""

    fingerprint: str
    since: str
    """Task id of the first run without uncommitted changes that passed with the fix."""
    files: tuple[str, ...] = ()
    """Files that differ between the run `since` and this run; only some if there are many."""
    file_count: int = 0
    passed: tuple[str, ...] = ()
    """Tests that had failed before the fix and pass in this run."""
    in_place: bool | None = None
    """Whether the sources of this run have the changes of the fix; False if they were undone, None if unknown."""
    same_stimulus: bool = False
    """Whether none of the changed files can change the stimulus that a seed draws; False if that is unknown."""


class OtherTest(Struct, frozen=True, kw_only=True):
    """A test with an outcome other than passed, failed or error."""

    nodeid: str
    outcome: Outcome
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    attempts: tuple[Attempt, ...] = ()
    """Attempts of a flaky test: the failed ones in order, then the one that passed."""

    @property
    def is_flaky(self) -> bool:
        """Tell whether the test is flaky: before it passed, it failed for a reason other than infrastructure."""
        return self.outcome == "flaky" and not is_by_infrastructure(self.attempts)


def is_by_infrastructure(attempts: tuple[Attempt, ...]) -> bool:
    """Tell whether infrastructure made every failed attempt fail."""
    failed = [each for each in attempts if each.outcome != "passed"]
    return bool(failed) and all(each.infrastructure for each in failed)


class SourceRow(Struct, frozen=True, kw_only=True):
    """A row of `sources` in a record: a file that the run wrote, or from which it was read."""

    path: str = ""
    sha256: str = ""
    kind: str | None = None
    """`WRITTEN` for a file that the run itself wrote."""


class FixRow(Struct, frozen=True, kw_only=True):
    """A row of `fixes` in a record: a statement by git, an agent or a person; a field is None if its key is missing."""

    fingerprint: str | None = None
    """The cause; None for a statement about a whole failure subtype."""
    failure_subtype: str | None = None
    text: str | None = None
    by: str | None = None
    commits: tuple[str, ...] | None = None
    result: str | None = None
    log: tuple[str, ...] | None = None
    log_count: int | None = None
    unread_count: int | None = None
    files: tuple[str, ...] | None = None
    file_count: int | None = None
    restored: tuple[str, ...] | None = None
    """Those of `files` that the fix restored to their state before the cause came in."""
    note: str | None = None
    owners: tuple[str, ...] | None = None
    authors: tuple[str, ...] | None = None
    takes_back: str | None = None
    """Task id of the run whose statement about the cause is withdrawn."""


MOST_OF_A_POINT = 32
"""Maximum number of holes of one coverage point that get a row each; if there are more, they share one row."""
ALL_BINS = "all bins"
"""The name of the row that stands for all bins of a coverage point, some of which may be covered."""
MANY_BINS = f"more than {MOST_OF_A_POINT} bins"
"""What pages and lists print for the row `ALL_BINS`."""


class BinRow(Struct, frozen=True, kw_only=True):
    """A row of `coverage` in a record: the state of one bin of a covergroup; a field is None if its key is missing."""

    covergroup: str = ""
    bin: str = ""
    action_class: str | None = None
    feature: str | None = None
    priority: int | None = None
    scenario: str | None = None
    filled: bool = False
    hits: int | None = None
    goal: int | None = None

    @property
    def shown(self) -> str:
        """Return the name of the bin; for the row of a whole point, how many of its bins are covered."""
        return f"{self.hits} of {self.goal} bins covered" if self.bin == ALL_BINS else self.bin


class RunRecord(Struct, frozen=True, kw_only=True):
    """One archived run: immutable, and the only source of every count."""

    task_id: str
    tool: str
    registry: str
    fingerprint_version: int
    started: str
    finished: str
    duration_s: float
    vcs: Vcs = field(default_factory=Vcs)
    simulators: tuple[Simulator, ...] = ()
    sources: tuple[SourceRow, ...] = ()
    run_id: RunId = field(default_factory=RunId)
    """Identity of a run that was read from artefacts."""
    suite: str | None = None
    """Id of the list of all tests that ran; only in a record of schema 1."""
    suites: tuple[Suite, ...] = ()
    """Lists of the tests that ran, each with its simulator and build configuration."""
    axes: Axes = field(default_factory=Axes)
    totals: Totals = field(default_factory=Totals)
    occurrences: tuple[Occurrence, ...] = ()
    other: tuple[OtherTest, ...] = ()
    waived: tuple[Waived, ...] = ()
    passed_again: tuple[PassedAgain, ...] = ()
    fixes: tuple[FixRow, ...] = ()
    without_fix: tuple[str, ...] = ()
    """Causes of this run whose newest fix is missing from the run's commit; such a cause has not returned."""
    regressed: tuple[str, ...] = ()
    """Causes of this run that returned: their page was closed, or their newest fix had held."""
    first_bad: tuple[FirstBad, ...] = ()
    since_fix: tuple[SinceFix, ...] = ()
    """Evidence about checks that were fixed and fail again, which shows whether their cause is the same."""
    coverage: tuple[BinRow, ...] = ()
    evidence: tuple[str, ...] = ()
    gate: Gate | None = None
    """What `--dvwiki-gate` decided; None without that option."""
    caller_task: str | None = None
    schema: int = 2

    @classmethod
    def stated(cls, task_id: str, moment: str, **parts: Any) -> Self:
        """Return a record that belongs to no run: the statement of a person, a report or another wiki.

        Args:
            task_id: The name of the record.
            moment: The time of the statement.
            parts: The statement, as fields of the record.
        """
        return cls(
            task_id=task_id,
            tool=TOOL,
            registry="",
            fingerprint_version=FINGERPRINT_VERSION,
            started=moment,
            finished=moment,
            duration_s=0.0,
            **parts,
        )


class Run(Struct, frozen=True, kw_only=True):
    """The data of a run that a session, an ingest or a takeover passes to the pipeline."""

    task_id: str
    started: str
    finished: str
    failures: tuple[Failure, ...] = ()
    results: tuple[Result, ...] = ()
    """Results of all tests that ended, including those that failed."""
    collected: tuple[str, ...] = ()
    """Modules that were collected without an error."""
    simulators: tuple[Simulator, ...] = ()
    axes: Axes = field(default_factory=Axes)
    sources: tuple[SourceRow, ...] = ()
    run_id: RunId = field(default_factory=RunId)
    keep_suite: bool = False
    """Whether the list of tests is kept, as in CI or if a task name was given."""
    always_record: bool = False
    """Whether a record is written even if nothing failed."""
    vcs: Vcs | None = None
    """State of the repository during the run; None if that is the current state."""
    coverage: tuple[CoverBin, ...] = ()
    """The bins of all coverage reports of the run, merged: each bin once."""
    whole: bool = True
    """Whether all tests ran; if not, an uncovered bin proves nothing."""
    part: bool = False
    """True if this run is one of several, or if it ran only some of the tests; unused waivers then prove nothing."""
    gate_refused: str | None = None
    """Why the session allows no gate; empty if it allows one, None for a run without a gate."""
