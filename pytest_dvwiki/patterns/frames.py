"""Frames of tracebacks, as Python and pytest write them."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_dvwiki.model import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# An exception group draws its tracebacks behind bars.
_PYTHON = re.compile(r'[\s|]*File "(?P<file>[^"]{1,1000})", line (?P<line>\d{1,9})(?:, in (?P<function>.+))?$')
_MARKERS = re.compile(r"[\s|]*[~^][\s~^]*$")
_PYTEST = re.compile(r"(?P<file>[^\s:][^:]{0,1000}\.py):(?P<line>\d{1,9}): ?(?:in (?P<function>\S+)|[\w.]+)?$")
_DEF = re.compile(r"[\s>]*(?:async )?def (?P<function>\w+)\(")
_CALLERS = 20
_SOURCE = re.compile(r">? {3,}\S")
# `Lib` is Python's on Windows alone. Of cocotb and pyuvm, whose names projects give to folders of their own, the
# modules that tracebacks go through.
_LIBRARY = re.compile(
    r"/(?:site|dist)-packages/|/lib(?:64)?/python\d[^/]*/|^<|/\.?pyenv/versions/[^/]+/lib/"
    r"|^[A-Za-z]:/(?:[^/]+/)*Lib/(?!site)"
    r"|/(?:cocotb_tools|pygpi|_pytest|pluggy)/[\w/]+\.py$"
    r"|/cocotb/(?:_\w+|decorators|handle|log|outcomes|queue|regression|result|scheduler|task|triggers|types/\w+)\.py$"
    r"|/pyuvm/(?:_\w+|s\d\d_\w+|extension_classes|error_classes|utility_classes)\.py$"
)


@functools.lru_cache(maxsize=1024)
def is_library(file: str) -> bool:
    """Whether a frame's file belongs to Python, to an installed package, or to a checkout of a testbench library."""
    return _LIBRARY.search(file.replace("\\", "/")) is not None


def user_frame(frames: Iterable[Frame]) -> Frame | None:
    """Return the first frame that is the user's, with the user's frames behind it as its callers.

    Args:
        frames: From the inside out.
    """
    own = [frame for frame in frames if not is_library(frame.file)]
    if not own:
        return None
    return replace(own[0], callers=tuple(f"{caller(frame.file)}:{frame.line}" for frame in own[1 : _CALLERS + 1]))


def caller(file: str) -> str:
    """Return how a caller's file is named: without its folders, which differ from machine to machine."""
    return file.replace("\\", "/").rpartition("/")[2]


def indent(line: str) -> int:
    """How far right a line of a traceback begins, the bars of an exception group left aside."""
    return len(line) - len(line.lstrip(" \t|+"))


def python_frame(lines: Sequence[str], at: int) -> tuple[Frame, int] | None:
    """The frame that a line of Python's traceback names, with the source below it, and the index behind both."""
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
    """The frames of pytest's report by the index of the line that names the place, the innermost last.

    pytest shows the source first and then its place (`file.py:12: TypeError`), or the place and then the source
    (`file.py:12: in check`).
    """
    found: dict[int, Frame] = {}
    source = function = ""
    for at, line in enumerate(lines):
        place = _PYTEST.match(line)
        if place is not None and place["function"]:
            below = lines[at + 1] if at + 1 < len(lines) and _SOURCE.match(lines[at + 1]) else ""
            told = below.lstrip("> ").rstrip()
            found[at] = Frame(file=place["file"], line=int(place["line"]), function=place["function"], source=told)
        elif place is not None:
            found[at] = Frame(file=place["file"], line=int(place["line"]), function=function, source=source)
            source = function = ""
        elif line.startswith(">"):
            source = line[1:].strip()
        if (definition := _DEF.match(line)) is not None:
            function = definition["function"]
    return found
