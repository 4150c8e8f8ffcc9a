"""Text from outside as Markdown that stays text.

A log may hold anything: back-ticks, pipes, HTML comments, headings, conflict markers, the marks of regions. None of it
may leave the span, the cell or the fence into which it is put.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_LINE = 300
_MARKUP = re.compile(r"[\\`*\[\]<>|~&#!$]|(?<!\w)_|_(?!\w)")
_TOKENS = re.compile(r"\b(?:V|T|UUID|DATE)\b")
_DOTS = re.compile(r"…(?:[\s,]*…)+")
_PLACES = re.compile(r"\s*(?:\(…\)|@ ?…(?=\W|$))")
_PIPE = re.compile(r"(?<!\\)\|")
_TICKS = re.compile(r"`+")
# A code span or fence, which ends with as many back-ticks as it began with, or a character that a backslash frees.
_CODE_OR_ESCAPE = re.compile(r"(?s)(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)|\\(?P<character>[!-/:-@\[-`{-~])")
_SPAN = re.compile(r"((?<!`)`[^`]+`(?!`))")
# At the start of a line in a fence: marks of regions, and what git would write for a conflict.
_MARKS = re.compile(r"<!-- dvwiki:|<{7}|={7}|>{7}|\|{7}")
_CITED = re.compile(r"[^\w./+:@=,-]+")


def one_line(text: str, limit: int = LONGEST_LINE) -> str:
    """A text on one line, cut at a word with `…` where it is longer than the limit."""
    # Most cells of long tables are one word.
    is_word = " " not in text and text.isascii() and text.isprintable()
    line = text if is_word else " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    word = head.rfind(" ")
    return f"{head[:word] if word > limit // 2 else head}…"


def escape(text: str) -> str:
    """A text as plain words of a line of Markdown."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", text)


def plain(text: str) -> str:
    """Markdown as the words that its reader sees where these were escaped; code stays as it is."""
    return _CODE_OR_ESCAPE.sub(lambda found: found["character"] or found[0], text)


def prose(text: str) -> str:
    """Words of people's on one line: their code spans stay, and nothing else in them is Markdown."""
    parts = _SPAN.split(one_line(text))
    return "".join(part if at % 2 else escape(part) for at, part in enumerate(parts))


def code(text: str, limit: int = LONGEST_LINE) -> str:
    """A text as a code span, whatever back-ticks it holds."""
    line = one_line(text, limit)
    if not line:
        return ""
    if "`" not in line:
        return f"`{line}`"
    ticks = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    gap = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{gap}{line}{gap}{ticks}"


def fence(text: str, language: str = "text", limit: int = LONGEST_LINE) -> str:
    """A text as a fenced block, the fence one back-tick longer than the longest run inside; long lines are cut."""
    lines = [
        f" {line}" if _MARKS.match(line) else line[:limit].rstrip()
        for line in clean(text).expandtabs().strip("\n").split("\n")
    ]
    longest = max(map(len, _TICKS.findall("\n".join(lines))), default=0)
    ticks = "`" * max(3, longest + 1)
    return "\n".join([f"{ticks}{language}", *lines, ticks])


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells are Markdown, a pipe in one is escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(map(table_row, lines))


def table_row(cells: Sequence[str]) -> str:
    """One row of a table."""
    row = f"| {' | '.join(cells)} |"
    if row.isprintable() and "  " not in row and row.count("|") == len(cells) + 1:
        return row
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    line = " ".join(text.split())
    return _PIPE.sub(r"\\|", line) if "|" in line else line


def in_words(primary: str, limit: int = 90) -> str:
    """What a message says, with `…` for all that differs from one occurrence to the next."""
    return told_in_words(mask(primary), limit)


def told_in_words(masked: str, limit: int) -> str:
    """The same of a message that is masked already."""
    words = _DOTS.sub("…", _TOKENS.sub("…", masked.replace("XZ", "X/Z")))
    return one_line(_PLACES.sub("", words), limit)


def cite(task_id: str, log: str | None = None, line: int | None = None) -> str:
    """Names the run that a claim comes from, and the line of a log where there is one."""
    if log is None:
        return f"(source: tasks/{task_id}.yaml)"
    place = _CITED.sub("_", log) + (f":{line}" if line is not None else "")
    return f"(source: tasks/{task_id}.yaml | log: {place})"
