"""Lines of one kind: a log repeats itself, and what a line came to once it comes to again.

Two lines are of one kind where they differ in their numbers only, zero stays zero, and numbers that are equal in the
one are equal in the other (`exp=5 act=0x05` and `exp=5 act=0x06` are two kinds).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FAMILIAR = 8
"""Times that a kind comes to nothing before further lines of it are passed over."""
ENOUGH = 32
"""Lines of one kind that a search yields; whoever asks for lines to keep keeps fewer."""
MOST = 4096
"""Kinds that are remembered; when there are more the memory starts afresh."""
_NUMBER = re.compile(r"(0x0*[1-9a-f][0-9a-f]*|[0-9a-f]*[1-9][0-9a-f]*)")
"""A number that is not zero."""


def kind(line: str) -> str:
    """The kind of a line in lower case: its text round the numbers, and which of these are equal."""
    parts = _NUMBER.split(line)
    numbers = [number.removeprefix("0x").lstrip("0") for number in parts[1::2]]
    return "\x00".join(parts[::2]) + "\n" + "".join(map(chr, map(numbers.index, numbers)))


@dataclass(slots=True)
class Dull:
    """Kinds of lines that no pattern wants, whatever stands round them."""

    _counts: dict[str, int] = field(default_factory=dict)

    def __contains__(self, kind: str) -> bool:
        return self._counts.get(kind, 0) >= FAMILIAR

    def note(self, kind: str) -> None:
        """A line of that kind came to nothing."""
        if len(self._counts) >= MOST:
            self._counts.clear()
        self._counts[kind] = self._counts.get(kind, 0) + 1


class Found:
    """How many lines of each kind one search has yielded.

    Args:
        limit: After so many further lines of the kind are passed over; None for all.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._counts: dict[str, int] = {}

    def enough(self, kind: str) -> bool:
        """Whether a further line of that kind is to be passed over."""
        return self._limit is not None and self._counts.get(kind, 0) >= self._limit

    def note(self, kind: str) -> None:
        """A line of that kind was yielded."""
        if self._limit is None:
            return
        if len(self._counts) >= MOST:
            self._counts.clear()
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def forget(self) -> None:
        """Begins afresh: what comes next is worth a look again."""
        self._counts.clear()
