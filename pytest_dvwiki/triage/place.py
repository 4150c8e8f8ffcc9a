"""The source location of an exception, and whether it distinguishes causes better than the message does."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from operator import itemgetter
from typing import TYPE_CHECKING

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.logtext.messages import strip_line
from pytest_dvwiki.logtext.tracebacks import are_of_libraries, chains, frames_below
from pytest_dvwiki.model import Place
from pytest_dvwiki.patterns.matcher import DEEPEST_BLOCK
from pytest_dvwiki.redact import redact
from pytest_dvwiki.triage.candidates import unbroken
from pytest_dvwiki.triage.pytest_report import user_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.logtext.report_parts import ReportParts
    from pytest_dvwiki.logtext.tracebacks import Chain
    from pytest_dvwiki.model import Excerpt, Frame

_NAMES_ITS_CAUSE = re.compile(
    r"contains no (?:child )?object\b|\bsimulator precision\b"
    r"|\bis not in ConfigDB\b|\bhas no key: |\bnot in uvm_factory\b"
    r"|No such file or directory: '[^']*\.(?:sv|svh|v|vh|vhd|vhdl)'"
)
"""Messages of cocotb and pyuvm about something missing, and of Python about a missing HDL source."""
_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError"})
_WORDLESS = re.compile(r"assert (?:not )?(?:V|XZ|None|''|\"\"|\[\]|\{\}|\(\)|set\(\))")
"""A rewritten assertion without a comparison, in masked form."""
_COMPARES = re.compile(
    r"(?:^|_)(?i:check|assert|compare|cmp|expect|verify|equals?|eq|match)(?=$|[_A-Z])"
    r"|[a-z](?:Check|Compare|Equals?)(?=$|[_A-Z])"
)
"""Matches the name of a function that compares."""
_MOST_WORDS = 1000
"""Masked messages with more characters are not recorded."""


def is_part_of_identity(parts: ReportParts) -> bool:
    """Return whether an exception's source location distinguishes causes with the same message.

    It does for an assertion (`assert V == V`), an exception without a message, and most others (`list index out of
    range`). It does not if the message identifies something missing: a handle, an entry, a timescale, a module or a
    source of the design is one cause, no matter how many tests need it.
    """
    return parts.report_class not in _IMPORTS and not _NAMES_ITS_CAUSE.search(parts.text)


def call_of_check(parts: ReportParts, frame: Frame) -> str:
    """Return the call of the comparing function that raised an exception, with values masked; empty if none raised it.

    Only this call shows what a library function compared (`check_result(full, 1)`).
    """
    compares = parts.report_class == "AssertionError" and _COMPARES.search(frame.function)
    return mask(frame.call) if compares else ""


def place_of(parts: ReportParts, frame: Frame | None) -> Place | None:
    """Return the place of the `raise` or assertion or, without a frame, the place in the report; None if unknown."""
    file, line = (frame.file, frame.line) if frame else (parts.file, parts.line)
    if file is None or not line:
        return None
    words = redact(mask(parts.text))
    return Place(
        report=parts.report_class,
        words=words if len(words) <= _MOST_WORDS else "",
        file=file,
        line=line,
        id=parts.message_id,
        function=frame.function if frame else "",
        source=redact(" ".join(frame.source.split())) if frame else "",
        callers=frame.callers if frame else (),
    )


class Frames:
    """The user's innermost frames in the tracebacks of a log. Each traceback is parsed once.

    Args:
        lines: Line numbers and lines of a log or results entry; a gap in the numbers ends a traceback.
    """

    def __init__(self, lines: Sequence[tuple[int, str]]) -> None:
        self._lines = lines

    def of(self, line: int) -> Frame | None:
        """Return the user's innermost frame of the exception on a line; None if there is no such frame.

        In an entry of a results file, this line is above the traceback.
        """
        at = bisect_left(self._raised, line, key=itemgetter(0))
        _, first, frame = self._raised[at] if at < len(self._raised) else (0, line + 1, None)
        return frame if first <= line else None

    def is_within_libraries(self, line: int) -> bool:
        """Return whether all frames of the traceback of the exception on a line are in libraries and tools.

        For a traceback that was cut off before its exception, `line` is its first line. Without frames, the result is
        False.
        """
        of_chain = next(
            (chain for first, chain in self._chains if any(first + e.line == line for e in chain.raised)), None
        )
        if of_chain is not None:
            return are_of_libraries(frame for e in of_chain.raised for frame in e.frames)
        at = bisect_left(self._lines, line, key=itemgetter(0))
        return are_of_libraries(frames_below([strip_line(text) for _, text in self._lines[at : at + DEEPEST_BLOCK]], 0))

    @functools.cached_property
    def _raised(self) -> list[tuple[int, int, Frame | None]]:
        """Return for each exception its line number, the first line of its contiguous block, and its frame."""
        return [(first + chain.cause.line, first, chain.cause.frame) for first, chain in self._chains]

    @functools.cached_property
    def _chains(self) -> list[tuple[int, Chain]]:
        """Return the chains of exceptions, each with the number of the first line of its contiguous block."""
        return [(first, chain) for first, lines in unbroken(self._lines) for chain in chains(lines)]


def frame_in_excerpt(excerpt: Excerpt, line: int) -> Frame | None:
    """Return the user's innermost frame of the exception on a line of an excerpt; None if there is no such frame."""
    lines = [text for _, text in excerpt.lines]
    if excerpt.source == "report" and (shown := user_frame(lines)) is not None:
        return shown
    at = next((index for index, (number, _) in enumerate(excerpt.lines) if number >= line), 0)
    return Frames(tuple(enumerate(lines))).of(at)


def with_place(text: str, parts: ReportParts, frame: Frame | None) -> str:
    """Return the text of an exception, with its source location if the text alone is vague."""
    if frame is None or not (_is_bare(parts) or _WORDLESS.fullmatch(mask(parts.text))):
        return text
    where = f"{frame.file}:{frame.function or frame.line}"
    if parts.report_class == "AssertionError" and frame.source.startswith("assert"):
        return f"AssertionError: {frame.source} in {where}"
    return f"{text.rstrip(':')} in {where}" + (f": {frame.source}" if frame.source else "")


def _is_bare(parts: ReportParts) -> bool:
    """Return whether an exception has no message."""
    return bool(parts.report_class) and parts.text.rsplit(".", 1)[-1].rstrip(":") == parts.report_class
