"""Chained exceptions in logs and reports: the decisive exception, and its innermost frame in the user's code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.logtext.frames import indent, is_of_library, python_frame, user_frame
from pytest_dvwiki.logtext.messages import strip_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.model import Frame

_HEAD = "Traceback (most recent call last)"
DIRECT = "The above exception was the direct cause of the following exception"
DURING = "During handling of the above exception, another exception occurred"
_EXCEPTION = re.compile(r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?::\s(?P<text>.*)|:?$)")
_RAISE = re.compile(r"raise (?:\w+\.)*(?P<type>[A-Z]\w*)(?:\((?:[fr]?[\"'])?(?P<text>.*?)[\"')]*)?$")


class Raised(Struct, frozen=True):
    """One exception of a chain."""

    type: str
    """Name of the exception without its module."""
    text: str
    frames: tuple[Frame, ...]
    line: int
    """Index of the line with the exception's name."""
    head: int
    """Index of the line `Traceback (most recent call last)`, or of the first frame if that line is missing."""

    @property
    def frame(self) -> Frame | None:
        """Return the innermost frame of the user's code; None if all frames are in libraries."""
        return user_frame(reversed(self.frames))


class Chain(Struct, frozen=True):
    """The exceptions of one traceback, in printed order."""

    raised: tuple[Raised, ...]
    links: tuple[str, ...]
    """The links between the exceptions: `cause` (raise … from …) or `context` (raised while another was handled)."""

    @property
    def cause(self) -> Raised:
        """Return the decisive exception.

        With `raise … from …`, the author states the cause, so the original exception is decisive. An exception raised
        while another was handled is either a deliberate translation or a new fault in the handler, so the later
        exception is decisive.
        """
        at = len(self.raised) - 1
        while at > 0 and self.links[at - 1] == "cause":
            at -= 1
        return self.raised[at]


def chains(lines: Sequence[str]) -> list[Chain]:
    """Return the exceptions of all tracebacks in a log, in order; a traceback may lack its first line."""
    stripped = [strip_line(line) for line in lines]
    found: list[Chain] = []
    raised: list[Raised] = []
    links: list[str] = []
    link = ""
    at = 0
    while at < len(stripped):
        text = stripped[at].strip()
        announced = _HEAD in text
        if announced or python_frame(stripped, at) is not None:
            one, at = _traceback(stripped, at + announced)
            if one is None:
                continue
            if raised and link:
                links.append(link)
            elif raised:
                found.append(Chain(tuple(raised), tuple(links)))
                raised, links = [], []
            raised.append(one)
            link = ""
            continue
        if text.startswith(DIRECT):
            link = "cause"
        elif text.startswith(DURING):
            link = "context"
        at += 1
    if raised:
        found.append(Chain(tuple(raised), tuple(links)))
    return found


def _traceback(lines: Sequence[str], at: int) -> tuple[Raised | None, int]:
    """Return the exception of the traceback whose first frame is at `at`, and the index after the traceback.

    The exception is None if its name does not follow the frames.
    """
    frames: list[Frame] = []
    head = at - 1 if at and _HEAD in lines[at - 1] else at
    margin = indent(lines[at]) if at < len(lines) else 0
    while at < len(lines):
        line = lines[at]
        if (shown := python_frame(lines, at)) is not None:
            margin = indent(line)
            frame, at = shown
            frames.append(frame)
            continue
        named = _EXCEPTION.match(line.strip())
        if named is not None and indent(line) <= margin:
            return (Raised(named["type"].rsplit(".", 1)[-1], named["text"] or "", tuple(frames), at, head), at + 1)
        if line.strip().startswith("[Previous line repeated"):
            at += 1
            continue
        return None, at
    return None, at


def cut_off(lines: Sequence[str], at: int) -> str | None:
    """Infer the exception from the last frame's statement, for a traceback cut off before the exception's name.

    The traceback begins at the line `at`. Return None if the statement is neither an `assert` nor a `raise`.
    """
    statement = next((frame.source for frame in reversed([*frames_below(lines, at)])), "")
    if statement.startswith("assert "):
        return f"AssertionError: {statement}"
    raised = _RAISE.match(statement)
    return f"{raised['type']}: {raised['text'] or statement}" if raised else None


def are_of_libraries(frames: Iterable[Frame]) -> bool:
    """Return whether all frames are in libraries and tools; false without frames."""
    places = [is_of_library(frame) for frame in frames]
    return bool(places) and all(places)


def frames_below(lines: Sequence[str], at: int) -> Iterator[Frame]:
    """Yield the frames below the first line of a traceback, which may have been cut off before its exception."""
    at += 1
    while at < len(lines) and (shown := python_frame(lines, at)) is not None:
        frame, at = shown
        yield frame
