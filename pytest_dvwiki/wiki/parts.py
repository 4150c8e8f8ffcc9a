"""The parts of a page under its headings, found without moving a byte."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\r?")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARK = re.compile(r"<!-- dvwiki:(?:begin|end) ")


def part(text: str, heading: str) -> tuple[int, int] | None:
    """Start and end, in characters, of what stands under a heading.

    It reaches to the next heading of the same level or above, or to the mark of a region: what lies between marks is
    not people's.

    Args:
        text: The whole page.
        heading: The heading's words; of several headings with these words the first.
    """
    start: int | None = None
    own_level = 0
    for offset, line, level in _structure(text):
        if start is None:
            if level and _words(line) == heading.strip():
                start, own_level = offset + len(line), level
        elif not level or level <= own_level:
            return start, offset
    return None if start is None else (start, len(text))


def breaks_out(text: str, level: int = 2) -> str | None:
    """The first line of a text that would end the part into which it is put: a heading, or a mark of a region.

    Args:
        text: Markdown.
        level: Of the part's own heading.
    """
    return next((line.strip() for _, line, found in _structure(text) if found <= level), None)


def level_of(text: str, heading: str) -> int:
    """The level of a heading, 0 where a page has none with these words."""
    return next((level for _, line, level in _structure(text) if level and _words(line) == heading.strip()), 0)


def _structure(text: str) -> Iterator[tuple[int, str, int]]:
    """Headings with their levels, and marks of regions as level 0, outside of fenced blocks."""
    fence = ""
    for found in _LINE.finditer(text):
        offset, line = found.start(), found[0]
        bare = line.rstrip("\r\n")
        opened = _FENCE.match(bare)
        if _MARK.match(bare):  # also where people left a fence open: no part reaches into a region
            fence = ""
            yield offset, line, 0
        elif fence:
            if opened and opened[1].startswith(fence) and not bare.strip(" `~"):
                fence = ""
        elif opened:
            fence = opened[1]
        elif heading := _HEADING.fullmatch(bare):
            yield offset, line, len(heading[1])


def _words(line: str) -> str:
    found = _HEADING.fullmatch(line.rstrip("\r\n"))
    return found[2] if found else ""
