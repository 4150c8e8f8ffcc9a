"""A failure with its evidence, and the verdict on it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

Phase = Literal["setup", "call", "teardown", "collect"]
Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "flaky", "waived"]
OriginType = Literal["RTL_BUG", "TB_BUG", "TOOL", "UNKNOWN"]
Tier = Literal["cause", "symptom", "rollup"]
Canceller = Literal["run", "test"]
Source = Literal["run", "results", "log", "stdout", "stderr", "report"]
"""Where a text comes from.

`run`: the plugin's sentences about the processes, one per line ("simulator vvp was killed by signal 9 (SIGKILL) …").
`results`: the entry of a results file: `Type: message`, then the traceback.
`log`: the log of simulator and testbench for this one test (for a build failure, of the whole build).
`stdout`, `stderr`: the output of a plain test as captured by pytest. `report`: pytest's own report of the failure.
"""


class Excerpt(Struct, frozen=True, kw_only=True):
    """A part of a failure's text, limited in size: its head, the lines around each possible cause, its tail."""

    source: Source
    lines: tuple[tuple[int, str], ...]
    """Pairs of line number and line; numbers count from 1 in the whole text and skip the lines that were left out."""
    path: str | None = None
    sha256: str | None = None

    @property
    def text(self) -> str:
        """Return the lines joined by line feeds."""
        return "\n".join(line for _, line in self.lines)


class Frame(Struct, frozen=True, kw_only=True):
    """The innermost frame of a traceback that is in the user's code, not in a library."""

    file: str
    line: int
    function: str
    source: str = ""
    """The source line as the traceback shows it."""
    callers: tuple[str, ...] = ()
    """`file:line` of the user's frames that led to this frame, innermost first."""
    call: str = ""
    """The statement in another file that called into this file, as the traceback shows it."""


class Place(Struct, frozen=True, kw_only=True):
    """The statement that reported a cause; comparing two shows whether the same check reported both messages."""

    report: str
    """Severity or exception type of the report."""
    words: str
    """The text of the report with its values masked; empty if it is too long to be compared."""
    file: str
    line: int | None = None
    id: str | None = None
    """Id in the report, such as the ID of a UVM report."""
    function: str = ""
    source: str = ""
    """The source line, if a traceback shows it."""
    callers: tuple[str, ...] = ()
    """`file:line` of the user's frames that led to the statement, innermost first."""


class LogReference(Struct, frozen=True, kw_only=True):
    """A reference to a line of a log file; the file is not copied."""

    path: str
    line: int | None = None
    sha256: str | None = None


class Command(Struct, frozen=True, kw_only=True):
    """A command that reruns a failing test, as data from which its text is rendered."""

    arguments: tuple[str, ...]
    """The words of the command, unquoted."""
    variables: dict[str, str] = field(default_factory=dict)
    """Environment variables in the order of printing; `$PWD` in a value stands for `folder`."""
    folder: str = "."
    """Folder in which the command runs, with `/`, relative to the top of the git repository or the workspace root."""
    in_repository: bool = True
    """Whether `folder` is relative to the top of the git repository; if not, it is relative to the workspace root."""
    test: str = ""
    """Node id of the test that the command runs."""


class Attempt(Struct, frozen=True, kw_only=True):
    """One attempt of a test that ran more than once in a run."""

    outcome: Literal["passed", "failed", "error"]
    fingerprint: str | None = None
    """Fingerprint of the cause that made the attempt fail."""
    seed: str | None = None
    error_class: str = ""
    failure_subtype: str = ""
    primary: str = ""
    """The first cause; empty for an attempt that passed."""
    infrastructure: bool = False
    """Whether the attempt failed because of a licence, a limit, a host or a file system."""


class Failure(Struct, frozen=True, kw_only=True):
    """One test that failed, with its evidence, before it is classified."""

    nodeid: str
    """pytest's node id; for a test inside a runner, the runner's node id, `::` and the test's name."""
    phase: Phase = "call"
    outcome: Literal["failed", "error"] = "failed"
    exception: str | None = None
    """Type name, without module, of the exception that ended the test (not its runner)."""
    message: str = ""
    frame: Frame | None = None
    excerpts: tuple[Excerpt, ...] = ()
    in_simulator: bool = False
    """Whether the test ran (or was to run) in an HDL simulator."""
    started: bool = True
    """False if the simulation ended before the test began: the failure then follows from another test's cause."""
    seed: str | None = None
    seeded: bool = False
    """Whether the test's stimulus may depend on a seed, known or not."""
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
    """File, named as in `reads`, that draws stimulus without using the seed: a rerun with the same seed may differ."""
    by_strict_logs: bool = False
    """Whether the test passed, and `--dvwiki-strict-logs` made it fail because of an error line in its log."""


class Result(Struct, frozen=True, kw_only=True):
    """The result of one test, for the totals and the list of tests."""

    nodeid: str
    outcome: Outcome
    duration_s: float = 0.0
    seed: str | None = None
    noise_errors: int = 0
    """Number of error lines in a test that passed."""
    simulator: str | None = None
    config: str | None = None
    """The build configuration as 12 hex digits; None if it is unknown."""
    earlier: tuple[Failure, ...] = ()
    """Failures of a flaky test before it passed, in order."""


class Origin(Struct, frozen=True, kw_only=True):
    """The most likely location of the fault."""

    type: OriginType
    confidence: float
    reasons: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """Return the type with its confidence; an unknown origin has no confidence."""
        return self.type if self.type == "UNKNOWN" else f"{self.type}, {self.confidence:.0%}"


class Clue(Struct, frozen=True):
    """One piece of evidence for the origin of a fault."""

    kind: str
    """Kind of evidence; each kind has a fitted weight."""
    side: OriginType
    """Origin that the evidence supports."""
    text: str
    """A short sentence."""
    weight: float | None = None
    """Weight in log-odds; None means the fitted weight of the kind."""


class RunnerUp(Struct, frozen=True, kw_only=True):
    """A line that was not chosen as the first cause."""

    pattern: str | None
    line: int
    text: str


class Like(Struct, frozen=True, kw_only=True):
    """The example of a pattern that is most similar to a message."""

    example: str
    label: str
    """`error_class/failure_subtype` of the pattern that the example belongs to."""
    pattern: str
    similarity: float
    """Similarity of the words of example and message, from 0 to 1."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The classification of a failure, with the reasons for it."""

    error_class: str
    failure_subtype: str
    fingerprint: str
    primary: str
    """The first cause: one message, redacted and joined into one line."""
    pattern: str | None = None
    line: int | None = None
    source: Source | None = None
    path: str | None = None
    """File that holds the first cause, if the file stays after the run."""
    rule: str = ""
    """The rule that chose the first cause, as a short sentence."""
    origin: Origin = field(default_factory=lambda: Origin(type="UNKNOWN", confidence=0.0))
    clues: tuple[Clue, ...] = ()
    """The evidence for the origin; empty if a hook gave the origin."""
    fix: str | None = None
    runners_up: tuple[RunnerUp, ...] = ()
    excerpt: str = ""
    """At most 40 lines around the cause."""
    follower: bool = False
    """True if the failure only follows from another failure of the same run and has no cause of its own."""
    decided_by: str | None = None
    """Name of the hook that gave the verdict, if one did."""
    like: Like | None = None
    """Most similar example of a pattern, if no pattern matches the message."""
    frame: Frame | None = None
    """Innermost frame of the user's code, if the cause is an exception and not a report with a place of its own."""
    fingerprint_v1: str | None = None
    """Fingerprint of the cause as computed by version 1."""
    place: Place | None = None
    """Statement that reported the cause, if known."""
