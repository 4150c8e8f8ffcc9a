"""Texts that a terminal or a mail broke at its width: what stood in one line is one line again."""

from __future__ import annotations

import re
from itertools import pairwise

WIDTHS = range(60, 133)
"""Widths at which terminals and mails break lines."""
_WIDEST_MAIL = 100
_USUAL = frozenset({72, 76, 78, 79, 80, 100, 120, 132})
_PROOF = 2
"""Breaks that show that a text was broken: within a word, or before a word that does not begin a sentence. One does
where a usual width was cut through a word, or the text is short."""
_SHORT = 8
"""Lines that a short text has at most."""
_DEEP = 16
_WITHIN = re.compile(r"[a-z]{2}|[0-9]{2}")
_LETTER = re.compile(r"[A-Za-z]")
_BEGINS = re.compile(r"\S{0,300}:(?:\d|\s|$)|\S{1,300}\(\d+\)|\*\*|[-*+#>|] ")
"""How a line begins that names a tool, a file or an exception, or is one of a list: a message of its own."""


def unwrapped(lines: list[str]) -> tuple[list[str], list[int]] | None:
    """The lines of a text as they were, and the numbers, from 1, at which they begin; None where nothing was broken."""
    width = max(map(len, lines), default=0)
    if width not in WIDTHS:
        return None
    ends = [at for at, (line, below) in enumerate(pairwise(lines)) if _ends(line, below, width)]
    broken = {at for at in ends if _goes_on(lines[at], lines[at + 1])}
    full = [at for at, (line, below) in enumerate(pairwise(lines)) if below and len(line) == width]
    if broken <= set(full):
        cuts = [lines[at][-1] + lines[at + 1][0] for at in full]
        if sum(map(str.isalnum, cuts)) >= _PROOF or (width in _USUAL and any(map(_WITHIN.fullmatch, cuts))):
            return _joined(lines, {at for at in full if _LETTER.search(lines[at])}, "")
    few = 1 if len(lines) <= _SHORT else _PROOF
    if width > _WIDEST_MAIL or len(broken) < few or 2 * len(broken) < len(ends):
        return None
    return _joined(lines, broken, " ")


def _ends(line: str, below: str, width: int) -> bool:
    """Whether the first word below had no room in a line."""
    return (
        bool(line.strip())
        and below[:1] not in ("", " ", "\t")
        and len(line) + 1 + len(below.split(maxsplit=1)[0]) > width
    )


def _goes_on(line: str, below: str) -> bool:
    deep = len(line) - len(line.lstrip(" ")) >= _DEEP
    return (deep or below[0].islower()) and not _BEGINS.match(below)


def _joined(lines: list[str], broken: set[int], gap: str) -> tuple[list[str], list[int]]:
    whole: list[str] = []
    numbers: list[int] = []
    for at, line in enumerate(lines):
        if at - 1 in broken:
            whole[-1] += gap + line
        else:
            whole.append(line)
            numbers.append(at + 1)
    return whole, numbers
