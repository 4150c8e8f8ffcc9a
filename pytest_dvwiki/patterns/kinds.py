"""Kinds of lines: a log repeats itself, so the result for one line serves all lines of its kind.

Two lines are of the same kind if only their numbers differ, both have zeros at the same places, and numbers that are
equal in one line are equal in the other (`exp=5 act=0x05` and `exp=5 act=0x06` are two kinds).
"""

from __future__ import annotations

import re

FAMILIAR = 8
"""After this many lines of one kind that match nothing, more lines of that kind are skipped."""
ENOUGH = 32
"""Number of lines of one kind that a search yields; callers that keep lines keep fewer."""
MOST = 4096
"""Number of kinds that are remembered; when one more is added, all are forgotten."""
_NUMBER = re.compile(r"([0-9a-f](?:(?<=[1-9])[0-9a-f]*+|(?<=0)x0*+[1-9a-f][0-9a-f]*+|[0a-f]*+[1-9][0-9a-f]*+))")
"""A number that is not zero. One set of first characters for all alternatives halves the time that a line takes."""


def kind(line: str) -> str:
    """Return the kind of a line in lower case: the text around its numbers, and which of the numbers are equal."""
    parts = _NUMBER.split(line)
    numbers = [number.removeprefix("0x").lstrip("0") for number in parts[1::2]]
    return "\x00".join(parts[::2]) + "\n" + "".join(map(chr, map(numbers.index, numbers)))


class KindCounts:
    """Counts, for each kind, the lines that a search has yielded or that no pattern matches.

    Args:
        limit: The number of lines of one kind after which more are skipped; None for no limit.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._counts: dict[str, int] = {}

    def enough(self, kind: str) -> bool:
        """Return whether further lines of a kind are to be skipped."""
        return self.limit is not None and self._counts.get(kind, 0) >= self.limit

    def note(self, kind: str) -> None:
        """Count a line of a kind."""
        if self.limit is None:
            return
        if len(self._counts) >= MOST:
            self._counts.clear()
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def forget(self) -> None:
        """Clear the counts, so that lines of every kind are yielded again."""
        self._counts.clear()
