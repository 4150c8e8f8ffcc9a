"""Splits hardware text into words, so that whole identifiers and their parts can be found.

`timescale` finds `missing_timescale`, `burst` finds `axiBurstLen`, and `back pressure` finds `back_pressure`. Hex
values, fingerprints and file names are also kept whole.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1
"""Incremented when the words for the same text change."""

_WORD = re.compile(r"[^\W_]+(?:[_$.'-]+[^\W_]+)*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_VALUE = re.compile(r"(?i)0x[0-9a-f_]+|\d*'s?[bdho][0-9a-fxz_]+|(?=[a-f]*\d)[0-9a-f]{6,}")
_SEPARATED = re.compile(r"[_$.'-]+")
_STOP = frozenset(
    """
    a an and are as at be but by for from has have how if in into is it its no not of on or so that the their then there
    these this to was what when where which why will with
    """.split()  # noqa: SIM905 (a list of words reads best as words)
)
_LONGEST = 64


def tokens(text: str) -> list[str]:
    """Return the words of a text in order, in lower case. An identifier is followed by its parts."""
    return [word for _, _, words in spans(text) for word in words]


def spans(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield the start and end of each word in a text, with its search words."""
    for match in _WORD.finditer(text):
        yield match.start(), match.end(), _words(match[0])


@lru_cache(maxsize=1 << 16)
def _words(word: str) -> tuple[str, ...]:
    """Return the search words for a word of a text. Most texts repeat few words, so the results are cached."""
    lower = word.lower()
    if len(word) > _LONGEST or lower in _STOP:
        return ()
    return (lower,) if _VALUE.fullmatch(word) else (lower, *_parts(word, lower))


def _parts(word: str, whole: str) -> list[str]:
    parts: list[str] = []
    for piece in _SEPARATED.split(word):
        names = [name.lower() for name in _PART.findall(piece)]
        # `fifo32` gives `fifo` and `32` in addition to itself.
        parts += [piece.lower(), *(names if len(names) > 1 else [])]
    return [part for part in parts if part != whole and part not in _STOP]
