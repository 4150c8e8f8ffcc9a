"""The folders where make worked, according to its logs."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.capture.processes.tools import makefiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

STOPPED = re.compile(r"^(?:g?make(?:\[\d+\])?|\S*[Mm]akefile\S*:\d+|\S+\.mk:\d+): \*\*\* ")
"""Matches the line that make prints when it stops."""
_TARGET = re.compile(r"^(?:g?make(?:\[\d+\])?): \*\*\* \[(?:\S+: )?([^\]:]+)\] Error \d+$")
"""Matches make's message about a target that it could not make."""
_FOLDER = re.compile(r"^(?:\S*/)?g?make(?:\[\d+\])?: (Entering|Leaving) directory [`'](.+)'$")
_BY_MAKE = re.compile(r"(?:\S*/)?g?make(?:\[(\d+)\])?: ")
"""Matches the start of make's own lines; the group is the level of a recursive make."""
_FAILED_TARGET = re.compile(r"\] (?:Error \d+|[A-Z]\w+)$")
"""Matches the end of make's message about a target whose command failed or was killed."""
_CHANGES = re.compile(
    r"\bEntering directory\b|(?:^|[\s;&|(])(?:cd|pushd) [^\s;&|]|\bg?make\b[^\n]* (?:-\w*C|--directory)[ =]?[\w./]",
    re.MULTILINE,
)
"""Matches a sign that commands in a log ran in another folder."""
_SOURCE = re.compile(r"[^\s'\"`=,;()]+\.(?:vhdl?|s?vh?)(?![\w.])")
"""Matches the path of an HDL file."""
_LACKS = re.compile(r"No rule to make target [`']([^'\n]+)'")
_READ_LIMIT = 1 << 23
"""Maximum number of bytes of a log that are searched for folders where make stopped."""
_START = 1 << 18
"""Maximum number of bytes of a log that are searched for the folder where make was called."""


def builds_in(lines: Iterable[str | None]) -> Iterator[str]:
    """Yield the sections of a log that end where make stopped.

    If make stops only because a make that it called has stopped, no section ends, because that build has ended already.
    A line that is None ends a section, too, but this section is not yielded: it shows no failure.
    """
    stretch: list[str] = []
    stopped_at = 0
    for line in lines:
        by_make = _BY_MAKE.match(line) if line is not None else None
        if line is None or STOPPED.match(line):
            level = int(by_make[1] or 0) if by_make else 0
            if line is not None and not (_FAILED_TARGET.search(line) and level < stopped_at):
                yield "\n".join((*stretch, line))
            stretch, stopped_at = [], level
            continue
        stretch.append(line)
        if line.strip() and not by_make:
            stopped_at = 0


def sources_in(command: str) -> frozenset[str]:
    """Return the names of the HDL files in a command."""
    return frozenset(path.rpartition("/")[2] for path in _SOURCE.findall(command))


def lacking_sources(text: str, folder: Path) -> tuple[str, ...]:
    """Return the missing HDL files that make needed and had no rule for, as absolute paths.

    The paths in the log are relative to the Makefile's folder.
    """
    found = (path for target in _LACKS.findall(text) for path in _SOURCE.findall(target) if path == target)
    return tuple(dict.fromkeys(os.path.normpath(folder / path) for path in found))


def failed_sources(text: str, commands: Sequence[str]) -> frozenset[str]:
    """Return the names of the HDL files of a build that failed; empty if they are unknown.

    Args:
        text: The log of the build, up to the line where make stopped.
        commands: The commands in this log.
    """
    lacking = sources_in(" ".join(_LACKS.findall(text)))
    return lacking or (sources_in(commands[-1]) if commands else frozenset())


def folders_of(log: Path) -> set[str]:
    """Return the folders that make entered or left according to the start of a log."""
    found = map(_FOLDER.match, reading.start_of(log, _START).split("\n"))
    return {each[2] for each in found if each}


def changes_folder(log: Path) -> bool:
    """Return whether some commands in a log ran in another folder; True also if the log is too long to be searched."""
    text = reading.start_of(log, _READ_LIMIT)
    return len(text) >= _READ_LIMIT or _CHANGES.search(text) is not None


def stopped_in(log: Path) -> Iterator[tuple[str, str]]:
    """Yield each folder where make stopped because its own command failed, with make's output in that folder.

    If make is called again in a build folder, such as Verilator's, the failure is attributed to the folder of the
    caller. Nothing is yielded after a point where the output of several calls of make is mixed, as with `make -j`.
    """
    text = reading.start_of(log, _READ_LIMIT)
    if "Entering directory" not in text:
        return
    lines = text.split("\n")
    calls: list[tuple[str, int]] = []
    reported = -1
    for number, line in enumerate(lines):
        found = _FOLDER.match(line)
        if found and found[1] == "Entering":
            calls.append((found[2], number))
        elif found and calls:
            folder, first = calls.pop()
            if found[2] != folder:
                return
            inside = lines[first : number + 1]
            is_stopped = reported <= first and any(map(STOPPED.match, inside))
            if is_stopped and not _builds_in(folder, lines[number + 1 :][:1]):
                yield folder, "\n".join(inside)
                reported = number


def _builds_in(folder: str, following: Sequence[str]) -> bool:
    """Return whether make built only a target of its caller in a folder, such as Verilator's build folder.

    The caller's message about the failed target, which follows make's output, shows this. A folder with a Makefile of
    its own does not count.
    """
    target = next((found[1] for line in following if (found := _TARGET.match(line))), "")
    parent = PurePosixPath(target).parent
    is_inside = parent.name != "" and PurePosixPath(folder).parts[-len(parent.parts) :] == parent.parts
    return is_inside and not makefiles(Path(folder))
