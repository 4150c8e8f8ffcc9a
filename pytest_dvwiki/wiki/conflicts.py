"""Git's conflicts in pages: those that lie in what the tool owns settle themselves, the rest a person settles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_dvwiki.wiki import pages
from pytest_dvwiki.wiki.pages import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_OURS = re.compile(r"<{7}(?: .*)?\r?\n?")
_BASE = re.compile(r"\|{7}(?: .*)?\r?\n?")
_MIDDLE = re.compile(r"={7}\r?\n?")
_THEIRS = re.compile(r">{7}(?: .*)?\r?\n?")


@dataclass(frozen=True, slots=True)
class _Hunk:
    line: int
    whole: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A page after the tool's share of its conflicts is settled."""

    data: bytes
    open_lines: tuple[int, ...]
    """Lines, in the page before, of the conflicts that a person has to settle."""


def has_conflict(data: bytes) -> bool:
    """Whether a page may hold a conflict."""
    return b"<<<<<<< " in data and b">>>>>>> " in data


def settle(data: bytes, owned: Collection[str]) -> Settled | None:
    """Settles every conflict whose two sides differ only in owned keys and regions.

    What stands there afterwards is one of the sides; the next build makes it right.

    Args:
        data: The page.
        owned: Keys that the tool owns on it.

    Returns:
        None where the page holds no conflict.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    parts = _parse(text)
    hunks = [part for part in parts if isinstance(part, _Hunk)]
    if not hunks:
        return None
    theirs_of = {hunk for hunk in hunks if not _is_owned(parts, hunk, owned)}
    kept = "".join(part if isinstance(part, str) else part.whole if part in theirs_of else part.ours for part in parts)
    return Settled(kept.encode(), tuple(hunk.line for hunk in hunks if hunk in theirs_of))


def _is_owned(parts: Sequence[str | _Hunk], hunk: _Hunk, owned: Collection[str]) -> bool:
    """Whether it makes no difference to people's part of the page which side of a conflict is taken."""
    sides = (hunk.ours, hunk.theirs)
    skeletons = []
    for side in sides:
        text = "".join(part if isinstance(part, str) else side if part is hunk else part.ours for part in parts)
        skeleton = pages.skeleton(text.encode(), owned)
        if isinstance(skeleton, Refused):
            return False
        skeletons.append(skeleton)
    return skeletons[0] == skeletons[1]


def _parse(text: str) -> list[str | _Hunk]:
    """The text in parts; a marker without its fellows is text."""
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    parts: list[str | _Hunk] = []
    at = 0
    while at < len(lines):
        hunk, after = _hunk(lines, at) if _OURS.fullmatch(lines[at]) else (None, at)
        parts.append(hunk or lines[at])
        at = after if hunk else at + 1
    return parts


def _hunk(lines: list[str], start: int) -> tuple[_Hunk | None, int]:
    """A conflict that begins at a line, and the line after it."""
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
            return _Hunk(start + 1, whole, "".join(sides[0]), "".join(sides[-1])), at + 1
        else:
            sides[-1].append(line)
    return None, start
