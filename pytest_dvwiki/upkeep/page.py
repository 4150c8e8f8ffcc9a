"""A page as read by the checks: all lines, and the lines written by people."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.parts import heading_of, unfenced

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.wiki.page_summary import PageSummary

_MARK = re.compile(r"<!-- dvwiki:(begin|end) ")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


class PageLine(Struct, frozen=True):
    """A line of a page's text."""

    number: int
    """Number of the line in the file, from 1."""
    text: str
    section: str
    """Text of the nearest heading above the line, or of the line itself if it is a heading."""
    in_region: bool
    """Whether the line is in a region, which only dvwiki writes."""


class PageText(Struct, frozen=True, dict=True):
    """The text of one page, without its frontmatter."""

    listed: PageSummary
    raw: str

    @classmethod
    def read(cls, wiki: Path, listed: PageSummary) -> PageText:
        """Read a page of a wiki.

        The text is empty if the page cannot be read, or is a symlink to a file outside the wiki.
        """
        try:
            raw = outside.read(wiki, listed.path).decode("utf-8", "replace")
        except OSError:
            raw = ""
        return cls(listed, raw.replace("\r\n", "\n").removeprefix("\ufeff"))

    @cached_property
    def lines(self) -> tuple[PageLine, ...]:
        """Return the lines after the frontmatter, without fenced blocks."""
        return tuple(self._outside_fences())

    @cached_property
    def people(self) -> tuple[PageLine, ...]:
        """Return the lines written by people: those outside comments and regions."""
        found: list[PageLine] = []
        in_comment = False
        for line in self.lines:
            if in_comment or line.text.lstrip().startswith("<!--"):
                in_comment = "-->" not in line.text
            elif not line.in_region:
                found.append(line)
        return tuple(found)

    def _outside_fences(self) -> Iterator[PageLine]:
        lines = self.raw.split("\n")
        start = self.raw.count("\n") - pages.body(self.raw).count("\n")
        section, in_region = "", False
        for index, text in unfenced(lines[start:]):
            heading = heading_of(text)
            section = heading.words if heading else section
            mark = _MARK.match(text)
            in_region = mark[1] == "begin" if mark else in_region
            yield PageLine(start + index + 1, text, section, in_region)


def without_code(text: str) -> str:
    """Return a line with its code spans blanked out, so that all other characters keep their positions."""
    return _CODE.sub(lambda span: " " * len(span[0]), text)
