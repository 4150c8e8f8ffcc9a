"""A failure, its evidence and its verdict.

No object here can be part of a reference cycle, so Python's garbage collector need not visit thousands of failures
(`gc=False`).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Phase = Literal["setup", "call", "teardown", "collect"]
Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "flaky", "waived"]
OriginType = Literal["RTL_BUG", "TB_BUG", "TOOL", "UNKNOWN"]
Tier = Literal["cause", "symptom", "rollup"]
Canceller = Literal["run", "test"]
Source = Literal["run", "results", "log", "stdout", "stderr", "report"]
"""Where a text of a failure comes from.

`run`: the plugin's messages about the processes, one per line ("the simulator was killed by signal 9 (SIGKILL) …").
`results`: the entry in a results file: `Type: message`, followed by the traceback. `log`: the log of the simulator and
testbench for this test only, or of the whole build for a build failure. `stdout`, `stderr`: the output of a plain test
as captured by pytest. `report`: pytest's report of the failure.
"""


class Excerpt(Struct, frozen=True, kw_only=True, gc=False):
    """A size-limited excerpt of a failure's text: its head, the lines around each possible cause, and its tail."""

    source: Source
    lines: tuple[tuple[int, str], ...]
    """Pairs of line number and line. Numbers start at 1 and refer to the complete text."""
    path: str | None = None
    sha256: str | None = None

    @property
    def text(self) -> str:
        """Return the lines joined by line feeds."""
        return "\n".join(line for _, line in self.lines)


class Frame(Struct, frozen=True, kw_only=True, gc=False):
    """The innermost traceback frame in user code, as opposed to library code."""

    file: str
    line: int
    function: str
    source: str = ""
    """The source line as shown in the traceback."""
    callers: tuple[str, ...] = ()
    """`file:line` of the calling frames in user code, innermost first."""
    call: str = ""
    """The statement in another file that called this file, as shown in the traceback."""


class Place(Struct, frozen=True, kw_only=True, gc=False):
    """The source statement that reported a cause. Two messages from the same statement come from the same check."""

    report: str
    """Severity or exception type of the report."""
    words: str
    """The text of the report with values masked; empty if it is too long to compare."""
    file: str
    line: int | None = None
    id: str | None = None
    """Id of the report, such as a UVM report ID."""
    function: str = ""
    source: str = ""
    """The source line, if a traceback shows it."""
    callers: tuple[str, ...] = ()
    """`file:line` of the calling frames in user code, innermost first."""


class LogReference(Struct, frozen=True, kw_only=True, gc=False):
    """A reference to a line of a log file, which is not copied."""

    path: str
    line: int | None = None
    sha256: str | None = None


class Command(Struct, frozen=True, kw_only=True, gc=False):
    """A command that reruns a failing test, in structured form."""

    arguments: tuple[str, ...]
    """The unquoted arguments, including the program."""
    variables: dict[str, str] = field(default_factory=dict)
    """Environment variables, in the order in which they are printed. `$PWD` in a value refers to `folder`."""
    folder: str = "."
    """Working directory with `/` separators, relative to the top of the git repository or to the workspace root."""
    in_repository: bool = True
    """Whether `folder` is relative to the top of the git repository (True) or to the workspace root (False)."""
    test: str = ""
    """Node id of the test run by the command."""


class Attempt(Struct, frozen=True, kw_only=True, gc=False):
    """One attempt of a test that ran more than once in a run."""

    outcome: Literal["passed", "failed", "error"]
    fingerprint: str | None = None
    """Fingerprint of the cause; None for a passing attempt."""
    seed: str | None = None
    error_class: str = ""
    failure_subtype: str = ""
    primary: str = ""
    """The first cause; empty for a passing attempt."""
    infrastructure: bool = False
    """Whether a licence, limit, host or file system caused the failure of the attempt."""
    directed: bool = False
    """Whether the simulation is known to use no random numbers that depend on the seed."""


class Failure(Struct, frozen=True, kw_only=True, gc=False):
    """One failed test with its evidence, before classification."""

    nodeid: str
    """pytest's node id. For a test inside a runner: the runner's node id, `::` and the test's name."""
    phase: Phase = "call"
    outcome: Literal["failed", "error"] = "failed"
    exception: str | None = None
    """Type name, without module, of the exception that ended the test (not the runner)."""
    message: str = ""
    frame: Frame | None = None
    excerpts: tuple[Excerpt, ...] = ()
    in_simulator: bool = False
    """Whether the test was run, or was to be run, by an HDL simulator."""
    ran_simulator: bool = False
    """Whether the test, which is not itself in a simulator, ran a simulation that ended well, and then failed."""
    started: bool = True
    """False if the simulation ended before the test began; another test's cause then explains the failure."""
    seed: str | None = None
    seeded: bool = False
    """Whether the stimulus may depend on a seed, whether or not the seed is known."""
    directed: bool = False
    """Whether the simulation is known to use no random numbers that depend on the seed."""
    sim_time: str | None = None
    simulator: str | None = None
    log: LogReference | None = None
    duration_s: float = 0.0
    attempts: int = 1
    ip_type: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    reads: tuple[str, ...] = ()
    """HDL and Python files that the failing simulation read, relative to the repository's top; empty if unknown."""
    command: Command | None = None
    unreproducible: str = ""
    """Why no command can reproduce the failure."""
    unseeded: str = ""
    """File (as in `reads`) that draws stimulus without the seed; reruns with the same seed may therefore differ."""
    by_strict_logs: bool = False
    """Whether the test passed, but `--dvwiki-strict-logs` failed it because of an error line in its log."""

    @property
    def stimulus_seed(self) -> str | None:
        """Return the seed that determines the stimulus; None if the seed is unknown or does not affect the stimulus."""
        return None if self.directed else self.seed


class Result(Struct, frozen=True, kw_only=True, gc=False):
    """The result of one test, used for the totals and the list of tests."""

    nodeid: str
    outcome: Outcome
    duration_s: float = 0.0
    seed: str | None = None
    noise_errors: int = 0
    """Number of error lines in a passing test."""
    noise: tuple[str, ...] = ()
    """The first few different error messages of a passing test, with their values masked."""
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    earlier: tuple[Failure, ...] = ()
    """Failed attempts of a flaky test before it passed, in order."""
    module: str = ""
    """Module of a cocotb test; empty if unknown. It is not written to the record."""


class Origin(Struct, frozen=True, kw_only=True, gc=False):
    """The most likely location of the fault."""

    type: OriginType
    confidence: float
    reasons: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """Return the type and, unless it is unknown, its confidence."""
        return self.type if self.type == "UNKNOWN" else f"{self.type}, {self.confidence:.0%}"


class Clue(Struct, frozen=True, gc=False):
    """One piece of evidence for the origin of a fault."""

    kind: str
    """Kind of evidence; each kind has a fitted weight."""
    side: OriginType
    """Origin supported by the evidence."""
    text: str
    """The evidence in one short sentence."""
    weight: float | None = None
    """Weight in log-odds; None for the fitted weight of the kind."""


class RunnerUp(Struct, frozen=True, kw_only=True, gc=False):
    """A line that was considered as the first cause, but not chosen."""

    pattern: str | None
    line: int
    text: str


class Like(Struct, frozen=True, kw_only=True, gc=False):
    """The pattern example most similar to a message."""

    example: str
    label: str
    """`error_class/failure_subtype` of the example's pattern."""
    pattern: str
    similarity: float
    """Word similarity of the example and the message, from 0 to 1."""


class Verdict(Struct, frozen=True, kw_only=True, gc=False):
    """The classification of a failure and the reasons for it."""

    error_class: str
    failure_subtype: str
    fingerprint: str
    primary: str
    """The first cause: one message on one line, with secrets removed."""
    pattern: str | None = None
    line: int | None = None
    source: Source | None = None
    path: str | None = None
    """File with the first cause, if it is kept after the run."""
    rule: str = ""
    """A short sentence on the rule that selected the first cause."""
    origin: Origin = field(default_factory=lambda: Origin(type="UNKNOWN", confidence=0.0))
    clues: tuple[Clue, ...] = ()
    """The evidence for the origin; empty if a hook set the origin."""
    fix: str | None = None
    runners_up: tuple[RunnerUp, ...] = ()
    excerpt: str = ""
    """Up to 40 lines around the first cause."""
    follower: bool = False
    """Whether the failure is only a consequence of another failure in the same run."""
    decided_by: str | None = None
    """Name of the hook that provided the verdict, if any."""
    like: Like | None = None
    """The most similar pattern example, if no pattern matches the message."""
    frame: Frame | None = None
    """Innermost frame in user code, if the cause is an exception and not a report that has its own location."""
    fingerprint_v1: str | None = None
    """Fingerprint of the cause as computed by version 1."""
    place: Place | None = None
    """The source statement that reported the cause; None if unknown."""
