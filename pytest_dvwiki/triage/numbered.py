"""Numbered lines of a text, with gaps in the numbers for lines left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def unbroken(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the parts of the text without a gap: the number of the first line, and the lines."""
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or lines[at][0] != lines[at - 1][0] + 1:
            yield lines[start][0], [text for _, text in lines[start:at]]
            start = at
