"""Parse Python tracebacks: the exception, its message, and the user's frame that raised it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.logtext.frames import indent, python_frame, report_frames
from pytest_dvwiki.logtext.frames import user_frame as innermost_user_frame
from pytest_dvwiki.model import Frame
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_EXCEPTION = re.compile(r"^[\s|]*(?:[A-Za-z_]\w*\.)*(?P<type>[A-Z]\w*)(?:: (?P<message>.*))?$")
# cocotb 1.9 logs the traceback of a failed import, whose first line therefore has the log's prefix.
_HEADING = re.compile(
    r"^(?P<before>[\s|+]*|\s*[\d.-]+[a-z]+\s+[A-Z]+\s+\S+\s+)(?:Exception Group )?Traceback \(most recent call last\):$"
)


class Trace(Struct, frozen=True):
    """The exception and frame of a traceback."""

    exception: str
    """Type of the exception, without its module."""
    message: str
    """Message of the exception: only its first line, unless an indentation shows where the message ends."""
    frame: Frame | None


def shown_path(path: str, root: Path) -> str:
    """Return a path as stored in records: relative to the root or, outside the root, its last two components."""
    plain = path.replace("\\", "/")
    base = root.as_posix().rstrip("/") + "/"
    if plain.startswith(base):
        return plain[len(base) :]
    parts = PurePosixPath(plain).parts
    absolute = plain.startswith("/") or plain[1:3] == ":/"
    return "/".join(part for part in (parts[-2:] if absolute else parts) if part != "/")


def user_frame(text: str, root: Path) -> Frame | None:
    """Return the innermost frame of the user's code, from the last traceback that has one; None if there is none.

    The traceback can be Python's own, or pytest's in its long or short style.
    """
    frame = innermost_user_frame(_innermost_first(text.split("\n")))
    if frame is None:
        return None
    return Frame(
        file=redact(shown_path(frame.file, root)),
        line=frame.line,
        function=redact(frame.function),
        source=redact(frame.source),
        callers=tuple(map(redact, frame.callers)),
        call=redact(frame.call),
    )


def _innermost_first(lines: Sequence[str]) -> Iterator[Frame]:
    of_pytest = report_frames(lines)
    for at in range(len(lines) - 1, -1, -1):
        if (shown := python_frame(lines, at)) is not None:
            # The place of a SyntaxError has no function.
            yield replace(shown[0], function=shown[0].function or "<module>")
        elif at in of_pytest:
            yield of_pytest[at]


def last_trace(text: str, root: Path) -> Trace | None:
    """Return the last traceback in a string, or the exception at its start; None if there is neither."""
    lines = text.split("\n")
    headings = [(i, found.end("before")) for i, line in enumerate(lines) if (found := _HEADING.match(line))]
    start, margin = headings[-1] if headings else (0, indent(lines[0]))
    # A SyntaxError shows its file below the heading without a function; frames end at the first line that is indented
    # no more than the heading and names an exception.
    for index in range(start + 1 if headings else 0, len(lines)):
        found = _EXCEPTION.match(lines[index])
        if found and indent(lines[index]) <= margin:
            message = [found["message"] or "", *_continued(lines[index + 1 :], margin)]
            return Trace(found["type"], redact("\n".join(message)), user_frame(text, root))
        if not headings and lines[index].strip():
            return None
    return None


def _continued(lines: Sequence[str], margin: int) -> Iterator[str]:
    """Yield the continuation lines of a message, up to the first line that is indented less than the traceback."""
    for line in lines if margin else ():
        if not line.strip() or line[:margin].strip(" |"):
            return
        yield line[margin:]
