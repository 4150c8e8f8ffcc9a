"""Runs without a results file, as in UVM regressions; the log or its path shows the test and the seed."""

from __future__ import annotations

import functools
import re
import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import simulators
from pytest_dvwiki.capture.simulations.reproduce import masked
from pytest_dvwiki.logtext.logs import LogStream, lines_with
from pytest_dvwiki.model import Command, Simulator
from pytest_dvwiki.records.command import workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.logtext.logs import LogText

_BEGINNING = 8
"""Number of chunks, of about a megabyte each, at the start of a log that are searched for the test."""
_TEST_OPTION = "+UVM_TESTNAME="
_STARTED = "[RNTST]"
_RUNNING = re.compile(r"\[RNTST\] Running test (?P<test>[\w$:.#()-]{1,200}?)(?:\.\.\.|\s)")
_ASKED = re.compile(r"\+UVM_TESTNAME=(?P<test>[\w$:.#-]{1,200})")
_ENDS = ("UVM Report Summary", "$finish")
_TOKEN = re.compile(r"[A-Za-z]+|\d+")
_COMMON_WORDS = frozenset(
    {
        "console", "job", "latest", "log", "logs", "out", "output", "result", "results", "run", "runs", "seed", "sim",
        "simulation", "simv", "stdout", "test", "tests", "transcript", "vsim", "work", "xrun",
    }
)  # fmt: skip
"""Words in folder and log names that do not distinguish tests."""
_LONGEST_COMMAND = 1 << 16
_FIELD = re.compile(r"\{(\w+)\}")


class NamedRun(Struct, frozen=True, kw_only=True):
    """What a log and its path show about the run."""

    test: str
    """Node id: the part of the log's path that is the same for all runs of the test, then the test."""
    seed: str | None = None
    simulator: Simulator | None = None
    words: tuple[str, ...] = ()
    """The simulator's command from the log, with the actual seed; empty if the log does not show a command."""
    folder: Path | None = None
    """Working directory for the command; None for the folder of the log."""
    is_cut_short: bool = False
    """Whether the log of a UVM run shows neither the report summary nor the end of the simulator."""


class PathTemplate(Struct, frozen=True):
    """A template for the last part of a log's path, from project.yaml: `{test}.{seed}/run.log`."""

    expression: re.Pattern[str]

    @classmethod
    def of(cls, text: str) -> PathTemplate:
        """Read a template.

        Raises:
            ValueError: The template does not have exactly one `{test}`, has more than one `{seed}`, or another field.
        """
        fields = _FIELD.findall(text)
        if fields.count("test") != 1 or fields.count("seed") > 1 or not {*fields} <= {"test", "seed"}:
            raise ValueError("expected one {test}, at most one {seed}, and * for any other part")
        parts = re.split(r"(\{\w+\}|\*)", text.strip("/"))
        shapes = {"{test}": r"(?P<test>[^/]+)", "{seed}": r"(?P<seed>\w+)", "*": r"[^/]*"}
        return cls(re.compile(f"(?:.*/)?{''.join(shapes.get(part, re.escape(part)) for part in parts)}"))

    def named(self, path: str) -> tuple[str, str | None] | None:
        """Return the test and the seed in a path; None if the path does not match the template."""
        found = self.expression.fullmatch(path)
        return (found["test"], found.groupdict().get("seed")) if found else None


def named_run(log: LogText, shown: str, templates: Iterable[PathTemplate] = ()) -> NamedRun | None:
    """Return what a log and its path show about the run; None unless they show exactly one test.

    The first template that matches the path (as displayed, without the date of the run) gives the test and the seed.

    Raises:
        OSError: The log cannot be read.
    """
    by_path = next(filter(None, (template.named(shown) for template in templates)), None)
    facts = _read(log)
    if facts is None and by_path is None:
        return None
    facts = facts or NamedRun(test="")
    if by_path is not None:
        test, of_path = by_path
        seed = of_path or facts.seed
        return replace(facts, test=test, seed=seed, words=_seeded(facts.words, seed))
    return replace(facts, test=_with_folders(shown, facts.test, facts.seed))


def command_of(run: NamedRun, folder: Path, root: Path) -> Command | None:
    """Return the command that repeats a run in the folder of its log; None if it cannot be run there."""
    top, in_repository = workspace(root)
    if not run.words or not folder.is_relative_to(top):
        return None
    if "/" in run.words[0] and not (folder / run.words[0]).is_file():
        return None
    return Command(
        arguments=tuple(map(masked, run.words)),
        folder=folder.relative_to(top).as_posix(),
        in_repository=in_repository,
        test=run.test,
    )


def _read(log: LogText) -> NamedRun | None:
    """Return what a log shows about the run; None unless the log shows exactly one test.

    `test` is the name of the test, without a part of the log's path.
    """
    running: dict[str, None] = {}
    asked: str | None = None
    beginning: list[str] = []
    ended = False
    for number, chunk in enumerate(LogStream(log)):
        if number < _BEGINNING and not running:
            beginning += _relevant_lines(chunk.text)
            asked = asked or next((found["test"] for line in beginning if (found := _ASKED.search(line))), None)
        elif not (running or asked):
            return None
        for start, end in lines_with(chunk.text, (_STARTED,)):
            if found := _RUNNING.search(chunk.text, start, end):
                running[found["test"]] = None
        ended = ended or any(text in chunk.text for text in _ends())
    if len(running) > 1 or not (running or asked):
        return None
    words = _command(beginning)
    seed = _seed(beginning, words)
    return NamedRun(
        test=next(iter(running), asked or ""),
        seed=seed,
        simulator=_simulator(beginning, words),
        words=_seeded(words, seed),
        is_cut_short=bool(running) and not ended,
    )


def _relevant_lines(text: str) -> list[str]:
    """Return the lines that may show a command (with its continuation lines), a seed or a version."""
    options = (option for option, _ in _seed_options())
    literals = (_TEST_OPTION, *options, "ersion", "Copyright", "eed", "SVSEED", *_programs())
    kept: dict[int, str] = {}
    for start, first_end in lines_with(text, literals):
        end = first_end
        while text[end - 2 : end - 1] == "\\" and end < len(text):
            end = text.find("\n", end) + 1
        # Xcelium prints its options one per line.
        while text.startswith(("\t-", "\t+", "\t\t-", "\t\t+"), end):
            end = text.find("\n", end) + 1
        kept[start] = text[start:end][:_LONGEST_COMMAND]
    return list(kept.values())


def _command(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the simulator's call that sets the test or a seed; empty if no line has such a call."""
    marks = (_TEST_OPTION, *(option for option, _ in _seed_options()))
    for line in lines:
        found = _called().match(line)
        if found and any(mark in line for mark in marks):
            try:
                return tuple(shlex.split(found["command"].replace("\\\n", " ")))
            except ValueError:  # a quotation mark is not closed: the line was cut off
                continue
    return ()


def _seed(lines: Sequence[str], words: Sequence[str]) -> str | None:
    """Return the seed that the simulator reports, else the seed on the command line, if it is a number."""
    for line in lines:
        if found := _seed_line().search(line):
            return next(filter(None, found.groups()), None)
    return next((value for _, value in _given_seeds(words) if value.isdigit()), None)


def _given_seeds(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield position and value of each seed on a command line."""
    for option, joined in _seed_options():
        for place, word in enumerate(words):
            if joined and word.startswith(option):
                yield place, word[len(option) :]
            elif not joined and word == option and place + 1 < len(words):
                yield place + 1, words[place + 1]


def _seeded(words: Sequence[str], seed: str | None) -> tuple[str, ...]:
    """Return a command with the actual seed in place of a request for a random seed."""
    if seed is None:
        return tuple(words)
    fixed = [f"+ntb_random_seed={seed}" if word == "+ntb_random_seed_automatic" else word for word in words]
    for place, value in [*_given_seeds(fixed)]:
        if not value.isdigit():
            fixed[place] = fixed[place].removesuffix(value) + seed
    return tuple(fixed)


def _simulator(lines: Sequence[str], words: Sequence[str]) -> Simulator | None:
    """Return the simulator and its version from its banner; without a banner, its name from the command."""
    for line in lines:
        for tool, expression in _versions():
            if found := expression.search(line):
                return Simulator(name=tool, version=found["version"])
    name = simulators.owners().get(PurePosixPath(words[0]).name) if words else None
    return Simulator(name=name) if name else None


def _with_folders(shown: str, test: str, seed: str | None) -> str:
    """Return a node id: the test, preceded by the part of a log's path that is the same for all runs of the test."""
    path = PurePosixPath(shown)
    parts = [*path.parent.parts, path.name.partition(".")[0]]
    own = {token.lower() for token in _TOKEN.findall(test)} | _COMMON_WORDS
    kept: list[str] = []
    while parts:
        part = parts.pop()
        tokens = [token.lower() for token in _TOKEN.findall(part)]
        has_seed = seed is not None and seed in tokens
        if all(token in own or token.isdigit() for token in tokens):
            continue
        kept.insert(0, re.sub(r"(?<!\d)\d+(?!\d)", "*", part) if has_seed else part)
        if not has_seed:
            break
    return "::".join(filter(None, ("/".join((*parts, *kept)), test)))


@functools.cache
def _ends() -> tuple[str, ...]:
    return (*_ENDS, *(text for tool in simulators.tools() for text in tool.run_ends))


@functools.cache
def _programs() -> tuple[str, ...]:
    return tuple(f"{name}{end}" for name in (*simulators.programs(), *simulators.binaries()) for end in " \n")


@functools.cache
def _called() -> re.Pattern[str]:
    """Return an expression that matches a tool's call as printed by make, scripts and simulators."""
    names = "|".join(map(re.escape, sorted([*simulators.owners()], key=len, reverse=True)))
    return re.compile(
        rf"\s*(?:\[[^\]]{{1,40}}\]\s+)?(?:\#\s+|\+\s+|Command:\s+|\$\s+)?(?P<command>(?:\S*/)?(?:{names})(?=\s)[\s\S]*)"
    )


@functools.cache
def _seed_options() -> tuple[tuple[str, bool], ...]:
    """Return each option that sets a seed, and whether the seed follows in the same word, as in `+seed=7`."""
    options = dict.fromkeys(option for tool in simulators.tools() for option in tool.seed_options)
    return tuple((option, option.endswith("=")) for option in options)


_seed_line = simulators.expression(lambda tool: re.sub(r"\(\?P<\w+>", "(", tool.seed_line))


@functools.cache
def _versions() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((tool.name, re.compile(tool.version)) for tool in simulators.tools() if tool.version)
