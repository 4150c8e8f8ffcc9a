"""Which lines of a log belong to tests that passed: what looks like a failure there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARK = re.compile(
    r"^.*?(?:\b[Rr]unning (?:test )?\S.*?\((?P<running>\d+)/\d+\)"
    r"|\b(?P<name>[\w.\[\]-]+) (?P<outcome>passed|failed)\b(?=:|\s*$|: )"
    r"|\bTest (?P<outcome1>Passed|Failed): )",
    re.MULTILINE,
)
_SUMMARY = re.compile(r"\bTESTS=\d+ PASS=\d+ FAIL=(?P<failed>\d+)")
_COCOTB = re.compile(
    r"\bcocotb\b|\bpyuvm\b|^(?:# )?\s*(?:-\.--|\d+\.\d+)[a-z]{1,4}\s+(?:INFO|WARNING|ERROR|CRITICAL)\s", re.MULTILINE
)
_SIMULATOR = re.compile(
    r"\bcocotb|\bpyuvm\b|\bdut\b|\bLogicArray\b|\bBinaryValue\b|\bvvp\b|[Vv]erilator|\bghdl\b|\bvsim\b|\bUVM_|\bxmsim\b"
    r"|\b\d+\.\d+ns\b|\.svh?\b|\.vhdl?\b"
)


@dataclass(frozen=True, slots=True)
class Sections:
    """What the marks of cocotb's log say about a text."""

    cocotb: bool
    """Whether it is a cocotb log, in which an error line alone fails no test."""
    simulator: bool
    """Whether an HDL simulator had a part in it."""
    passed: tuple[tuple[int, int], ...]
    """First and last line of each test that passed."""

    def in_passed(self, line: int) -> bool:
        """Whether a line belongs to a test that passed."""
        return any(first <= line <= last for first, last in self.passed)


def sections(text: str, *, first_line: int = 1) -> Sections:
    """Reads the marks of a log.

    Args:
        text: Its lines.
        first_line: The number of the first one.
    """
    cocotb = _COCOTB.search(text) is not None
    passed = _passed(text, first_line) if cocotb else ()
    return Sections(cocotb=cocotb, simulator=_SIMULATOR.search(text) is not None, passed=passed)


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
            # A test that passed as it was expected to fail prints its traceback under that line.
            following = marks[number + 1].start() if number + 1 < len(marks) else len(text)
            end = line + _indented(text, mark.end(), following)
            ranges.append((start, end))
        start = line + 1
    return tuple(ranges)


def _indented(text: str, at: int, end: int) -> int:
    """Lines after the one at `at` that stand deeply indented."""
    count = 0
    for line in text[at:end].split("\n")[1:]:
        if not re.match(r"(?:# )?\s{16,}\S", line):
            break
        count += 1
    return count
