"""What is archived of a run, what the archive knows, and what is shown of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

# msgspec reads the annotations as it turns JSON into records.
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

News = Literal["NEW", "REGRESSED", "KNOWN"]
Change = Literal["commit", "uncommitted", "unrecorded", "seed", "nothing", "older", "branch", "configuration"]
"""What differs between the failure of a test and its pass.

These make a fix: `commit` (other sources at another commit), `uncommitted` (other sources in the working tree),
`unrecorded` (one of the two runs has no commit on record). These do not: `seed` (the seed alone), `nothing` (nothing
that is known), `older` (the sources of before the failure), `branch` (a branch that never had the failing commit),
`configuration` (the build configuration of one of the two runs is not on record).
"""

WRITTEN = "written"
"""The `kind` of a source that a run wrote while it archived itself; from any other one the record was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverBin:
    """How often one bin of functional coverage was hit."""

    covergroup: str
    """The coverage point or cross that it is of, with its path: `fifo.level`."""
    bin: str
    hits: int
    goal: int = 1
    """From how many hits on it is covered."""
    weight: int = 1
    """Of its coverage point."""

    @property
    def filled(self) -> bool:
        """Whether it is covered."""
        return self.hits >= self.goal


@dataclass(frozen=True, kw_only=True)
class FailedTest:
    """A failing test in an occurrence."""

    nodeid: str
    phase: Phase = "call"
    outcome: Literal["failed", "error"] = "failed"
    attempts: int = 1
    seed: str | None = None
    seed_unknown: bool = False
    """Whether it failed with a seed that is not on record; else one without a seed depends on none."""
    sim_time: str | None = None
    simulator: str | None = None
    duration_s: float = 0.0
    config: str | None = None
    """12 hex of the build configuration; None where it is unknown."""


@dataclass(frozen=True, kw_only=True)
class Occurrence:
    """One cause in one run, with every test that failed by it."""

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
    """The command as text, of a record of schema 1."""
    ip_type: str | None = None
    fingerprint_v1: str | None = None
    """The fingerprint of version 1, by which older records and pages name the cause."""
    command: Command | None = None
    unreproducible: str = ""
    """Why no command can reproduce the failure."""
    reads: tuple[str, ...] = ()
    """HDL and Python files that the failing simulation read, relative to the repository's top; none where unknown."""
    place: Place | None = None
    """The statement that reported the cause, where that is known."""


@dataclass(frozen=True, kw_only=True)
class Vcs:
    """The state of the repository during a run."""

    commit: str | None = None
    branch: str | None = None
    dirty: bool = False
    changes: str | None = None
    """12 hex that stand for the uncommitted changes: the same for the same ones; None where they could not be read."""
    edited: tuple[str, ...] = ()
    """All files with uncommitted changes, relative to the repository's top; none where unknown, or where many have."""


@dataclass(frozen=True, kw_only=True)
class RunId:
    """By what a run is known whose artefacts do not tell; the commit stands in `Vcs`."""

    given: str | None = None
    """What the caller of `dvwiki ingest` called it, by `--run-id`."""
    ci: str | None = None
    """The number that a CI system gave it: `github 9041 17`."""
    job: str | None = None
    """The id of a job of LSF or Slurm: `slurm 8812`."""


@dataclass(frozen=True, kw_only=True)
class Simulator:
    """A simulator that took part in a run."""

    name: str
    version: str | None = None


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The tests that ran on one simulator in one build configuration."""

    suite: str
    """Id of their list, `tasks/suites/{suite}.txt`."""
    simulator: str | None = None
    config: str | None = None
    """12 hex of the build configuration; None where it is unknown."""
    seed: str | None = None
    """The seed with which all of them ran; None where they have none, or several."""


@dataclass(frozen=True, kw_only=True)
class Axes:
    """What a run has for each axis of a matrix, beside its simulators."""

    python: str | None = None
    cocotb: str | None = None
    os: str | None = None


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Numbers of tests of a run, after expansion of runners."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    xfailed: int = 0
    flaky: int = 0
    waived: int = 0
    noise_errors: int = 0


@dataclass(frozen=True, kw_only=True)
class PassedAgain:
    """A test that passed after it failed with a cause, for the first time, or for the first time with such proof."""

    nodeid: str
    fingerprint: str
    seed: str | None = None
    changed: Change = "unrecorded"
    failed_seed: str | None = None
    """The seed of the failure; None where it has none, no seed can change it, or it is not on record."""
    seed_unknown: bool = False
    """Whether it failed with a seed that is not on record."""
    simulator: str | None = None
    config: str | None = None
    """12 hex of the build configuration; None where it is unknown."""
    new_stimulus: bool = False
    """Whether what draws the stimulus changed too, so that the same seed is no longer the same run."""


FOR_ALL = "global"
"""Stands for the id of a waiver where the project's mode accepts every failure."""


@dataclass(frozen=True, kw_only=True)
class Waived:
    """Failures of one cause that people accept."""

    id: str
    """Of the waiver."""
    fingerprint: str
    tests: tuple[str, ...]
    reason: str
    owner: str = ""
    expires: str | None = None
    """The last day on which it holds; None where it has none."""


PassSeed = Literal["same", "other", "unknown"]
"""Whether a pass had the seed of a failure; where the pass proves enough without it, it counts as the same."""


class Pass(NamedTuple):
    """A run at a commit, without uncommitted changes, that passed a test."""

    moment: str
    task_id: str
    commit: str
    seed: str | None
    """None where the test has none, or the record does not tell."""


@dataclass(frozen=True, kw_only=True)
class FirstBad:
    """The commits with one of which a cause came: after a run that passed, up to the first one that failed."""

    fingerprint: str
    nodeid: str
    """The test that passed and failed."""
    good: str
    """The commit of the pass, or before it the newest one that changed sources."""
    bad: str
    """That of the failure in the same way; the same one where it came with uncommitted changes."""
    dirty: bool = False
    """Whether the failing run had uncommitted changes: then no commit is named."""
    passed_with: PassSeed = "same"
    """Where it is not the same, the cause may have been there at the pass, and no commit is named."""
    log: tuple[str, ...] = ()
    """The commits, as `git log --oneline` shows them; not all of very many."""
    log_count: int = 0
    files: tuple[str, ...] = ()
    """Files that differ; not all of very many."""
    file_count: int = 0
    owners: tuple[str, ...] = ()
    """Who answers for them."""

    @property
    def is_certain(self) -> bool:
        """Whether the cause came with one of the commits."""
        return self.passed_with == "same" and not self.dirty

    @property
    def only_commit(self) -> str:
        """Return the commit with which the cause came, as `log` has it; empty where it may be one of several."""
        return self.log[0] if self.is_certain and self.log_count == len(self.log) == 1 else ""


@dataclass(frozen=True, kw_only=True)
class SinceFix:
    """What a run tells of the time since a fix of a check that fails in it again."""

    fingerprint: str
    since: str
    """Task id of the run at which the fix stood."""
    files: tuple[str, ...] = ()
    """Files that differ from that run; not all of very many."""
    file_count: int = 0
    passed: tuple[str, ...] = ()
    """Tests that had failed before the fix and pass in this run."""


@dataclass(frozen=True, kw_only=True)
class OtherTest:
    """A test that neither simply passed nor simply failed."""

    nodeid: str
    outcome: Outcome
    simulator: str | None = None
    config: str | None = None
    """12 hex of the build configuration; None where it is unknown."""
    attempts: tuple[Attempt, ...] = ()
    """Of a flaky test those that failed, in order, and the one that passed."""


@dataclass(frozen=True, kw_only=True)
class RunRecord:
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
    sources: tuple[dict[str, str], ...] = ()
    run_id: RunId = field(default_factory=RunId)
    """Of a run that was read from artefacts."""
    suite: str | None = None
    """The list of all tests that ran, of a record of schema 1."""
    suites: tuple[Suite, ...] = ()
    """The lists of the tests that ran, each with its simulator and build configuration."""
    axes: Axes = field(default_factory=Axes)
    totals: Totals = field(default_factory=Totals)
    occurrences: tuple[Occurrence, ...] = ()
    other: tuple[OtherTest, ...] = ()
    waived: tuple[Waived, ...] = ()
    passed_again: tuple[PassedAgain, ...] = ()
    fixes: tuple[dict[str, Any], ...] = ()
    without_fix: tuple[str, ...] = ()
    """Causes of this run whose newest fix its commit does not have: there they have not returned."""
    regressed: tuple[str, ...] = ()
    """Causes of this run that came back: their page was closed, or their newest fix had held."""
    first_bad: tuple[FirstBad, ...] = ()
    since_fix: tuple[SinceFix, ...] = ()
    """Of checks that were fixed and fail again: what tells whether their cause is the same."""
    coverage: tuple[dict[str, Any], ...] = ()
    evidence: tuple[str, ...] = ()
    caller_task: str | None = None
    schema: int = 2


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a session, an ingest or a takeover hands to the pipeline."""

    task_id: str
    started: str
    finished: str
    failures: tuple[Failure, ...] = ()
    results: tuple[Result, ...] = ()
    """Every test that ended, failed ones too."""
    collected: tuple[str, ...] = ()
    """Modules that were collected without an error."""
    simulators: tuple[Simulator, ...] = ()
    axes: Axes = field(default_factory=Axes)
    sources: tuple[dict[str, str], ...] = ()
    run_id: RunId = field(default_factory=RunId)
    keep_suite: bool = False
    """Whether the list of tests is kept (a task name was given, or in CI)."""
    always_record: bool = False
    """Whether a record is written even where nothing failed."""
    vcs: Vcs | None = None
    """The state of the repository during the run; None where it is that of now."""
    coverage: tuple[CoverBin, ...] = ()
    """What its coverage reports say together, each bin once."""
    whole: bool = True
    """Whether all tests ran: of a part of them, a bin that is not covered says nothing."""


@dataclass(frozen=True, kw_only=True)
class Fix:
    """A fix that is on record."""

    text: str
    result: Literal["open", "held", "failed"] = "open"
    commits: tuple[str, str] | None = None
    by: Literal["person", "agent", "git"] = "git"
    date: str = ""
    log: tuple[str, ...] = ()
    """Commits between the last failure and the first pass, as `git log --oneline` shows them; not all of very many."""
    log_count: int = 0
    """How many there are."""
    files: tuple[str, ...] = ()
    """Files that differ; not all of very many."""
    file_count: int = 0
    note: str = ""
    """What else differed between the failure and the pass: uncommitted changes of either."""
    owners: tuple[str, ...] = ()
    """Who answers for the files, by CODEOWNERS."""
    authors: tuple[str, ...] = ()
    """Who wrote the lines that it touched, as they were before."""
    counts: bool = True
    """Whether its passes are more than chance: one had the seed that failed, or they are many enough."""
    passes: int = 0
    """Runs that are known to have passed, the first one among them, at most as many as it takes to hold."""
    needed: int = 0
    """How many it takes."""
    held_in: str | None = None
    """Task id of the run that made it hold."""
    returned: str | None = None
    """The time at which the cause came back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingFix:
    """A fix of a cause that has not returned since."""

    cause: str
    fix: Fix
    since: str | None
    """Task id of the first run without uncommitted changes that passed with it."""
    commit: str | None
    """That of this run."""
    tests: tuple[tuple[str, str, str], ...]
    """Node id, simulator and configuration of the tests that had failed."""


@dataclass(frozen=True, slots=True)
class SourceRun:
    """A run that has an artefact on record."""

    task_id: str
    written: bool
    """Whether the run wrote it while it archived itself."""
    run_id: RunId
    commit: str | None


@dataclass(frozen=True, slots=True)
class KnownBin:
    """What the archive knows of a bin of coverage."""

    filled: bool
    """By the newest run that had news of it."""
    hits: int | None = None
    """In that run; None where it did not tell."""


@dataclass(frozen=True, kw_only=True)
class Onset:
    """Where a cause came in: since its last fix, or from the beginning."""

    moment: str | None = None
    """Sort key of the first run that failed; None where it has not come back since the fix."""
    commit: str | None = None
    """That of the first failing run at a commit, without uncommitted changes."""
    first_bad: FirstBad | None = None
    """The narrowest range of commits on record."""
    fixed_after: str | None = None
    """The commit at which that fix passed, else that of the last failure before it: what brought it back came later."""
    comes_and_goes: bool = False
    """Whether it failed and passed with the same sources and seed."""
    passes_needed: dict[str, int] = field(default_factory=dict)
    """By test how many passes with other seeds say that the cause was not there before them, where it fails now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """A test that passes now, or what such a test ran inside: a runner, a module."""

    nodeid: str
    seed: str | None = None
    simulator: str | None = None
    config: str | None = None
    """12 hex of the build configuration; None where it is unknown."""
    whole: bool = True
    """Whether nothing inside it failed."""


@dataclass(frozen=True, kw_only=True)
class StillFailing:
    """A test that failed with a cause, and whose passes since then leave something to prove."""

    nodeid: str
    fingerprint: str
    seed: str | None
    """That of the pass if it failed with it since its last fix, else of its last failure.

    None where none matters, or none is on record.
    """
    vcs: Vcs
    """The repository in the last run with a known commit in which it failed."""
    drawn: Vcs
    """The repository in the last run in which it failed with that seed."""
    by: Passing
    """The pass."""
    simulators: str = ""
    """The simulators of that run, with their versions."""
    same_config: bool = True
    """Whether it failed in the configuration that passes now."""
    config_known: bool = True
    """Whether both configurations are on record."""
    deterministic: bool = False
    """Whether no seed can change the cause."""
    seed_unknown: bool = False
    """Whether it failed with a seed, and none with which it failed is on record."""
    one_of_several: bool = False
    """Whether one of several designs that are built in a folder failed, and which is not known: it may be another."""
    proof: int = 0
    """What the best pass since then proves, as `records.fixes.proof` counts it; 0 where there was none."""
    evidence: str = ""
    """First cause and excerpt of the cause's newest occurrence."""
    reads: tuple[str, ...] = ()
    """Files that the simulation read which failed."""
    fixed: Fix | None = None
    """What is on record as the fix of the cause since that failure, by other tests, seeds or simulators."""
