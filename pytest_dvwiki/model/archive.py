"""A run, and its record in the archive."""

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

Evidence of a fix: `commit` (other sources, committed), `uncommitted` (other sources in the working tree), `unrecorded`
(one of the runs has no recorded commit). No evidence: `seed` (only the seed differs), `nothing` (no known difference),
`older` (sources older than the failing ones), `branch` (a branch that never had the failing commit), `configuration`
(the build configuration of one of the runs is not recorded).
"""

WRITTEN = "written"
"""`SourceRow.kind` of a file that the run itself wrote. All other rows are files from which the run was ingested."""


class CoverBin(Struct, frozen=True, kw_only=True):
    """One functional coverage bin with its number of hits."""

    covergroup: str
    """Path of the bin's coverage point or cross: `fifo.level`."""
    bin: str
    hits: int
    goal: int = 1
    """Number of hits required to cover the bin."""
    weight: int = 1
    """Weight of the bin's coverage point."""

    @property
    def filled(self) -> bool:
        """Return whether the bin has as many hits as its goal."""
        return self.hits >= self.goal


MOST_READ = 200
"""Maximum number of files in `Occurrence.reads`; a list of this length may be incomplete."""


class FailedTest(Struct, frozen=True, kw_only=True, gc=False):
    """A failing test in an occurrence."""

    nodeid: str
    phase: Phase = "call"
    outcome: Literal["failed", "error"] = "failed"
    attempts: int = 1
    seed: str | None = None
    seed_unknown: bool = False
    """Whether the stimulus depends on an unrecorded seed. If False and `seed` is None, the stimulus needs no seed."""
    sim_time: str | None = None
    simulator: str | None = None
    duration_s: float = 0.0
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    directed: bool = False
    """Whether the simulation is known to use no random numbers that depend on the seed."""

    @property
    def stimulus_seed(self) -> str | None:
        """Return the seed that determines the stimulus; None if the seed is unknown or does not affect the stimulus."""
        return None if self.directed else self.seed


class Occurrence(Struct, frozen=True, kw_only=True, gc=False):
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
    """Fingerprint of the cause in version 1, as used by older records and pages."""
    command: Command | None = None
    unreproducible: str = ""
    """Why no command can reproduce the failure."""
    quickest: Command | None = None
    """Command that reruns the fastest failing test; None if `command` does that."""
    reads: tuple[str, ...] = ()
    """HDL and Python files that the failing simulation read, relative to the repository's top; empty if unknown."""
    place: Place | None = None
    """The source statement that reported the cause; None if unknown."""
    unseeded: str | None = None
    """File that draws random stimulus without the seed; a rerun with the same seed may therefore differ."""
    title: str | None = None
    """Title of the cause, as reported."""
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
    edited_lines: tuple[str, ...] = ()
    """Short hashes of the lines of code that the uncommitted changes add or, if they add none, remove.

    Empty if unknown or too many.
    """
    source_commit: str | None = None
    """The last commit that changed sources; None if that is `commit`, which may also just archive a run."""


class RunId(Struct, frozen=True, kw_only=True):
    """Ids that distinguish runs with the same files; the commit is in `Vcs`."""

    given: str | None = None
    """Value of the option `--run-id` of `dvwiki ingest`."""
    ci: str | None = None
    """Run number in a CI system: `github 9041 17`."""
    job: str | None = None
    """Id of the LSF or Slurm job: `slurm 8812`."""
    host: str | None = None
    """Host name, if the setting `record_host` is on."""


class Simulator(Struct, frozen=True, kw_only=True):
    """A simulator that took part in a run."""

    name: str
    version: str | None = None


class Suite(Struct, frozen=True, kw_only=True):
    """The tests that ran on one simulator in one build configuration."""

    suite: str
    """Id of the list of tests, stored in `tasks/suites/{suite}.txt`."""
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    seed: str | None = None
    """Seed of all tests in the list; None if they have no seed or different ones."""
    seeds: str | None = None
    """Three hash digits for the seeds of each test, in the order of the list; None unless the tests' seeds differ."""


class Axes(Struct, frozen=True, kw_only=True):
    """The Python and cocotb versions and the operating system: with the simulators, the axes of a matrix of runs."""

    python: str | None = None
    cocotb: str | None = None
    os: str | None = None


class Totals(Struct, frozen=True, kw_only=True):
    """Number of tests by outcome in a run. Tests inside a runner are counted individually."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    xfailed: int = 0
    flaky: int = 0
    waived: int = 0
    infrastructure: int = 0
    """How many of `failed` and `errors` have only infrastructure causes: licence, limit, host or file system."""
    noise_errors: int = 0


class PassedAgain(Struct, frozen=True, kw_only=True):
    """A test's first pass after it failed with a cause, or a later pass that is stronger evidence."""

    nodeid: str
    fingerprint: str
    seed: str | None = None
    changed: Change = "unrecorded"
    failed_seed: str | None = None
    """Seed of the failure; None if the failure depends on no seed, or on one that is not recorded (`seed_unknown`)."""
    seed_unknown: bool = False
    """Whether the failure may depend on a seed that is not recorded."""
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    new_stimulus: bool = False
    """Whether the code that draws stimulus changed after the failure, so the same seed may give different stimulus."""


FOR_ALL = "global"
"""The mode in which a project accepts every failure, and the id of its implied waiver."""


class Waived(Struct, frozen=True, kw_only=True):
    """Failures of one cause that one waiver accepts."""

    id: str
    """Id of the waiver."""
    fingerprint: str
    tests: tuple[str, ...]
    reason: str
    owner: str = ""
    expires: str | None = None
    """Last day of the waiver; None if it does not expire."""


GateMode = Literal["unwaived", "new"]
GateReason = Literal["waived", "wont_fix", "known", "new", "regressed", "unnamed"]
"""Why the gate lets failures through or not: a waiver, or the state of their cause.

`unnamed` is a failure of error class `unknown` with a fingerprint that is not on record.
"""


class Gated(Struct, frozen=True, kw_only=True):
    """The gate's decision on failures of one cause."""

    fingerprint: str
    tests: tuple[str, ...]
    reason: GateReason
    passes: bool
    """Whether the gate lets these failures through."""


class Gate(Struct, frozen=True, kw_only=True):
    """The gate's decision on a run, made before the run is archived."""

    mode: GateMode
    base: str | None = None
    """The commit from which the gate read waivers, patterns, pages and records; None for the working tree."""
    refused: str = ""
    """Why the gate cannot change the exit status, no matter what failed; empty if it can."""
    failures: tuple[Gated, ...] = ()

    @property
    def is_open(self) -> bool:
        """Return whether the gate lets every failure through."""
        return not self.refused and all(each.passes for each in self.failures)


PassSeed = Literal["same", "other", "unknown"]
"""Whether a test passed with the seed of its failure; `same` also if enough passes with other seeds rule out chance."""


class ListedCommits:
    """The commits in a range. Those that change no file known to be read by the failing simulation come last."""

    __slots__ = ()
    log: tuple[str, ...]
    log_count: int
    unread_count: int

    @property
    def likely(self) -> tuple[str, ...]:
        """Return the commits in `log` that may affect the failing simulation."""
        return self.log[: self.likely_count]

    @property
    def likely_count(self) -> int:
        """Return the number of commits in the range that may affect the failing simulation."""
        return self.log_count - self.unread_count


class FirstBad(Struct, ListedCommits, frozen=True, kw_only=True):
    """The range of commits that introduced a cause: after a passing run, up to the first failing run."""

    fingerprint: str
    nodeid: str
    """The test that passed before and fails now."""
    good: str
    """The commit that passed; if it changed no sources, the last commit before it that did."""
    bad: str
    """The commit that failed; if it changed no sources, the last commit before it that did, which may be `good`."""
    dirty: bool = False
    """Whether the failing run had uncommitted changes. If so, no commit is reported to have introduced the cause."""
    passed_with: PassSeed = "same"
    """Whether the pass used the failing seed. If not `same`, the cause may be older, and no commit is reported."""
    log: tuple[str, ...] = ()
    """The commits in the range, as printed by `git log --oneline`; truncated if there are many."""
    log_count: int = 0
    """Total number of commits in the range."""
    unread_count: int = 0
    """Number of commits that change no file known to be read by the failing simulation; they come last in `log`."""
    files: tuple[str, ...] = ()
    """Files that differ between `good` and `bad`; truncated if there are many."""
    file_count: int = 0
    owners: tuple[str, ...] = ()
    """Owners of the differing files according to CODEOWNERS."""
    passed_after: tuple[str, ...] = ()
    """Tests with this cause that passed with the failing seed after the range, so a later change broke them."""
    maybe_newer: tuple[str, ...] = ()
    """Tests that passed after the range, maybe by chance, before they failed with this cause for the first time."""

    @property
    def is_certain(self) -> bool:
        """Return whether one of the commits certainly introduced the cause."""
        return self.passed_with == "same" and not self.dirty

    @property
    def only_commit(self) -> str:
        """Return the commit that introduced the cause, as in `log`, or an empty string if several may have."""
        return self.likely[0] if self.is_certain and self.likely_count == len(self.likely) == 1 else ""


class SinceFix(Struct, frozen=True, kw_only=True):
    """What changed and what passed since a fix, recorded by a run in which the fixed check fails again."""

    fingerprint: str
    """Fingerprint of the check."""
    cause: str = ""
    """Name of the cause that was fixed, as `fingerprint/task id`; empty if the check had only one."""
    since: str
    """Task id of the first run that passed with the fix, if possible one without uncommitted changes."""
    files: tuple[str, ...] = ()
    """Files that differ between the run `since` and this run; truncated if there are many."""
    file_count: int = 0
    passed: tuple[str, ...] = ()
    """Tests that failed before the fix and pass in this run."""
    in_place: bool | None = None
    """Whether this run's sources contain the changes of the fix; False if they were undone, None if unknown."""
    same_stimulus: bool = False
    """Whether the changed files certainly leave the stimulus of a seed unchanged; False if unknown."""


class Undone(Struct, frozen=True, kw_only=True):
    """A cause that cannot explain why its check fails in a run.

    The changes that introduced the cause are undone, or the simulation reads none of the changed files, or all failing
    tests had passed with these changes.
    """

    fingerprint: str
    """Fingerprint of the check."""
    task_id: str
    """Task id of a run in which the check failed with the cause."""


class NoiseRow(Struct, frozen=True, kw_only=True):
    """An error message that a test prints although it passes."""

    text: str
    """The message, with its values masked."""
    test: str = ""
    """Name of the test without its file and parameters; empty if many tests print the message."""


class OtherTest(Struct, frozen=True, kw_only=True):
    """A test with an outcome other than passed, failed or error."""

    nodeid: str
    outcome: Outcome
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    attempts: tuple[Attempt, ...] = ()
    """Attempts of a flaky test: the failed ones in order, followed by the passing one."""

    @property
    def is_flaky(self) -> bool:
        """Return whether the test is flaky: it passed after it had failed for a reason other than infrastructure."""
        return self.outcome == "flaky" and not is_by_infrastructure(self.attempts)


def is_by_infrastructure(attempts: tuple[Attempt, ...]) -> bool:
    """Return whether infrastructure caused every failed attempt; False if no attempt failed."""
    failed = [each for each in attempts if each.outcome != "passed"]
    return bool(failed) and all(each.infrastructure for each in failed)


class SourceRow(Struct, frozen=True, kw_only=True):
    """A row of `sources` in a record: a file that the run was read from, or that the run wrote."""

    path: str = ""
    sha256: str = ""
    kind: str | None = None
    """`WRITTEN` for a file written by the run itself."""


class FixRow(Struct, frozen=True, kw_only=True):
    """A row of `fixes` in a record: a statement by git, an agent or a person. Fields that are not recorded are None."""

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
    """The subset of `files` that the fix restored to their state before the cause appeared."""
    note: str | None = None
    owners: tuple[str, ...] | None = None
    authors: tuple[str, ...] | None = None
    takes_back: str | None = None
    """Task id of the run whose statement this row withdraws."""


MOST_OF_A_POINT = 32
"""Maximum number of holes of one coverage point with separate rows; if there are more, they share one row."""
ALL_BINS = "all bins"
"""Name of the row for a whole coverage point, which may include covered bins."""
MANY_BINS = f"more than {MOST_OF_A_POINT} bins"
"""Text shown for the row `ALL_BINS`."""


class BinRow(Struct, frozen=True, kw_only=True):
    """A row of `coverage` in a record: the state of one bin of a covergroup. Fields that are not recorded are None."""

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
        """Return the name of the bin or, for the row of a whole point, the number of covered bins."""
        return f"{self.hits} of {self.goal} bins covered" if self.bin == ALL_BINS else self.bin


class RunRecord(Struct, frozen=True, kw_only=True):
    """One archived run: immutable, and the only source of all counts."""

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
    """Ids that distinguish the run from other runs with the same files."""
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
    """Causes of this run whose newest fix is missing from the run's commit. They are not regressed."""
    regressed: tuple[str, ...] = ()
    """Regressed causes of this run: their page was closed, or their newest fix had held."""
    first_bad: tuple[FirstBad, ...] = ()
    since_fix: tuple[SinceFix, ...] = ()
    """Evidence about checks that were fixed and fail again, used to decide whether the cause is the same."""
    undone: tuple[Undone, ...] = ()
    """Earlier causes of this run's failing checks that cannot explain the failures."""
    noise: tuple[NoiseRow, ...] = ()
    """Error messages of passing tests that no earlier record has."""
    coverage: tuple[BinRow, ...] = ()
    evidence: tuple[str, ...] = ()
    gate: Gate | None = None
    """Decision of `--dvwiki-gate`; None without that option."""
    caller_task: str | None = None
    schema: int = 2

    @classmethod
    def stated(cls, task_id: str, moment: str, **parts: Any) -> Self:
        """Return a record without a run: a statement of a person, a report or another wiki.

        Args:
            task_id: The name of the record.
            moment: The time of the statement.
            parts: Fields of the record that make up the statement.
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
    """The data of a run, as passed to the pipeline by a session, an ingest or a takeover."""

    task_id: str
    started: str
    finished: str
    failures: tuple[Failure, ...] = ()
    results: tuple[Result, ...] = ()
    """Results of all finished tests, including failed ones."""
    collected: tuple[str, ...] = ()
    """Modules collected without an error."""
    simulators: tuple[Simulator, ...] = ()
    axes: Axes = field(default_factory=Axes)
    sources: tuple[SourceRow, ...] = ()
    run_id: RunId = field(default_factory=RunId)
    keep_suite: bool = False
    """Whether to keep the list of tests, as in CI or for a run with a task name."""
    always_record: bool = False
    """Whether to write a record even if nothing failed."""
    vcs: Vcs | None = None
    """State of the repository during the run; None for the current state."""
    coverage: tuple[CoverBin, ...] = ()
    """Bins from all coverage reports of the run, merged by name."""
    whole: bool = True
    """Whether all tests ran. If not, uncovered bins prove nothing."""
    part: bool = False
    """Whether this run is one of several, or ran only some tests. If so, unused waivers prove nothing."""
    gate_refused: str | None = None
    """Why the session cannot use the gate; empty if it can, None for a run without a gate."""
