"""The parts of a page under its headings, as offsets into the text."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARK = re.compile(r"<!-- dvwiki:(?:begin|end) ")


class Heading(msgspec.Struct, frozen=True):
    """A Markdown heading: its level and its text."""

    level: int
    words: str


def heading_of(line: str) -> Heading | None:
    """Return the heading on a line; None if the line is not a heading."""
    found = _HEADING.fullmatch(line)
    return Heading(len(found[1]), found[2]) if found else None


def unfenced(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines outside fenced blocks, without their line ends, each with its index.

    A fence that is still open at the next region mark, or at the end, is ignored: it would hide all later headings.
    """
    fence = ""
    inside: list[tuple[int, str]] = []
    for index, line in enumerate(lines):
        bare = line.rstrip("\r\n")
        opened = _FENCE.match(bare)
        if fence and not _MARK.match(bare):
            inside.append((index, bare))
            if opened and opened[1].startswith(fence) and not bare.strip(" `~"):
                fence, inside = "", []
        elif opened:
            fence, inside = opened[1], [(index, bare)]
        else:
            yield from inside
            fence, inside = "", []
            yield index, bare
    yield from inside


def part(text: str, heading: str) -> tuple[int, int] | None:
    """Return the start and end, in characters, of the text under a heading.

    The part ends before the next heading of the same or a higher level, or before a region mark, because the text
    between two region marks does not belong to people.

    Args:
        text: The whole page.
        heading: The text of the heading; if several headings have this text, the first heading is used.
    """
    start: int | None = None
    own_level = 0
    for border in _borders(text):
        if start is None:
            if border.level and border.words == heading.strip():
                start, own_level = border.end, border.level
        elif border.level <= own_level:
            return start, border.start
    return None if start is None else (start, len(text))


def breaks_out(text: str, level: int = 2) -> str | None:
    """Return the first line of new content, such as a heading, that would end its part; None if there is none.

    Args:
        text: The new content.
        level: The level of the part's own heading.
    """
    return next((border.line.strip() for border in _borders(text) if border.level <= level), None)


def level_of(text: str, heading: str) -> int:
    """Return the level of the heading with this text; 0 if there is no such heading."""
    return next((each.level for each in _borders(text) if each.level and each.words == heading.strip()), 0)


class _Border(msgspec.Struct, frozen=True):
    """A line at which a part may begin or end."""

    start: int
    """Offset of the line's first character in the text."""
    end: int
    """Offset just after the line."""
    line: str
    level: int
    """Level of the heading; 0 for a region mark."""
    words: str = ""


def _borders(text: str) -> Iterator[_Border]:
    """Yield the headings and region marks outside fenced blocks."""
    lines = _LINE.findall(text)
    starts = list(accumulate(map(len, lines), initial=0))
    for index, line in unfenced(lines):
        place = starts[index], starts[index + 1]
        if _MARK.match(line):
            yield _Border(*place, line, 0)
        elif found := heading_of(line):
            yield _Border(*place, line, found.level, found.words)
