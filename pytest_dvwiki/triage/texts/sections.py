"""Find the lines of a log that were printed by passing tests and therefore report no failure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import simulators

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORDS = ("running ", " passed", " failed", "tests=")
"""Lower-case strings. Each line that marks the start or end of a test contains at least one."""

_WORD = re.compile("|".join(WORDS))
_MARK = re.compile(
    r"^.*?(?:\b[Rr]unning (?:test )?\S.*?\((?P<running>\d+)/\d+\)"
    r"|\b(?P<name>(?!(?:assert|not|and|or|is|if|return)\b)[\w.\[\]-]+) (?P<outcome>passed|failed)\b(?=:|\s*$|: )"
    r"|\bTest (?P<outcome1>Passed|Failed): )",
    re.MULTILINE,
)
_SUMMARY = re.compile(r"\bTESTS=\d+ PASS=\d+ FAIL=(?P<failed>\d+)")
_COCOTB = re.compile(
    r"\bcocotb\b|\bpyuvm\b|^(?:# )?\s*(?:-\.--|\d+\.\d+)[a-z]{1,4}\s+(?:INFO|WARNING|ERROR|CRITICAL)\s", re.MULTILINE
)
_SIMULATION = r"\bcocotb|\bpyuvm\b|\bdut\b|\bLogicArray\b|\bBinaryValue\b|\bUVM_|\b\d+\.\d+ns\b|\.svh?\b|\.vhdl?\b"


class Sections(Struct, frozen=True):
    """The sections of a log, delimited by cocotb's lines at the start and end of tests."""

    cocotb: bool
    """Whether this is a cocotb log, where an error line alone does not fail a test."""
    simulator: bool
    """Whether the log mentions an HDL simulator or its messages."""
    passed: tuple[tuple[int, int], ...]
    """First and last line number of each passing test."""

    def in_passed(self, line: int) -> bool:
        """Return whether a line was printed by a passing test."""
        return any(first <= line <= last for first, last in self.passed)


def has_word(lowered: str) -> bool:
    """Return whether a line, in lower case, may mark the start or end of a test."""
    return _WORD.search(lowered) is not None


def is_boundary(line: str) -> bool:
    """Return whether a line marks the start or end of a test, or summarises all tests."""
    return _MARK.match(line) is not None or is_summary(line)


def is_summary(line: str) -> bool:
    """Return whether a line is cocotb's summary of all tests."""
    return _SUMMARY.search(line) is not None


def is_cocotb(text: str) -> bool:
    """Return whether a text is a cocotb log."""
    return _COCOTB.search(text) is not None


def signs(text: str) -> Iterator[int]:
    """Yield the offsets of the first mentions of cocotb and of a simulator."""
    for expression in (_COCOTB, _simulator()):
        if (found := expression.search(text)) is not None:
            yield found.start()


_simulator = simulators.expression(lambda tool: tool.mention, _SIMULATION)


def sections_of(lines: Sequence[tuple[int, str]]) -> Sections:
    """Return the sections of numbered lines; the numbers may have gaps."""
    whole = sections("\n".join(line for _, line in lines))
    passed = tuple((lines[first - 1][0], lines[min(last, len(lines)) - 1][0]) for first, last in whole.passed)
    return Sections(cocotb=whole.cocotb, simulator=whole.simulator, passed=passed)


def sections(text: str, *, first_line: int = 1) -> Sections:
    """Return the sections of a log.

    Args:
        text: The lines of the log.
        first_line: Number of the first line.
    """
    cocotb = is_cocotb(text)
    passed = _passed(text, first_line) if cocotb else ()
    return Sections(cocotb=cocotb, simulator=_simulator().search(text) is not None, passed=passed)


def _passed(text: str, first_line: int) -> tuple[tuple[int, int], ...]:
    summary = [int(found["failed"]) for found in _SUMMARY.finditer(text)]
    if summary and not any(summary):
        return ((first_line, first_line + text.count("\n")),)
    ranges: list[tuple[int, int]] = []
    start = line = first_line
    counted = 0
    marks = list(_MARK.finditer(text))
    for number, mark in enumerate(marks):
        line += text.count("\n", counted, mark.start())
        counted = mark.start()
        if mark["running"] is not None:
            start = line
            continue
        if (mark["outcome"] or mark["outcome1"]).lower() == "passed":
            # A test that passed because it failed as expected prints its traceback below this line.
            following = marks[number + 1].start() if number + 1 < len(marks) else len(text)
            end = line + _indented(text, mark.end(), following)
            ranges.append((start, end))
        start = line + 1
    return tuple(ranges)


def _indented(text: str, at: int, end: int) -> int:
    """Return the number of deeply indented lines that follow the line at offset `at`."""
    count = 0
    for line in text[at:end].split("\n")[1:]:
        if not re.match(r"(?:# )?\s{16,}\S", line):
            break
        count += 1
    return count
