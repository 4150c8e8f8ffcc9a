"""The nouns of the project, frozen, and the two protocols by which rooms meet without knowing each other.

Plain data classes: they import nothing heavy, and `msgspec` turns them into JSON and back where that is needed.
Paths are relative to the root with `/`; times are UTC in the form `2026-11-21T20:27:30Z`; durations are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Phase = Literal["setup", "call", "teardown", "collect"]
Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "flaky", "waived"]
OriginType = Literal["RTL_BUG", "TB_BUG", "TOOL", "UNKNOWN"]
Tier = Literal["cause", "symptom", "rollup"]
News = Literal["NEW", "REGRESSED", "KNOWN"]
Change = Literal["commit", "uncommitted", "unrecorded", "seed", "nothing", "older", "branch"]
"""What differs between the failure of a test and its pass.

These make a fix: `commit` (other sources at another commit), `uncommitted` (other sources in the working tree),
`unrecorded` (one of the two runs has no commit on record). These do not: `seed` (the seed alone), `nothing` (nothing
that is known), `older` (the sources of before the failure), `branch` (a branch that never had the failing commit).
"""
Source = Literal["run", "results", "log", "stdout", "stderr", "report"]
"""Where a text comes from.

`run`: what the capture saw of the processes, one sentence a line ("simulator vvp was killed by signal 9 (SIGKILL) …").
`results`: the entry of a results file: `Type: message`, then the traceback.
`log`: the simulator's and testbench's log of this one test (of the whole build for a build failure).
`stdout`, `stderr`: what pytest captured of a plain test. `report`: pytest's own text of the failure.
"""


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A bounded part of a text that a failure left behind: head, lines round each candidate for a cause, tail."""

    source: Source
    lines: tuple[tuple[int, str], ...]
    """Line numbers of the whole text, from 1, with their lines; a number jumps where lines were left out."""
    path: str | None = None
    sha256: str | None = None

    @property
    def text(self) -> str:
        """The lines joined by line feeds."""
        return "\n".join(line for _, line in self.lines)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The innermost frame of a traceback that is the user's, not a library's."""

    file: str
    line: int
    function: str
    source: str = ""
    """The source line as the traceback shows it."""


@dataclass(frozen=True, kw_only=True)
class LogReference:
    """A line of a log file that stays where it is."""

    path: str
    line: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One test that failed, with its evidence; not yet named."""

    nodeid: str
    """pytest's node id; for a test inside a runner followed by `::` and the test's name."""
    phase: Phase = "call"
    outcome: Literal["failed", "error"] = "failed"
    exception: str | None = None
    """Type name of the exception that the test (not its runner) ended with, without its module."""
    message: str = ""
    frame: Frame | None = None
    excerpts: tuple[Excerpt, ...] = ()
    in_simulator: bool = False
    """Whether the test ran (or was to run) in an HDL simulator."""
    started: bool = True
    """False for a test of a simulation that ended before the test's turn came: such a one follows another's cause."""
    seed: str | None = None
    sim_time: str | None = None
    simulator: str | None = None
    simulator_version: str | None = None
    log: LogReference | None = None
    duration_s: float = 0.0
    attempts: int = 1
    ip_type: str | None = None
    reproduce: str = ""


@dataclass(frozen=True, kw_only=True)
class Result:
    """How one test ended, for the totals and the list of tests."""

    nodeid: str
    outcome: Outcome
    duration_s: float = 0.0
    seed: str | None = None
    noise_errors: int = 0
    """Error lines of a test that passed."""


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
class Origin:
    """Where the fault most likely lies."""

    type: OriginType
    confidence: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunnerUp:
    """A line that was not chosen as the first cause."""

    pattern: str | None
    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a failure is called, and why."""

    error_class: str
    failure_subtype: str
    fingerprint: str
    primary: str
    """The first cause: one message, joined to one line, redacted."""
    pattern: str | None = None
    line: int | None = None
    source: Source | None = None
    rule: str = ""
    """The rule that chose the line, a short sentence."""
    origin: Origin = field(default_factory=lambda: Origin(type="UNKNOWN", confidence=0.0))
    fix: str | None = None
    runners_up: tuple[RunnerUp, ...] = ()
    excerpt: str = ""
    """At most 40 lines round the cause."""
    follower: bool = False
    """True where the failure only follows another of the same run and has no cause of its own."""
    decided_by: str | None = None
    """Name of the hook that gave the verdict, where one did."""
    frame: Frame | None = None
    """The user's innermost frame, where the failure was an exception."""


@dataclass(frozen=True, kw_only=True)
class FailedTest:
    """A failing test in an occurrence."""

    nodeid: str
    phase: Phase = "call"
    outcome: Literal["failed", "error"] = "failed"
    attempts: int = 1
    seed: str | None = None
    sim_time: str | None = None
    simulator: str | None = None
    duration_s: float = 0.0


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
    ip_type: str | None = None


@dataclass(frozen=True, kw_only=True)
class Vcs:
    """The state of the repository during a run."""

    commit: str | None = None
    branch: str | None = None
    dirty: bool = False
    changes: str | None = None
    """12 hex that stand for the uncommitted changes: the same for the same ones; None where they could not be read."""


@dataclass(frozen=True, kw_only=True)
class Simulator:
    """A simulator that took part in a run."""

    name: str
    version: str | None = None


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
    """The seed of the failure."""


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


@dataclass(frozen=True, kw_only=True)
class FirstBad:
    """The commits with one of which a cause came: after a run that passed, up to the first one that failed."""

    fingerprint: str
    nodeid: str
    """The test that passed and failed."""
    good: str
    """The commit of the pass."""
    bad: str
    """The commit of the failure; the same one where it came with uncommitted changes."""
    dirty: bool = False
    """Whether the failing run had uncommitted changes."""
    log: tuple[str, ...] = ()
    """The commits, as `git log --oneline` shows them; not all of very many."""
    log_count: int = 0
    files: tuple[str, ...] = ()
    """Files that differ; not all of very many."""
    file_count: int = 0
    owners: tuple[str, ...] = ()
    """Who answers for them."""


@dataclass(frozen=True, kw_only=True)
class OtherTest:
    """A test that neither simply passed nor simply failed."""

    nodeid: str
    outcome: Outcome


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
    suite: str | None = None
    totals: Totals = field(default_factory=Totals)
    occurrences: tuple[Occurrence, ...] = ()
    other: tuple[OtherTest, ...] = ()
    waived: tuple[Waived, ...] = ()
    passed_again: tuple[PassedAgain, ...] = ()
    fixes: tuple[dict[str, Any], ...] = ()
    without_fix: tuple[str, ...] = ()
    """Causes of this run whose newest fix its commit does not have: there they have not returned."""
    first_bad: tuple[FirstBad, ...] = ()
    coverage: tuple[dict[str, Any], ...] = ()
    evidence: tuple[str, ...] = ()
    caller_task: str | None = None
    schema: int = 1


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a session, an ingest or a takeover hands to the pipeline."""

    task_id: str
    started: str
    finished: str
    failures: tuple[Failure, ...] = ()
    results: tuple[Result, ...] = ()
    """Every test that ended, failed ones too."""
    simulators: tuple[Simulator, ...] = ()
    sources: tuple[dict[str, str], ...] = ()
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


@dataclass(frozen=True, kw_only=True)
class KnownCause:
    """What the archive knows of a fingerprint."""

    fingerprint: str
    first_seen: str
    last_seen: str
    runs: int
    tests: int
    page: str | None = None
    """Path of its page, relative to the wiki."""
    status: str | None = None
    type: OriginType | None = None
    """A person's verdict, or the tool's first one."""
    decided: bool = False
    """Whether people decided its type: by the status of its page, or by giving it another type than the tool had."""
    fix: Fix | None = None
    """The one that held last, else the newest."""
    newest_fix: Fix | None = None
    held: int = 0
    failed: int = 0
    label: str = ""
    """`error_class / failure_subtype` of the newest occurrence."""
    first_bad: FirstBad | None = None
    """With which commits it came the last time."""


@dataclass(frozen=True, kw_only=True)
class KnownSubtype:
    """What the archive knows of a failure subtype."""

    failure_subtype: str
    runs: int
    tests: int
    first_seen: str
    page: str | None = None
    fix: Fix | None = None
    held: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class KnownBin:
    """What the archive knows of a bin of coverage."""

    filled: bool
    """By the newest run that had news of it."""
    hits: int | None = None
    """In that run; None where it did not tell."""


@dataclass(frozen=True, kw_only=True)
class Onset:
    """Where a cause that is there now came in: since its last fix, or from the beginning."""

    vcs: Vcs
    """The repository in the first run that failed."""
    first_bad: FirstBad | None = None
    """The narrowest range of commits on record."""


@dataclass(frozen=True, kw_only=True)
class StillFailing:
    """A test that failed with a cause, and whose passes since then leave something to prove."""

    nodeid: str
    fingerprint: str
    seed: str | None
    """Of its last failure."""
    vcs: Vcs
    """The repository in the last run in which the cause occurred."""
    proof: int = 0
    """What the best pass since then proves, as `records.fixes.proof` counts it; 0 where there was none."""
    evidence: str = ""
    """First cause and excerpt of the cause's newest occurrence."""


@dataclass(frozen=True, kw_only=True)
class Cause:
    """One cause of the present run as it is shown: the occurrence, what is new about it, and what was known."""

    occurrence: Occurrence
    verdict: Verdict
    news: News
    known: KnownCause | None = None
    """The archive's knowledge before this run."""
    subtype: KnownSubtype | None = None
    page: str | None = None
    """Path of the page to read, relative to the root."""
    without_fix: bool = False
    """Whether the newest fix on record is not in the commit of the run."""
    first_bad: FirstBad | None = None
    """With which commits it came, where records and git tell."""
    waived: tuple[Waived, ...] = ()
    """The waivers of its failures."""
    fix: str | None = None
    """The fix to show: that held last for the subtype, else the pattern's, else its page's template.

    None where one held for the cause itself; that stands in `known`.
    """
    like: tuple[str, str] | None = None
    """Names of an older page that says nearly the same, and of the page just made; None where there is no such one."""


class Interest(Protocol):
    """Tells which lines of a huge text are worth keeping; implemented by the patterns."""

    def find(self, text: str) -> Iterable[tuple[int, Tier]]:
        """Yields offsets of lines' starts in ascending order, each with the tier of the pattern that asks for it."""
        ...

    def is_benign(self, message: str) -> bool:
        """Whether a message, as one line, looks like a failure and is none."""
        ...

    def is_accepted(self, message: str) -> bool:
        """Whether people accept a message, as one line, although it is an error."""
        ...


class History(Protocol):
    """What the archive knows; implemented by the wiki."""

    def cause(self, fingerprint: str) -> KnownCause | None:
        """The cause of that fingerprint, or of one of its aliases."""
        ...

    def subtype(self, failure_subtype: str) -> KnownSubtype | None:
        """The page of that subtype."""
        ...

    def refresh(self) -> None:
        """Takes in what was archived since the first question."""
        ...

    def regressed(self, fingerprint: str) -> bool:
        """Whether a new occurrence of a cause is a regression: it was closed, or its newest fix had held."""
        ...

    def still_failing(self, seeds: Mapping[str, str | None]) -> tuple[StillFailing, ...]:
        """Of tests that pass now, each with its seed, those of which a pass is news, by test and fingerprint."""
        ...

    def fix_template(self, failure_subtype: str) -> str:
        """What the page of a subtype says of fixing it; empty where nobody wrote it."""
        ...

    def decisions(self, pattern: str, fingerprint: str) -> dict[OriginType, int]:
        """How many causes that a pattern named, other than the one given, people decided to be what."""
        ...

    def last_pass(self, nodeid: str) -> str | None:
        """The commit at which a test was last known to pass without uncommitted changes, None where that is unknown."""
        ...

    def onset(self, fingerprint: str) -> Onset | None:
        """Where a cause came in that has no fix on record since, None where it is not there."""
        ...

    def coverage(self) -> dict[tuple[str, str], KnownBin]:
        """By covergroup and bin what is on record of every bin that is a coverage hole, or was one."""
        ...
