"""Kinds of lines. A log has many similar lines, so the result for one line is used for all lines of its kind.

Two lines are of the same kind if they differ only in numbers, have zeros at the same positions, and have equal numbers
at the same positions (`exp=5 act=0x05` and `exp=5 act=0x06` are two kinds).
"""

from __future__ import annotations

import re

FAMILIAR = 8
"""Number of lines of one kind without a match, after which lines of that kind are skipped."""
ENOUGH = 32
"""Maximum number of lines of one kind yielded by a search; callers may keep fewer."""
MOST = 4096
"""Maximum number of kinds with counts; if one more is met, all counts are cleared."""
_NUMBER = re.compile(r"([0-9a-f](?:(?<=[1-9])[0-9a-f]*+|(?<=0)x0*+[1-9a-f][0-9a-f]*+|[0a-f]*+[1-9][0-9a-f]*+))")
"""A number that is not zero. All alternatives begin with the same set of characters, which doubles the speed."""


def kind(line: str) -> str:
    """Return the kind of a lower-case line: the text around its numbers, and which numbers are equal."""
    parts = _NUMBER.split(line)
    numbers = [number.removeprefix("0x").lstrip("0") for number in parts[1::2]]
    return "\x00".join(parts[::2]) + "\n" + "".join(map(chr, map(numbers.index, numbers)))


class KindCounts:
    """Counts, for each kind, the lines that a search yielded or found to match nothing.

    Args:
        limit: Number of lines of one kind after which more are skipped; None for no limit.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._counts: dict[str, int] = {}

    def enough(self, kind: str) -> bool:
        """Return whether to skip further lines of a kind."""
        return self.limit is not None and self._counts.get(kind, 0) >= self.limit

    def note(self, kind: str) -> None:
        """Count a line of a kind."""
        if self.limit is None:
            return
        if len(self._counts) >= MOST:
            self._counts.clear()
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def forget(self) -> None:
        """Clear the counts, so that every kind is yielded again."""
        self._counts.clear()
