"""Parse git's conflict markers, in the styles merge, diff3 and zdiff3."""

from __future__ import annotations

import re

import msgspec

_OURS = re.compile(r"<{7}(?: .*)?\r?\n?")
_BASE = re.compile(r"\|{7}(?: .*)?\r?\n?")
_MIDDLE = re.compile(r"={7}\r?\n?")
_THEIRS = re.compile(r">{7}(?: .*)?\r?\n?")


class Hunk(msgspec.Struct, frozen=True):
    """A conflict, with both versions of the text."""

    line: int
    """Line number of the conflict's first marker, from 1."""
    whole: str
    ours: str
    theirs: str


def may_be_in(data: bytes) -> bool:
    """Return whether a file may hold a conflict."""
    return b"<<<<<<< " in data and b">>>>>>> " in data


def split(text: str) -> list[str | Hunk]:
    """Split a text into plain lines and conflicts; an incomplete conflict is treated as plain text."""
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    parts: list[str | Hunk] = []
    at = 0
    while at < len(lines):
        hunk, after = _hunk(lines, at) if _OURS.fullmatch(lines[at]) else (None, at)
        parts.append(hunk or lines[at])
        at = after if hunk else at + 1
    return parts


def sides(text: str) -> tuple[str, str] | None:
    """Return our and their version of the whole text; None if it has no conflict."""
    parts = split(text)
    if not any(isinstance(part, Hunk) for part in parts):
        return None
    ours = "".join(part if isinstance(part, str) else part.ours for part in parts)
    theirs = "".join(part if isinstance(part, str) else part.theirs for part in parts)
    return ours, theirs


def _hunk(lines: list[str], start: int) -> tuple[Hunk | None, int]:
    """Return the conflict that starts at a line, or None, and the index of the next line."""
    sides: list[list[str]] = [[]]
    stage = 0  # 0 ours, 1 base, 2 theirs
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if stage == 0 and _BASE.fullmatch(line):
            stage = 1
            sides.append([])
        elif stage < 2 and _MIDDLE.fullmatch(line):  # noqa: PLR2004 (the stages are named above)
            stage = 2
            sides.append([])
        elif stage == 2 and _THEIRS.fullmatch(line):  # noqa: PLR2004
            whole = "".join(lines[start : at + 1])
            return Hunk(start + 1, whole, "".join(sides[0]), "".join(sides[-1])), at + 1
        else:
            sides[-1].append(line)
    return None, start
