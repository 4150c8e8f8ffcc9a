"""Unfold text that was put into one line, such as a log in a JSON string, in source code or in a CI annotation.

An escaped line feed in such a line starts a new line. Line numbers still refer to the original text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from pytest_dvwiki.triage.texts.run_together import split_run_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MARKS = (b"\\n", b"%0A", b"<br")
_FEED = re.compile(r"(?<!\\)\\n")
_FEED_WITHIN = re.compile(r"(?<!\\)\\\\n")
r"""An escaped line feed in a string within a string: `\\n`."""
_MANY = 3
"""Minimum number of escaped line feeds for unfolding a line that has no quotes, or has format fields."""
_QUOTED = re.compile(r"[\s\[{(,]*(?:[\w.-]+\s*[:=]\s*)?[bu]?(?P<quote>[\"'])")
"""A line that starts with a string, or with a name and its string."""
_QUOTED_BYTES = re.compile(_QUOTED.pattern.encode())
_ONE_OF_A_LIST = re.compile(r"\s*[bu]?(?P<quote>[\"'])(?P<text>.*)\\n(?P=quote)[\s,;+)\\\]]{0,9}$")
"""A line of a text stored as a list of strings, as in the cell outputs of notebooks."""
_OF_A_CONTAINER = re.compile(r'\s*\{"log":\s*"(?P<text>.*)\\n",\s*"stream":[^}]{0,200}\}\s*$')
_STRUCTURE = {quote: re.compile(rf"(?<!\\){quote}") for quote in "\"'"}
_STATEMENT = re.compile(
    r"\b(?:echo|printf?|raise|assert|return|[sf]?write|format|uvm_\w+|log(?:ger|ging)?\.\w+)\b\s*[(\"'-]|\$\w+\s*\("
)
"""Source code that would print a string; its escapes are kept because nothing was printed."""
_FIELD = re.compile(r"%\d*[dshxbtp]\b|\{\w*[!:}]|\bf[\"']")
_DRIVE_PATH = re.compile(r"\b[A-Za-z]:\\[^\s\"']*")
_ESCAPE = re.compile(r"\\(?:u(?P<point>[0-9a-fA-F]{4})|x(?P<byte>[0-9a-fA-F]{2})|(?P<sign>[nrtbf\"'/\\]))")
_MEANT = {"n": "\n", "r": "", "t": "\t", "b": "", "f": ""}
_HALVES = frozenset(map(chr, range(0xD800, 0xE000)))
"""Surrogates. JSON uses a pair for one character; a single one is invalid."""
_ANNOTATION = re.compile(r"::(?:error|warning|notice)\b|##\[error\]")
_PERCENT = re.compile(r"(?:%0D)?%0A", re.IGNORECASE)
_BREAK = re.compile(r"<br ?/?>")


class Folds:
    """Unfolds lines that contain several lines, and maps the line numbers to those of the original text."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        """The number of the first unfolded line of each folded line."""
        self._added = [0]
        """Number of lines added before each folded line; the last item is the total."""
        self._numbers: list[int] = []
        """The original line number of each line of a split text."""

    @property
    def added(self) -> int:
        """Return the number of lines added by unfolding."""
        return self._added[-1]

    def feed(self, block: bytes, count: Callable[[], int] = lambda: 0) -> bytes:
        """Unfold the next complete lines of the text.

        Args:
            block: The lines.
            count: Returns the number of unfolded lines before the block; called only if there is a folded line.
        """
        parts: list[bytes] = []
        done = feeds = 0
        for start, end in _candidate_lines(block):
            text = contained_lines(block[start:end].decode("utf-8", "surrogateescape"))
            if text is None:
                continue
            feeds += block.count(b"\n", done, start) + (0 if parts else count())
            parts += block[done:start], text.encode("utf-8", "surrogateescape")
            done = end
            self._starts.append(feeds + 1)
            self._added.append(self.added + text.count("\n"))
            feeds += text.count("\n")
        return b"".join((*parts, block[done:]))

    def part(self, lines: list[str]) -> list[str]:
        """Return the lines of a complete text, divided further if the text lost its line feeds."""
        found = split_run_together(lines)
        if found is None:
            return lines
        lines, self._numbers = found
        return lines

    def line(self, number: int) -> int:
        """Return the original line number of a line of the unfolded and split text."""
        if self._numbers:
            number = self._numbers[number - 1]
        before = bisect_right(self._starts, number) - 1
        if before < 0:
            return number
        first = self._starts[before] - self._added[before]
        return max(first, number - self._added[before + 1])


def _candidate_lines(block: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end offsets of each line that may contain several lines."""
    # A search for one byte is many times faster than a search for two.
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


def contained_lines(line: str) -> str | None:
    """Return the lines contained in one line, joined by line feeds; None for an ordinary line."""
    one = _OF_A_CONTAINER.match(line) or _ONE_OF_A_LIST.match(line)
    if one is not None and not _FIELD.search(line):
        return _decoded(one["text"])
    if _ANNOTATION.search(line) and _PERCENT.search(line):
        return _PERCENT.sub("\n", line).replace("%25", "%")
    if _BREAK.search(line):
        return _BREAK.sub("\n", line.rstrip().removesuffix("<br>"))
    return _unescaped(line)


def _unescaped(line: str) -> str | None:
    rest = _DRIVE_PATH.sub("", line)
    feeds, within = len(_FEED.findall(rest)), len(_FEED_WITHIN.findall(rest))
    quoted = _QUOTED.match(line)
    if max(feeds, within) < (1 if quoted and not _FIELD.search(line) else _MANY):
        return None
    if quoted:
        line = _STRUCTURE[quoted["quote"]].sub("\n", line)
    elif _STATEMENT.search(line.partition("\\n")[0]):
        return None
    return _decoded(line) if feeds >= within else _decoded(_decoded(line))


def _decoded(text: str) -> str:
    """Return a string with the escapes of JSON, Python or C decoded."""
    return _ESCAPE.sub(_decoded_char, text)


def _decoded_char(escape: re.Match[str]) -> str:
    if escape["sign"]:
        return _MEANT.get(escape["sign"], escape["sign"])
    sign = chr(int(escape["point"] or escape["byte"], 16))
    return "\ufffd" if sign in _HALVES else sign
