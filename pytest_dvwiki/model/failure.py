"""A failure with its evidence, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Phase = Literal["setup", "call", "teardown", "collect"]
Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "flaky", "waived"]
OriginType = Literal["RTL_BUG", "TB_BUG", "TOOL", "UNKNOWN"]
Tier = Literal["cause", "symptom", "rollup"]
Acquitter = Literal["run", "test"]
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
    callers: tuple[str, ...] = ()
    """`file:line` of the user's frames outside of it, from the inside out."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """The statement that reported a cause, and its words: what tells a value that it prints from another check."""

    report: str
    """Class of the report: severity or exception type."""
    words: str
    """The masked text; empty where it is too long to be compared."""
    file: str
    line: int | None = None
    id: str | None = None
    """The report's own id."""
    function: str = ""
    source: str = ""
    """The source line, where a traceback shows it."""
    callers: tuple[str, ...] = ()
    """As those of `Frame`."""


@dataclass(frozen=True, kw_only=True)
class LogReference:
    """A line of a log file that stays where it is."""

    path: str
    line: int | None = None
    sha256: str | None = None


MASKED = "…"
"""What stands in a command for a value that is not kept."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command that runs a failing test again, as data; what is printed is rendered from it."""

    arguments: tuple[str, ...]
    """Its words, not quoted."""
    variables: dict[str, str] = field(default_factory=dict)
    """Environment variables, in the order in which they are printed; `$PWD` in a value is the folder."""
    folder: str = "."
    """The folder in which it runs, with `/`: relative to the top of the git repository, or to the workspace root."""
    in_repository: bool = True
    """Whether there is a git repository; else the folder is relative to the workspace root."""
    test: str = ""
    """Node id of the test that it runs."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One attempt of a test that ran more than once in a run."""

    outcome: Literal["passed", "failed", "error"]
    fingerprint: str | None = None
    """The cause with which it failed."""
    seed: str | None = None


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
    seeded: bool = False
    """Whether a seed may have drawn its stimulus, whether or not anything tells it."""
    sim_time: str | None = None
    simulator: str | None = None
    simulator_version: str | None = None
    log: LogReference | None = None
    duration_s: float = 0.0
    attempts: int = 1
    ip_type: str | None = None
    config: str | None = None
    """12 hex of the build configuration; None where it is unknown."""
    reads: tuple[str, ...] = ()
    """HDL and Python files that the failing simulation read, relative to the repository's top; none where unknown."""
    command: Command | None = None
    unreproducible: str = ""
    """Why no command can reproduce the failure."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """How one test ended, for the totals and the list of tests."""

    nodeid: str
    outcome: Outcome
    duration_s: float = 0.0
    seed: str | None = None
    noise_errors: int = 0
    """Error lines of a test that passed."""
    simulator: str | None = None
    config: str | None = None
    """12 hex of the build configuration; None where it is unknown."""
    earlier: tuple[Failure, ...] = ()
    """With what a flaky test failed before it passed, in order."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where the fault most likely lies."""

    type: OriginType
    confidence: float
    reasons: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """Return the type with its confidence; of an unknown origin there is none."""
        return self.type if self.type == "UNKNOWN" else f"{self.type}, {self.confidence:.0%}"


@dataclass(frozen=True, slots=True)
class Clue:
    """One piece of evidence for the origin of a fault."""

    kind: str
    """By which its weight was fitted."""
    side: OriginType
    """For which it speaks."""
    text: str
    """A short sentence."""
    weight: float | None = None
    """In log-odds, where it is not that of its kind."""


@dataclass(frozen=True, kw_only=True)
class RunnerUp:
    """A line that was not chosen as the first cause."""

    pattern: str | None
    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Like:
    """The example of a pattern that a message is most like."""

    example: str
    label: str
    """`error_class/failure_subtype` of its pattern."""
    pattern: str
    similarity: float
    """Of their words, from 0 to 1."""


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
    clues: tuple[Clue, ...] = ()
    """The evidence from which the origin follows; none where a hook gave it."""
    fix: str | None = None
    runners_up: tuple[RunnerUp, ...] = ()
    excerpt: str = ""
    """At most 40 lines round the cause."""
    follower: bool = False
    """True where the failure only follows another of the same run and has no cause of its own."""
    decided_by: str | None = None
    """Name of the hook that gave the verdict, where one did."""
    like: Like | None = None
    """What the message is most like, where no pattern says what it means."""
    frame: Frame | None = None
    """The user's innermost frame, where the failure was an exception and no report with a place tells its cause."""
    fingerprint_v1: str | None = None
    """What version 1 called the cause."""
    place: Place | None = None
    """The statement that reported it, where that is known."""
