"""Texts that somebody wrote into one line: a log as a string of JSON or of source code, an annotation of CI.

What follows an escaped line feed there is a line of its own. The numbers of lines stay those of the text as it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from pytest_dvwiki.triage.parted import parted

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKS = (b"\\n", b"%0A", b"<br")
_FEED = re.compile(r"(?<!\\)\\n")
_FEED_WITHIN = re.compile(r"(?<!\\)\\\\n")
"""A line feed in a string within a string."""
_MANY = 3
"""Line feeds from which on a line is a text, where no quote says so, or it has fields to be filled in."""
_QUOTED = re.compile(r"[\s\[{(,]*(?:[\w.-]+\s*[:=]\s*)?[bu]?(?P<quote>[\"'])")
"""A line that begins with a string, or with a name and its string."""
_QUOTED_BYTES = re.compile(_QUOTED.pattern.encode())
_ONE_OF_A_LIST = re.compile(r"\s*[bu]?(?P<quote>[\"'])(?P<text>.*)\\n(?P=quote)[\s,;+)\\\]]{0,9}$")
"""A line of a text that is kept as a list of strings, as notebooks keep what a cell printed."""
_OF_A_CONTAINER = re.compile(r'\s*\{"log":\s*"(?P<text>.*)\\n",\s*"stream":[^}]{0,200}\}\s*$')
_STRUCTURE = {quote: re.compile(rf"(?<!\\){quote}") for quote in "\"'"}
_STATEMENT = re.compile(
    r"\b(?:echo|printf?|raise|assert|return|[sf]?write|format|uvm_\w+|log(?:ger|ging)?\.\w+)\b\s*[(\"'-]|\$\w+\s*\("
)
"""Source code that prints a string: nothing was printed yet."""
_FIELD = re.compile(r"%\d*[dshxbtp]\b|\{\w*[!:}]|\bf[\"']")
_DRIVE_PATH = re.compile(r"\b[A-Za-z]:\\[^\s\"']*")
_ESCAPE = re.compile(r"\\(?:u(?P<point>[0-9a-fA-F]{4})|x(?P<byte>[0-9a-fA-F]{2})|(?P<sign>[nrtbf\"'/\\]))")
_MEANT = {"n": "\n", "r": "", "t": "\t", "b": "", "f": ""}
_HALVES = frozenset(map(chr, range(0xD800, 0xE000)))
"""What JSON writes two of for a sign beyond four digits; alone it is none."""
_ANNOTATION = re.compile(r"::(?:error|warning|notice)\b|##\[error\]")
_PERCENT = re.compile(r"(?:%0D)?%0A", re.IGNORECASE)
_BREAK = re.compile(r"<br ?/?>")


class Folds:
    """Unfolds the blocks of a text, and knows where their lines stood."""

    def __init__(self) -> None:
        self._feeds = 0
        self._starts: list[int] = []
        """Numbers, unfolded, of the first lines of what was one line."""
        self._added = [0]
        """How many lines there were more than in the text before each of them, and in the end."""
        self._numbers: list[int] = []
        """Of each line of a text that was taken apart, the number of the one in which it stood."""

    @property
    def added(self) -> int:
        """How many lines there are more than in the text."""
        return self._added[-1]

    def feed(self, block: bytes) -> bytes:
        """The next whole lines of the text, unfolded."""
        parts: list[bytes] = []
        done = 0
        for start, end in _marked(block):
            text = unfolded(block[start:end].decode("utf-8", "surrogateescape"))
            if text is None:
                continue
            self._feeds += block.count(b"\n", done, start)
            parts += block[done:start], text.encode("utf-8", "surrogateescape")
            done = end
            self._starts.append(self._feeds + 1)
            self._added.append(self.added + text.count("\n"))
            self._feeds += text.count("\n")
        self._feeds += block.count(b"\n", done)
        return b"".join((*parts, block[done:]))

    def part(self, lines: list[str]) -> list[str]:
        """The lines of a whole text, taken apart where their line feeds were lost."""
        found = parted(lines)
        if found is None:
            return lines
        lines, self._numbers = found
        return lines

    def line(self, number: int) -> int:
        """The number in the text of a line that was counted unfolded and taken apart."""
        if self._numbers:
            number = self._numbers[number - 1]
        before = bisect_right(self._starts, number) - 1
        if before < 0:
            return number
        first = self._starts[before] - self._added[before]
        return max(first, number - self._added[before + 1])


def _marked(block: bytes) -> Iterator[tuple[int, int]]:
    """Where the lines begin and end that may be folded."""
    # To look for one byte is many times faster than to look for two.
    marks = [re.escape(mark) for mark in _MARKS if mark[:1] in block and mark in block]
    if not marks:
        return
    end = 0
    for mark in re.finditer(b"|".join(marks), block):
        if mark.start() >= end:
            start = block.rfind(b"\n", 0, mark.start()) + 1
            end = block.find(b"\n", mark.end())
            end = end if end >= 0 else len(block)
            if mark[0] != _MARKS[0] or block.count(mark[0], start, end) >= _MANY or _QUOTED_BYTES.match(block, start):
                yield start, end


def unfolded(line: str) -> str | None:
    """The lines that one line holds; None where it is a line as any other."""
    one = _OF_A_CONTAINER.match(line) or _ONE_OF_A_LIST.match(line)
    if one is not None and not _FIELD.search(line):
        return _meant(one["text"])
    if _ANNOTATION.search(line) and _PERCENT.search(line):
        return _PERCENT.sub("\n", line).replace("%25", "%")
    if _BREAK.search(line):
        return _BREAK.sub("\n", line.rstrip().removesuffix("<br>"))
    return _unescaped(line)


def _unescaped(line: str) -> str | None:
    told = _DRIVE_PATH.sub("", line)
    feeds, within = len(_FEED.findall(told)), len(_FEED_WITHIN.findall(told))
    quoted = _QUOTED.match(line)
    if max(feeds, within) < (1 if quoted and not _FIELD.search(line) else _MANY):
        return None
    if quoted:
        line = _STRUCTURE[quoted["quote"]].sub("\n", line)
    elif _STATEMENT.search(line.partition("\\n")[0]):
        return None
    return _meant(line) if feeds >= within else _meant(_meant(line))


def _meant(text: str) -> str:
    """A string as it was before it was written as one of JSON, Python or C."""
    return _ESCAPE.sub(_sign, text)


def _sign(escape: re.Match[str]) -> str:
    if escape["sign"]:
        return _MEANT.get(escape["sign"], escape["sign"])
    sign = chr(int(escape["point"] or escape["byte"], 16))
    return "\ufffd" if sign in _HALVES else sign
