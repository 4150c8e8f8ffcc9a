"""Reads Python tracebacks out of texts: the exception, its message, and the user's frame that it came from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_dvwiki.model import Frame
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# An exception group draws its tracebacks behind bars.
_FRAME = re.compile(r'^[\s|]*File "(?P<file>[^"]+)", line (?P<line>\d{1,9})(?:, in (?P<function>.+))?$')
_EXCEPTION = re.compile(r"^[\s|]*(?:[A-Za-z_]\w*\.)*(?P<type>[A-Z]\w*)(?:: (?P<message>.*))?$")
_PYTEST_FRAME = re.compile(r"^(?P<file>[^\s:][^:\n]*\.py):(?P<line>\d{1,9}): ?[\w.]*$")
_SHORT_FRAME = re.compile(r"^(?P<file>[^\s:][^:\n]*\.py):(?P<line>\d{1,9}): in (?P<function>\S.*)$")
_PYTEST_SOURCE = re.compile(r"^> +(?P<source>\S.*)$")
_PYTEST_FUNCTION = re.compile(r"^[ >]+(?:async )?def (?P<function>\w+)\(")
# cocotb 1.9 logs the traceback of a failed import, so that its first line has the prefix of the log.
_HEADING = re.compile(
    r"^(?P<before>[\s|+]*|\s*[\d.-]+[a-z]+\s+[A-Z]+\s+\S+\s+)(?:Exception Group )?Traceback \(most recent call last\):$"
)
_LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python\d[\d.]*t?/|^<frozen |/\.?pyenv/versions/[^/]+/lib/")
_MARKERS = re.compile(r"^[\s|]*[\^~]+[\s^~]*$")


@dataclass(frozen=True, slots=True)
class Trace:
    """The last exception that a text shows."""

    exception: str
    """Its type, without the module."""
    message: str
    """Its message; of several lines where the text is indented, so that its end can be told."""
    frame: Frame | None


def shown_path(path: str, root: Path) -> str:
    """A path as records show it: relative to the root with `/`; outside it the last two parts."""
    plain = path.replace("\\", "/")
    base = root.as_posix().rstrip("/") + "/"
    if plain.startswith(base):
        return plain[len(base) :]
    parts = PurePosixPath(plain).parts
    absolute = plain.startswith("/") or plain[1:3] == ":/"
    return "/".join(part for part in (parts[-2:] if absolute else parts) if part != "/")


def user_frame(text: str, root: Path) -> Frame | None:
    """The innermost frame outside Python and its installed packages, of the last traceback that has one.

    The traceback may be Python's, or pytest's in its long or short style.
    """
    lines = text.split("\n")
    for index in range(len(lines) - 1, -1, -1):
        if found := _FRAME.match(lines[index]):
            function, source = (found["function"] or "<module>").strip(), _source(lines, index)
        elif found := _PYTEST_FRAME.match(lines[index]):
            function, source = _above(lines[:index], _PYTEST_FUNCTION), _above(lines[:index], _PYTEST_SOURCE)
        elif found := _SHORT_FRAME.match(lines[index]):
            function, source = found["function"].strip(), _source(lines, index)
        else:
            continue
        if not is_library(found["file"]):
            file = shown_path(found["file"], root)
            return Frame(file=redact(file), line=int(found["line"]), function=redact(function), source=redact(source))
    return None


def is_library(file: str) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    return _LIBRARY.search(file.replace("\\", "/")) is not None or file.startswith("<")


def last_trace(text: str, root: Path) -> Trace | None:
    """The last traceback of a text, or the bare exception where the text begins with one."""
    lines = text.split("\n")
    headings = [(i, found.end("before")) for i, line in enumerate(lines) if (found := _HEADING.match(line))]
    start, indent = headings[-1] if headings else (0, _indent(lines[0]))
    # A SyntaxError shows its file below the heading without a function; frames end at the first line that is as far
    # left as the heading and names an exception.
    for index in range(start + 1 if headings else 0, len(lines)):
        found = _EXCEPTION.match(lines[index])
        if found and _indent(lines[index]) <= indent:
            message = [found["message"] or "", *_continued(lines[index + 1 :], indent)]
            return Trace(found["type"], redact("\n".join(message)), user_frame(text, root))
        if not headings and lines[index].strip():
            return None
    return None


def _continued(lines: Sequence[str], indent: int) -> Iterator[str]:
    """The further lines of a message, up to the first that is not as far right as the traceback."""
    for line in lines if indent else ():
        if not line.strip() or line[:indent].strip(" |"):
            return
        yield line[indent:]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" |+"))


def _above(lines: Sequence[str], pattern: re.Pattern[str]) -> str:
    """What a pattern finds in the nearest line above, within the same frame of pytest's report."""
    for line in reversed(lines):
        if found := pattern.match(line):
            return found[1]
        if _PYTEST_FRAME.match(line):
            break
    return ""


def _source(lines: Sequence[str], index: int) -> str:
    """The source line that a traceback shows under a frame."""
    following = lines[index + 1] if index + 1 < len(lines) else ""
    if _FRAME.match(following) or _MARKERS.match(following) or _indent(following) <= _indent(lines[index]):
        return ""
    return following.strip(" |")
