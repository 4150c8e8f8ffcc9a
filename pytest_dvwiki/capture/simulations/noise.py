"""Error lines in the logs of passing tests: they are counted, and with strict logs they make the test fail.

An error line is a UVM or pyuvm report of severity error or fatal, an HDL message of severity error or above, or a line
that a logger of the testbench wrote with level ERROR or above. A line that matches a benign pattern is not an error
line; with strict logs, neither is a line that a waiver accepts.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import simulators
from pytest_dvwiki.capture.simulations.unfinished import without_progress
from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.logtext.logs import LogStream, lines_with
from pytest_dvwiki.logtext.messages import MOST_JOINED, assemble, strip_line
from pytest_dvwiki.patterns.kinds import kind
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.logtext.logs import LogText
    from pytest_dvwiki.logtext.messages import Message
    from pytest_dvwiki.model import Interest

MOST = 10_000
"""Maximum number of error lines that are counted in one log."""
ROOM = 4096
"""Maximum number of characters of error lines that are kept."""
_MOST_KINDS = 1024
_MOST_MASKED = 5
"""Maximum number of different messages whose masked texts are kept per log."""
_MASKED_LENGTH = 200
_KEPT = 3
"""Maximum number of error messages that are kept per log."""
_LITERALS = ("ERROR", "CRITICAL", "FATAL", "Error", "Failure", "Fatal")
_ERROR = (
    r"(?:[\d.]+|-\.--)\s*(?:[fpnum]?s|sec|step)\s+(?:ERROR|CRITICAL)\b"  # cocotb, pyuvm
    r"|(?:KERNEL: )?UVM_(?:ERROR|FATAL)\b(?!\s*[:=]\s*\d+\s*$)"
)
_TIME = re.compile(r"\bTime: \d")


class ErrorLines(Struct, frozen=True):
    """The error lines of a log, or of one test in it."""

    count: int = 0
    text: str = ""
    """The first error message, as one line."""
    lines: tuple[tuple[int, str], ...] = ()
    """The lines of the first few error messages, with their numbers, redacted."""
    masked: tuple[str, ...] = ()
    """The first few different error messages, redacted and with their values masked."""

    @property
    def first(self) -> int | None:
        """Return the line number of the first error; None if no line was kept."""
        return self.lines[0][0] if self.lines else None

    def __add__(self, other: ErrorLines) -> ErrorLines:
        lines = self.lines if len(self.lines) >= _KEPT else (*self.lines, *other.lines)
        masked = tuple(dict.fromkeys((*self.masked, *other.masked)))[:_MOST_MASKED]
        return ErrorLines(self.count + other.count, self.text or other.text, lines, masked)


NO_ERRORS = ErrorLines()


class ErrorCounter:
    """Counts the error lines of a log that is fed in parts, and keeps the first ones, up to `room` characters.

    Without `interest`, benign lines are counted, too.
    """

    def __init__(self, interest: Interest | None, room: int = ROOM) -> None:
        self._interest = interest
        self._benign: dict[str, bool] = {}
        self._count = 0
        self._kept = 0
        self._room = room
        self._text = ""
        self._lines: list[tuple[int, str]] = []
        self._masked: dict[str, None] = {}

    def feed(self, first: int, text: str) -> None:
        """Process the next lines of the log; `first` is the number of their first line, and no line is cut off."""
        number, counted, done = first, 0, 0
        for start, _ in lines_with(text, _literals()):
            if self._count >= MOST:
                return
            if start < done or not _may_begin(text[start : text.find("\n", start)]):
                continue
            raw = _next_lines(text, start)
            shown = [line for _, line in without_progress(tuple(enumerate(raw)))]
            message = _message(shown)
            if message is None or self._is_benign(message.text):
                continue
            self._count += 1
            number += text.count("\n", counted, start)
            counted = start
            end = message.last + 1
            done = start + sum(len(line) + 1 for line in raw[:end])
            self._keep(number, shown[:end], message.text)
            if self._count <= _MOST_KINDS and len(self._masked) < _MOST_MASKED:
                self._masked[_masked(message.text)] = None

    def result(self) -> ErrorLines:
        """Return the error lines found so far."""
        return ErrorLines(self._count, self._text, tuple(self._lines), tuple(self._masked))

    def _is_benign(self, text: str) -> bool:
        if self._interest is None:
            return False
        # Logs repeat themselves, so the answer for one line is reused for all lines that differ only in numbers.
        its_kind = kind(text.lower())
        known = self._benign.get(its_kind)
        if known is None:
            if len(self._benign) >= _MOST_KINDS:
                self._benign.clear()
            known = self._benign[its_kind] = self._interest.is_benign(text)
        # A waiver may depend on a value, so it is checked for every line.
        return known or self._interest.is_accepted(text)

    def _keep(self, number: int, lines: list[str], text: str) -> None:
        if self._kept >= _KEPT:
            return
        self._kept += 1
        self._text = self._text or redact(text[: self._room])
        for at, line in enumerate(lines, start=number):
            shown = redact(line[: self._room])
            self._room -= len(shown)
            if shown:
                self._lines.append((at, shown))


def error_lines(text: LogText, interest: Interest) -> ErrorLines:
    """Return the error lines of a whole log, without those that `interest` knows as benign or accepted."""
    counter = ErrorCounter(interest)
    for chunk in LogStream(text):
        counter.feed(chunk.first, chunk.text)
    return counter.result()


def errors_in(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[str, list[int]]]:
    """Yield the error messages in an excerpt, as in `ErrorLines.masked`, with the numbers of their lines."""
    at = 0
    while at < len(lines):
        end, first = at + 1, lines[at][1]
        if any(word in first for word in _literals()) and _may_begin(first):
            while end < len(lines) and end - at < MOST_JOINED and lines[end][0] == lines[end - 1][0] + 1:
                end += 1
            shown = without_progress(lines[at:end])
            message = _message([line for _, line in shown])
            end = at + 1
            if message is not None:
                end += message.last
                yield _masked(message.text), [number for number, _ in shown[: message.last + 1]]
        at = end


def _masked(text: str) -> str:
    return mask(redact(text[:ROOM]))[:_MASKED_LENGTH]


def _message(lines: list[str]) -> Message | None:
    """Return the message that begins on the first line, if it is an error."""
    message = next(iter(assemble([strip_line(line) for line in lines])), None)
    if message is None or message.first:
        return None
    timed = _timed_error().match(message.text) and _TIME.search(message.text)
    return message if timed or _error().match(message.text) else None


@functools.cache
def _literals() -> tuple[str, ...]:
    return (*_LITERALS, *(word for tool in simulators.tools() for word in tool.run_error_words))


_error = simulators.expression(lambda tool: tool.run_error, _ERROR)
_timed_error = simulators.expression(lambda tool: tool.timed_error)


def _may_begin(line: str) -> bool:
    """Return whether a line may be the first line of an error; most lines with the word `error` only mention it."""
    ((_, shown),) = without_progress([(0, line)])
    plain = strip_line(shown).lstrip()
    return _error().match(plain) is not None or _timed_error().match(plain) is not None


def _next_lines(text: str, start: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < MOST_JOINED and start < len(text):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        lines.append(text[start:end])
        start = end + 1
    return lines
