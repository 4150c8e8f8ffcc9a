"""Words of hardware text: identifiers are found whole and by their parts.

`missing_timescale` is found by `timescale`, `axiBurstLen` by `burst`, `back pressure` finds `back_pressure`; hex
values, fingerprints and file names stay whole too.
"""

from __future__ import annotations

import re

VERSION = 1
"""Counts up when the same text would give other words."""

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
    """The words of a text in order, in lower case; an identifier gives itself and its parts."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        word = match[0]
        if len(word) > _LONGEST:
            continue
        lower = word.lower()
        if lower in _STOP:
            continue
        found.append(lower)
        if not _VALUE.fullmatch(word):
            found += _parts(word, lower)
    return found


def _parts(word: str, whole: str) -> list[str]:
    parts: list[str] = []
    for piece in _SEPARATED.split(word):
        names = [name.lower() for name in _PART.findall(piece)]
        # `fifo32` is also `fifo` and `32`, but `sha256` keeps its whole form too.
        parts += [piece.lower(), *(names if len(names) > 1 else [])]
    return [part for part in parts if part != whole and part not in _STOP]
