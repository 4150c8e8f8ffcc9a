"""Splitting of a cocotb log into its tests, by the messages of cocotb's regression manager, not by columns.

This works for cocotb 1.9 and 2.x with any log level and prefix. `running X (i/n)` begins a test, `X passed` or `X
failed` is its verdict, and the next `running` ends it. At level WARNING, the log has only `X failed`. A test then
extends from the end of the previous test to the end of the traceback under its own verdict.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki import simulators
from pytest_dvwiki.capture.make.folders import STOPPED
from pytest_dvwiki.capture.simulations.noise import NO_ERRORS, ROOM, ErrorCounter, ErrorLines
from pytest_dvwiki.logtext.excerpts import ExcerptBuilder, Limits
from pytest_dvwiki.logtext.logs import LogStream, LogText, lines_with
from pytest_dvwiki.model import Simulator

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pytest_dvwiki.logtext.logs import Chunk
    from pytest_dvwiki.model import Interest

Judgement = Literal["passed", "failed", "skipped", "xfailed"]
NumberedLines = tuple[tuple[int, str], ...]

_MANAGER = "cocotb.regression"
_LOADED = ("I support registered", "I registered")
"""Parts of the first line that cocotb 2.x and 1.9 print: `VPI support registered`, `VHPI registered`."""
_BY_NAME = (_MANAGER, *_LOADED, ": *** ")
"""Strings that mark the manager's and make's lines in a log with the manager's name."""
_BY_WORDS = (
    *_BY_NAME,
    "running ",
    *(f" {word}{end}" for word in ("passed", "failed", "xfailed") for end in ("\n", ": ", " (")),
    "Seeding Python random module with ",
    "Running on ",
    "Running command ",
    "cocotb v",
    "Using Python ",
)
"""Strings that mark all lines to examine if the log lacks the manager's name (because of COCOTB_LOG_PREFIX)."""
_FOLDER = re.compile(r"(?:^|\s)(?:g?make(?:\[\d+\])?: )?(?P<word>Entering|Leaving) directory '(?P<folder>[^']+)'")
_RUNNER_SAYS = re.compile(r".*?\bRunning command:? (?P<command>.+?)(?: in directory (?P<folder>\S+))?$")
_SHOWN_UNTIL = 100_000
"""Number of lines at the start of a log that are searched for commands before the manager's first line."""
_COMMANDS_LIMIT = 256
_COMMAND_LIMIT = 1 << 16
_BY_MANAGER = re.compile(r"\s*[\d.-]+\w*\s+[A-Z]+\s+cocotb\.regression\s+(?:\S+:\d+\s+in \S+\s+)?(?P<message>.*)$")
_RUNNING = re.compile(r"(?:^|\s)running (?P<name>\S.*) \((?P<index>\d+)/(?P<total>\d+)\)$")
_SKIPPING = re.compile(r"^skipping (?P<name>.+?)(?: \(\d+/\d+\)|: .*)?$")
_FOUND = re.compile(r"^Found test (?P<module>\S+)\.(?P<name>[^.\s]+)$")
"""Matches cocotb 1.9's message about a found test; no other message shows the test's module."""
_NOT_STARTED = re.compile(r"^Failed to initialize (?P<name>.+)! \(\d+/\d+\)$")
_JUDGED = re.compile(r"^(?P<name>.+?) (?P<word>passed|failed|xfailed)(?P<note>: .*| \(result was .*)?$")
_JUDGED_BY_NAME = re.compile(r"(?:^|\s)(?P<name>\S+) (?P<word>passed|failed|xfailed)(?P<note>: .*| \(result was .*)?$")
_SEED = re.compile(r"Seeding Python random module with (?:supplied seed )?(?P<seed>\d+)$")
_SIMULATOR = re.compile(r"(?:^|\s)Running on (?P<name>\S.*?) version (?P<version>\S+)")
_COCOTB = re.compile(r"(?:Initialized|tests with) cocotb v(?P<version>\d[\w.+-]*)")
_PYTHON = re.compile(r"Using Python (?P<version>\d[\w.+-]*) interpreter at ")
_COMMAND = re.compile(r"Running command (?:\S*/)?(?P<program>[\w.-]+)")
_RULE = re.compile(r"\*\*\* \[(?:\S*/)?Makefile\.(?P<simulator>\w+):\d+: ")
"""Matches make's message that a rule of cocotb's Makefile failed; it shows the simulator even under `make -s`."""
_TIME = re.compile(r"\s*(?P<value>\d+(?:\.\d+)?)(?P<unit>fs|ps|ns|us|ms|s|sec|step)\s")
_CONTINUATION = re.compile(r"\s{8}|$")
"""Matches a line under a verdict: log lines of cocotb begin with at most 5 spaces, `Time:` lines of Icarus with 7."""

_LIMITS = Limits()
_SMALL = Limits(chars=4096, head=4, tail=16, candidates=3, after_mark=20)
_TINY = Limits(chars=1024, head=2, tail=4, candidates=1, after_mark=6)
_FULL_BLOCKS = 100
_SMALL_BLOCKS = 1000
_TINY_ROOM = 200
_TESTS_LIMIT = 200_000
_LINES_BACK = 400


class LoggedTest(Struct, frozen=True, kw_only=True):
    """One test in a log."""

    name: str
    """Name of the test, with its module if the log shows it."""
    lines: NumberedLines = ()
    """Excerpt of the test's lines; empty for a test that passed."""
    line: int | None = None
    """Number of the line to refer to: the first cause, else the verdict, else the first line."""
    verdict: int | None = None
    """Number of the line with the verdict; the traceback is below it."""
    judgement: Judgement | None = None
    """The verdict; None for a test that was still running at the end of the log."""
    note: str = ""
    """Text after the verdict, such as 'passed but we expected a failure' or 'errored as expected'."""
    began: bool = True
    """Whether the log shows that the test was started."""
    time: str | None = None
    """Simulation time at the end of the test."""
    errors: ErrorLines = NO_ERRORS

    @property
    def expected_to_fail(self) -> bool:
        """Return whether the test failed as expected, and therefore passed."""
        return self.judgement == "xfailed" or "as expected" in self.note

    @property
    def traceback(self) -> str:
        """Return the lines under the verdict; empty if the test has no verdict."""
        return "\n".join(line for number, line in self.lines if self.verdict is not None and number > self.verdict)


class Regression(Struct, kw_only=True):
    """The part of a log that one run of a simulator wrote, which cocotb calls a regression."""

    blocks: list[LoggedTest] = field(default_factory=list)
    """Tests in the order of the log."""
    preamble: NumberedLines = ()
    """Lines before the first test: build, elaboration, import of the test modules."""
    rest: NumberedLines = ()
    """Lines after the last test."""
    errors: ErrorLines = NO_ERRORS
    """Error lines outside the tests."""
    simulator: Simulator | None = None
    cocotb: str | None = None
    """Version of cocotb."""
    python: str | None = None
    """Version of Python."""
    seed: str | None = None
    time: str | None = None
    """Last simulation time in the log."""
    started: bool = False
    """Whether the simulator loaded cocotb."""
    finished: bool = False
    """Whether the log has the summary of all tests."""
    commands: tuple[tuple[str, str], ...] = ()
    """Commands of tools in the log outside the tests, as pairs of folder (empty if unknown) and command.

    If a simulator started, the commands of builds that failed before are in `failed` instead.
    """
    failed: tuple[tuple[str, str], ...] = ()
    """Commands up to the last line before the simulation in which make reports that it stopped."""
    log: LogText | None = None
    sha256: str | None = None

    @property
    def folders(self) -> frozenset[str]:
        """Return the folders in which the commands ran, as far as make printed them."""
        return frozenset(folder for folder, _ in self.commands if folder)

    def repeats(self, others: Iterable[Regression]) -> bool:
        """Return whether any other simulation with the same `folders` also ran a test of this simulation."""
        names = {block.name for block in self.blocks}
        return any(
            other is not self and other.folders == self.folders and any(block.name in names for block in other.blocks)
            for other in others
        )


def read_regressions(
    log: LogText,
    interest: Interest | None = None,
    *,
    names: Collection[str] = (),
    failing: Collection[str] | None = None,
) -> list[Regression]:
    """Read a log, and return one Regression for each run of a simulator; a log without a run gives one Regression.

    Args:
        log: The log.
        interest: Decides which lines of a long log to keep.
        names: Names of the tests in a results file, with and without module.
        failing: Names of the tests that failed; only their lines are kept. None without a results file.
    """
    stream = LogStream(log)
    splitter = _Splitter(interest, names, failing)
    for chunk in stream:
        splitter.feed(chunk)
    return [replace(one, log=log, sha256=stream.sha256) for one in splitter.close()]


def simulator_name(text: str) -> str:
    """Return the short name of a simulator, such as 'icarus', from its product name or its program."""
    return simulators.owners().get(text) or simulators.name_in_banner(text) or text.lower().partition(" ")[0]


@functools.cache
def _command_marks() -> tuple[str, ...]:
    """Return strings that mark a tool's command as printed by make or a runner."""
    names = simulators.programs()
    endings = (f"{name} " for name in names if not any(name != one and name.endswith(one) for one in names))
    return ("ing directory '", *sorted(endings), *(f"/{binary}" for binary in simulators.binaries()))


_hdl_time = simulators.expression(lambda tool: tool.time)
"""Returns an expression that matches the time with its unit in a simulator's own messages."""


@functools.cache
def _shown() -> re.Pattern[str]:
    """Return an expression that matches a line with a tool's command."""
    names = "|".join(map(re.escape, sorted([*simulators.programs(), *simulators.binaries()])))
    # Not possessive: before Python 3.11.5, a possessive group can fail where its text can be divided in two ways. This
    # text can be divided in only one way, so even a long list of variables is matched fast.
    value = r"\"[^\"\n]*\"(?=\s)|(?!\"[^\"\n]*\"\s)\S*"
    return re.compile(
        rf"\s*(?:\+ )?(?:cd \S+ (?:&&|;) ?)?(?:[A-Za-z_]\w*=(?:{value})\s+)*(?:\S*/)?"
        rf"(?:{names})(?:\.exe)?\s"
    )


class _OpenBlock(Struct):
    """The test, or the part between two tests, that is being read."""

    name: str | None
    builder: ExcerptBuilder | None
    errors: ErrorCounter
    first: int
    began: bool
    judgement: Judgement | None = None
    verdict: int | None = None
    note: str = ""
    time: str | None = None

    def feed(self, number: int, text: str, *, mark: bool = False) -> None:
        self.errors.feed(number, text)
        if self.builder is not None:
            self.builder.feed(number, text, mark=mark)

    def judge(self, judgement: Judgement, note: str, line: int) -> None:
        self.judgement, self.note, self.verdict = judgement, note, line

    def finish(self) -> LoggedTest:
        kept = self.builder if self.judgement not in {"passed", "skipped", "xfailed"} else None
        cause = kept.first_cause if kept is not None else None
        errors = self.errors.result()
        return LoggedTest(
            name=self.name or "",
            lines=kept.lines() if kept is not None else (),
            line=cause or self.verdict or self.first,
            verdict=self.verdict,
            judgement=self.judgement,
            note=self.note,
            began=self.began,
            time=self.time,
            errors=errors if self.judgement == "passed" else ErrorLines(errors.count),
        )


class _Splitter:
    """Splits a log that is fed chunk by chunk.

    This class is long because each kind of line changes the same state: the open simulation, its tests and the parts
    between them.
    """

    def __init__(self, interest: Interest | None, names: Collection[str], failing: Collection[str] | None) -> None:
        self._interest = interest
        self._names = set(names)
        self._failing = None if failing is None else frozenset(failing)
        self._done: list[Regression] = []
        self._now = Regression()
        self._last_index = 0
        self._modules: dict[str, str] = {}
        """Maps a test to its module, from the list that cocotb 1.9 prints before the tests."""
        self._closing = False
        self._named = False
        """Whether the manager's lines contain its name."""
        self._commands: list[tuple[str, str]] = []
        self._failed: list[tuple[str, str]] = []
        """Commands of builds that failed since the last simulation, up to the last report that make stopped."""
        self._stopped = False
        """Whether make has stopped since the simulator started, so that no test is running."""
        self._folders: list[str] = []
        """Folders that make has entered."""
        self._kept = 0
        """Number of blocks whose lines were kept; the more there are, the fewer lines are kept of the next block."""
        self._noisy = 0
        """Number of blocks whose error lines were kept; after many such blocks, less text of each is kept."""
        self._open = self._between(1)

    def feed(self, chunk: Chunk) -> None:
        number, counted, shown = chunk.first, 0, 0
        words = _BY_NAME if self._named else _BY_WORDS
        looks = self._now.finished or self._stopped or (not self._named and chunk.first < _SHOWN_UNTIL)
        for start, end in lines_with(chunk.text, (*words, *_command_marks()) if looks else words):
            if looks:
                if (self._open.name is None or self._stopped) and start >= shown:
                    shown = self._command(chunk.text, start, end)
                if not any(chunk.text.find(word, start, end) >= 0 for word in words):
                    continue
            self._take(number, chunk.text[counted:start])
            number += chunk.text.count("\n", counted, start)
            self._line(number, chunk.text[start:end])
            number, counted = number + 1, end
        self._take(number, chunk.text[counted:])

    def close(self) -> list[Regression]:
        # After the last simulation, there may be the build of a simulation that never started.
        if not (self._now.started or self._now.blocks):
            self._now.commands = (*self._failed, *self._commands)
        self._end_regression()
        return self._done

    def _command(self, text: str, start: int, end: int) -> int:
        """Record the command in a line and its continuation lines, and return the offset at which these lines end."""
        line = text[start:end]
        if "ing directory '" in line and (found := _FOLDER.search(line)):
            if found["word"] == "Entering":
                self._folders.append(found["folder"])
            elif self._folders:
                self._folders.pop()
            return end
        if not ("Running command" in line or _shown().match(line)) or len(self._commands) == _COMMANDS_LIMIT:
            return end
        while start and text[start - 2 : start] == "\\\n":
            start = text.rfind("\n", 0, start - 1) + 1
        while text[end - 2 : end] == "\\\n" and end < len(text):
            end = text.find("\n", end) + 1
        command = text[start:end].strip()
        folder = self._folders[-1] if self._folders else ""
        if by_runner := _RUNNER_SAYS.match(command):
            command, folder = by_runner["command"], by_runner["folder"] or folder
        # A command is left out if it is too long, or if the middle of its line was dropped.
        if len(command) <= _COMMAND_LIMIT and " … " not in command:
            self._commands.append((folder, command.removeprefix("+ ")))
        return end

    def _stop(self) -> None:
        """Assign the commands before a line in which make reports that it stopped to a failed build."""
        self._stopped = self._now.started or bool(self._now.blocks) or self._open.name is not None
        self._failed = [*self._failed, *self._commands][-_COMMANDS_LIMIT:]
        self._commands.clear()

    def _take_commands(self) -> None:
        """Assign the commands before a simulation to the simulation and to the builds that failed before it."""
        self._now.commands += tuple(self._commands)
        self._now.failed += tuple(self._failed)
        self._commands.clear()
        self._failed.clear()

    def _line(self, number: int, text: str) -> None:
        """Process one line that may come from the regression manager."""
        line = text.rstrip()
        managed = _BY_MANAGER.match(line)
        message = managed["message"] if managed else None
        self._named = self._named or managed is not None
        if STOPPED.match(line):
            self._stop()
        if not (self._test_event(number, text, line, message)):
            self._fact(number, line, message)
            self._take(number, text)

    def _test_event(self, number: int, text: str, line: str, message: str | None) -> bool:
        if found := self._running(line, message):
            self._last_index = int(found["index"])
            self._switch(self._fullname(found["name"]), number)
            self._take(number, text)
        elif message and (found := _SKIPPING.match(message)):
            self._switch(self._fullname(found["name"]), number)
            self._open.judge("skipped", "", number)
        elif message and (found := _NOT_STARTED.match(message)):
            self._switch(found["name"], number)
            self._open.judge("failed", "Test initialization failed", number)
            self._take(number, text, mark=True)
        elif found := self._judged(line, message):
            self._judge(found, number, text)
        elif message and message.startswith("**********"):
            self._switch(None, number)
            self._now.finished = True
        else:
            return False
        return True

    def _running(self, line: str, message: str | None) -> re.Match[str] | None:
        if message is not None or self._named:
            found = _RUNNING.search(message or "")
            return found if found and found.start() == 0 else None
        # Without the manager's name on the line (COCOTB_LOG_PREFIX), the number of the next test identifies the line.
        found = _RUNNING.search(line)
        return found if found and int(found["index"]) == self._last_index + 1 else None

    def _judged(self, line: str, message: str | None) -> re.Match[str] | None:
        if message is not None or self._named:
            return _JUDGED.match(message or "")
        found = _JUDGED_BY_NAME.search(line)
        return found if found and found["name"] in self._names else None

    def _judge(self, match: re.Match[str], number: int, text: str) -> None:
        name, word = self._fullname(match["name"]), match["word"]
        note = (match["note"] or "").removeprefix(": ").strip()
        judgement: Judgement = "xfailed" if word == "xfailed" else "passed" if word == "passed" else "failed"
        hidden = self._open.name is None
        if not hidden and (self._open.name != name or self._open.judgement is not None):
            # The log does not show that the test began: the simulation ended before that.
            self._switch(None, number)
            hidden = True
        if hidden:
            if not self._now.blocks:
                self._take_commands()
            self._open.name = name
            self._names.add(name)
        self._open.judge(judgement, note, number)
        self._seen_time(text)
        self._open.time = self._now.time
        self._open.feed(number, text, mark=judgement == "failed")
        # Without `running` lines, the test ends where the text under its verdict does.
        self._closing = hidden

    def _fact(self, number: int, line: str, message: str | None) -> None:
        """Record what a line shows about the run: versions, seed, simulator, start."""
        now = self._now
        is_loaded = any(words in line for words in _LOADED)
        # A simulation whose test module cannot be imported has drawn its seed, and ends without a test.
        if is_loaded and (now.blocks or now.finished or now.seed is not None or self._open.name is not None):
            self._end_regression()
            self._open = self._between(number)
            now = self._now
        if is_loaded or (message or "").startswith("Running tests"):
            now.started = True
            self._take_commands()
        if found := _FOUND.match(message or ""):
            self._modules[found["name"]] = found["module"]
        if now.blocks or self._open.name is not None:
            return
        if found := _COCOTB.search(line):
            now.cocotb = now.cocotb or found["version"]
            now.started = True
            self._take_commands()
        if now.python is None and (found := _PYTHON.search(line)):
            now.python = found["version"]
        if now.seed is None and (found := _SEED.search(line)):
            now.seed = found["seed"]
        elif found := _SIMULATOR.search(line):
            name, version = simulator_name(found["name"]), found["version"]
            if now.simulator is None or now.simulator.version is None:
                now.simulator = Simulator(name=name, version=version)
        elif now.simulator is None and (found := _COMMAND.search(line)):
            known = simulators.owners().get(found["program"])
            now.simulator = Simulator(name=known) if known else None
        elif now.simulator is None and (found := _RULE.search(line)):
            known = simulators.name_in_banner(found["simulator"])
            now.simulator = Simulator(name=known) if known else None

    def _take(self, number: int, text: str, *, mark: bool = False) -> None:
        """Add lines to the open block."""
        if not text:
            return
        if self._closing:
            end = _continuation_end(text)
            self._open.feed(number, text[:end])
            if end == len(text):
                return
            number += text.count("\n", 0, end)
            text = text[end:]
            self._switch(None, number)
        self._seen_time(text)
        self._open.time = self._now.time if self._open.judgement is None else self._open.time
        self._open.feed(number, text, mark=mark)

    def _fullname(self, name: str) -> str:
        """Return a test's name, with the module from the list that cocotb 1.9 prints."""
        module = self._modules.get(name)
        return f"{module}.{name}" if module and "." not in name else name

    def _seen_time(self, text: str) -> None:
        end = len(text)
        for _ in range(_LINES_BACK):
            if not end:
                return
            start = text.rfind("\n", 0, end - 1) + 1
            if found := _TIME.match(text, start, end) or _hdl_time().search(text, start, end):
                value, unit = filter(None, found.groups())
                self._now.time = f"{_plain(value)} {unit}"
                return
            end = start

    def _switch(self, name: str | None, number: int) -> None:
        """End the open block, and begin a block for a test or, without a name, for the part between tests."""
        if name is not None and not self._now.blocks:
            self._take_commands()  # the log may lack the lines that the simulator prints when it starts
        self._finish_open()
        if name is None:
            self._open = self._between(number)
        else:
            self._names.add(name)
            wanted = self._failing is None or name in self._failing
            builder = self._builder() if wanted else None
            self._open = _OpenBlock(name, builder, self._error_counter(), number, began=True)

    def _between(self, number: int) -> _OpenBlock:
        return _OpenBlock(None, self._builder(), self._error_counter(), number, began=False)

    def _error_counter(self) -> ErrorCounter:
        return ErrorCounter(self._interest, ROOM if self._noisy < _SMALL_BLOCKS else _TINY_ROOM)

    def _builder(self) -> ExcerptBuilder:
        limits = _LIMITS if self._kept < _FULL_BLOCKS else _SMALL if self._kept < _SMALL_BLOCKS else _TINY
        return ExcerptBuilder(self._interest, limits)

    def _finish_open(self) -> None:
        opened, self._closing = self._open, False
        if opened.name is not None:
            if len(self._now.blocks) < _TESTS_LIMIT:
                self._now.blocks.append(block := opened.finish())
                self._kept += bool(block.lines)
                self._noisy += bool(block.errors.lines)
        elif opened.builder is not None:
            self._now.errors += opened.errors.result()
            if self._now.blocks:
                self._now.rest = opened.builder.lines()
            else:
                self._now.preamble = opened.builder.lines()

    def _end_regression(self) -> None:
        self._finish_open()
        self._done.append(self._now)
        self._now = Regression()
        self._last_index = 0
        self._modules = {}
        self._named = False
        self._stopped = False


def _continuation_end(text: str) -> int:
    """Return the offset of the end of the lines under a verdict."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1
        if not _CONTINUATION.match(text, start, end - 1):
            return start
        start = end
    return start


def _plain(value: str) -> str:
    return value.rstrip("0").rstrip(".") if "." in value else value
