"""Escapes untrusted text for Markdown.

A log can contain anything: backticks, pipes, HTML comments, headings, conflict markers, region markers. None of these
may end the code span, table cell or fenced block that quotes the log.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_LINE = 300
_MARKUP = re.compile(r"[\\`*\[\]<>|~&#!$]|(?<!\w)_+|_+(?!\w)")
_NAMED_XZ = re.compile(r"\bXZ(?= ?=(?!=))")
"""Matches the mask `XZ` before `=`: there it stands for a name such as `x2`, not for an unknown value."""
_TOKENS = re.compile(r"\b(?:V|T|UUID|DATE)\b")
_DOTS = re.compile(r"…(?:[\s,]*…)+")
_PLACES = re.compile(r"\s*(?:\(…\)|@ ?…(?=\W|$))")
_PIPE = re.compile(r"(?<!\\)\|")
_TICKS = re.compile(r"`+")
# Matches an escaped character, or a code span or fence, which ends with as many backticks as it begins with.
_CODE_OR_ESCAPE = re.compile(r"(?s)(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)|\\(?P<character>[!-/:-@\[-`{-~])")
_SPAN = re.compile(r"((?<!`)`[^`]+`(?!`))")
# At the start of a line in a fence: region markers, and git's conflict markers.
_MARKS = re.compile(r"<!-- dvwiki:|<{7}|={7}|>{7}|\|{7}")
_CITED = re.compile(r"[^\w./+:@=,-]+")


def one_line(text: str, limit: int = LONGEST_LINE) -> str:
    """Put text on one line; if it has more than `limit` characters, cut it at a word and add `…`."""
    # A fast path, because most cells of long tables have one word.
    is_word = " " not in text and text.isascii() and text.isprintable()
    line = text if is_word else " ".join(clean(text).split())
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    word = head.rfind(" ")
    return f"{head[:word] if word > limit // 2 else head}…"


def escape(text: str) -> str:
    """Escape text so that Markdown shows it literally."""
    return _MARKUP.sub(lambda found: "".join(f"\\{each}" for each in found[0]), text)


def plain(text: str) -> str:
    """Remove the backslashes before escaped characters in Markdown; code stays as it is."""
    return _CODE_OR_ESCAPE.sub(lambda found: found["character"] or found[0], text)


def prose(text: str, limit: int = LONGEST_LINE) -> str:
    """Put a person's text on one line; code spans are kept, all other Markdown is escaped."""
    parts = _SPAN.split(one_line(text, limit))
    return "".join(part if at % 2 else escape(part) for at, part in enumerate(parts))


def code(text: str, limit: int = LONGEST_LINE) -> str:
    """Format text as a code span; the text may contain backticks."""
    line = one_line(text, limit)
    if not line:
        return ""
    if "`" not in line:
        return f"`{line}`"
    ticks = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    gap = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{gap}{line}{gap}{ticks}"


def fence(text: str, language: str = "text", limit: int = LONGEST_LINE) -> str:
    """Format text as a fenced block that backticks in the text cannot end; lines are cut at `limit` characters."""
    lines = [
        f" {line}" if _MARKS.match(line) else line[:limit].rstrip()
        for line in clean(text).expandtabs().strip("\n").split("\n")
    ]
    longest = max(map(len, _TICKS.findall("\n".join(lines))), default=0)
    ticks = "`" * max(3, longest + 1)
    return "\n".join([f"{ticks}{language}", *lines, ticks])


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown, and pipes in them are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(map(table_row, lines))


def table_row(cells: Sequence[str]) -> str:
    """Return one row of a table."""
    row = f"| {' | '.join(cells)} |"
    if row.isprintable() and "  " not in row and row.count("|") == len(cells) + 1:
        return row
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    line = " ".join(text.split())
    return _PIPE.sub(r"\\|", line) if "|" in line else line


def in_words(primary: str, limit: int = 90) -> str:
    """Return a message with `…` in place of everything that varies between occurrences."""
    return masked_in_words(mask(primary), limit)


def masked_in_words(masked: str, limit: int) -> str:
    """Return what `in_words` returns, but for a message that is already masked."""
    return one_line(_shown(masked), limit)


@lru_cache(maxsize=16)  # a page shows the same message in two lengths
def _shown(masked: str) -> str:
    words = _DOTS.sub("…", _TOKENS.sub("…", _NAMED_XZ.sub("…", masked).replace("XZ", "X/Z")))
    return _PLACES.sub("", words)


def cite(task_id: str, log: str | None = None, line: int | None = None) -> str:
    """Return the citation of a run's record and, if given, of a line in its log."""
    if log is None:
        return f"(source: tasks/{task_id}.yaml)"
    place = _CITED.sub("_", log) + (f":{line}" if line is not None else "")
    return f"(source: tasks/{task_id}.yaml | log: {place})"
