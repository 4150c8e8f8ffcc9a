"""Parse traceback frames in the formats of Python and pytest."""

from __future__ import annotations

import functools
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.model import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# An exception group prints its tracebacks with a margin of bars.
_PYTHON = re.compile(r'[\s|]*File "(?P<file>[^"]{1,1000})", line (?P<line>\d{1,9})(?:, in (?P<function>.+))?$')
_MARKERS = re.compile(r"[\s|]*[~^][\s~^]*$")
_PYTEST = re.compile(r"(?P<file>[^\s:][^:]{0,1000}\.py):(?P<line>\d{1,9}): ?(?:in (?P<function>\S+)|[\w.]+)?$")
_DEF = re.compile(r"[\s>]*(?:async )?def (?P<function>\w+)\(")
_CALLERS = 20
_SOURCE = re.compile(r">? {3,}\S")
# `Lib` is Python's folder on Windows only. Projects name folders of their own after cocotb and pyuvm, so only the
# modules of these libraries that appear in tracebacks count.
_LIBRARY = re.compile(
    r"/(?:site|dist)-packages/|/lib(?:64)?/python\d[^/]*/|^<|/\.?pyenv/versions/[^/]+/lib/"
    r"|^[A-Za-z]:/(?:[^/]+/)*Lib/(?!site)|/libexec/|/share/yosys/"
    r"|/(?:cocotb_tools|pygpi|_pytest|pluggy|pytest_dvwiki)/[\w/]+\.py$"
    r"|/cocotb/(?:_\w+|decorators|handle|log|outcomes|queue|regression|result|scheduler|task|triggers|types/\w+)\.py$"
    r"|/pyuvm/(?:_\w+|s\d\d_\w+|extension_classes|error_classes|utility_classes)\.py$"
)


_ENTRY = re.compile(r"/(?:bin|Scripts)/[^/]+$")
"""The file of an installed command, which only calls a function of a library: `sys.exit(main())`."""


@functools.lru_cache(maxsize=1024)
def is_library(file: str) -> bool:
    """Return whether a frame's file is part of Python, an installed package or a checkout of a testbench library."""
    return _LIBRARY.search(file.replace("\\", "/")) is not None


def is_of_library(frame: Frame) -> bool:
    """Return whether a frame is in a library, or calls one in the script of an installed command."""
    is_entry = frame.source.startswith("sys.exit(") and _ENTRY.search(frame.file.replace("\\", "/")) is not None
    return is_entry or is_library(frame.file)


def user_frame(frames: Iterable[Frame]) -> Frame | None:
    """Return the innermost frame of the user's code, with further frames of the user's code as its callers.

    The given frames begin with the innermost. Return None if all of them are in libraries.
    """
    own = [frame for frame in frames if not is_of_library(frame)]
    if not own:
        return None
    return replace(
        own[0],
        callers=tuple(f"{caller(frame.file)}:{frame.line}" for frame in own[1 : _CALLERS + 1]),
        call=_call_into(own),
    )


def _call_into(frames: Sequence[Frame]) -> str:
    """Return the statement in another file that called into the innermost frame's file.

    Return an empty string if the statement does not name the called function, because a library is in between.
    """
    for inner, outer in pairwise(frames):
        if outer.file != inner.file:
            return outer.source if f"{inner.function}(" in outer.source else ""
    return ""


def caller(file: str) -> str:
    """Return the name of a caller's file without its folders, which differ from machine to machine."""
    return file.replace("\\", "/").rpartition("/")[2]


def indent(line: str) -> int:
    """Return the indentation of a line of a traceback, including the bars of an exception group."""
    return len(line) - len(line.lstrip(" \t|+"))


def python_frame(lines: Sequence[str], at: int) -> tuple[Frame, int] | None:
    """Return the frame that begins at a line of a Python traceback, and the index after it; None if there is none."""
    found = _PYTHON.match(lines[at])
    if found is None:
        return None
    margin = indent(lines[at])
    source = ""
    end = at + 1
    while end < len(lines) and indent(lines[end]) > margin and not _PYTHON.match(lines[end]):
        if not source and not _MARKERS.match(lines[end]):
            source = lines[end].lstrip(" \t|").rstrip()
        end += 1
    function = (found["function"] or "").strip()
    return Frame(file=found["file"], line=int(found["line"]), function=function, source=source), end


def report_frames(lines: Sequence[str]) -> dict[int, Frame]:
    """Return the frames of a pytest report, the innermost last. The key of a frame is the index of its location's line.

    pytest prints the location below the source (`file.py:12: TypeError`) or above it (`file.py:12: in check`).
    """
    found: dict[int, Frame] = {}
    source = function = ""
    for at, line in enumerate(lines):
        place = _PYTEST.match(line)
        if place is not None and place["function"]:
            below = lines[at + 1] if at + 1 < len(lines) and _SOURCE.match(lines[at + 1]) else ""
            code = below.lstrip("> ").rstrip()
            found[at] = Frame(file=place["file"], line=int(place["line"]), function=place["function"], source=code)
        elif place is not None:
            found[at] = Frame(file=place["file"], line=int(place["line"]), function=function, source=source)
            source = function = ""
        elif line.startswith(">"):
            source = line[1:].strip()
        if (definition := _DEF.match(line)) is not None:
            function = definition["function"]
    return found
