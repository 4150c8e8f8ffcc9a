"""Pure Python: search for substrings shared by many literals, once for all lines of the same shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.patterns.engines import Engine

_PARTS = (
    "error", "fail", "fatal", "exception", "assert", "licen", "*e,", "*f,", "*s,", "timeout", "timed out", "kill",
    "terminat", "abort", "not found", "cannot", "could not", "unable", "no such", "denied", "exceed", "signal ",
    "fault", "cancel", "limit", "mismatch", "exp", "violat", "memory", "interrupt", "not set", "not defined",
    "undefined", "sorry", "crash", "quota", ".vhd", "missing", "unmatched", "converge", "exit", "checkout", "unbound",
    "space", "disk ", "oom", "term_", "sigterm", "sigint", "sigsegv", "corrupt", "connection", "stale", "network",
    "multiple ", ": ***", "stopped", "quit count", "critical", "simulat", "invalid", "contains no ", "illegal",
    "out of range", "root handle", "no tests", "received ", "axiresp", "coroutine", "warning-", "delta", "malformed",
    "no declaration", "top level", "not in", "yield", "watchdog ", "has no ", "10-", "attempting ", "readonly",
    "read-only", "(v", "not ", "worker ", "can't ", "*se,", "fehler", "erreur", "nicht gefunden", "aucun ", "moire",
    "speicher", "commande", "verweis auf", "no existe", "encontrad", "unresolved ", "=e:[", "=f:[",
)  # fmt: skip
"""Substrings shared by many literals; one scan for each finds the candidates for all of them."""
_SHAPE = bytes.maketrans(b"123456789", b"000000000")
_PART = 1 << 18
"""Number of bytes scanned in one pass; they fit into a CPU cache."""


class _Python:
    name = "python"

    def __init__(self, literals: Sequence[str]) -> None:
        self._by_part: dict[bytes, list[bytes]] = {}
        for literal in literals:
            part = next((part for part in _PARTS if part in literal), literal)
            self._by_part.setdefault(_shape(part.encode()), []).append(literal.encode())

    def offsets(self, block: bytes) -> Iterator[int]:
        start = 0
        while start < len(block):
            stop = block.find(b"\n", start + _PART)
            stop = stop if stop >= 0 else len(block)
            for offset in self._in_part(block[start:stop].lower()):
                yield start + offset
            start = stop + 1

    def _in_part(self, text: bytes) -> Iterator[int]:
        shapes = _shape(text).split(b"\n")
        wanted = self._wanted(b"\n".join(dict.fromkeys(shapes)))
        at = 0
        for shape in shapes if wanted else ():
            literals = wanted.get(shape)
            if literals is not None:
                line = text[at : at + len(shape)]
                for literal in literals:
                    if literal in line:
                        yield at
                        break
            at += len(shape) + 1

    def _wanted(self, shapes: bytes) -> dict[bytes, list[bytes]]:
        """Map each shape with a shared substring to the literals that a line of this shape may contain.

        A shape is a line with all digits replaced by 0.
        """
        wanted: dict[bytes, list[bytes]] = {}
        for part, literals in self._by_part.items():
            at = shapes.find(part)
            while at >= 0:
                end = shapes.find(b"\n", at)
                end = end if end >= 0 else len(shapes)
                line = shapes[shapes.rfind(b"\n", 0, at) + 1 : end]
                # Keep only literals that lines of this shape can contain: a line is then searched for few literals.
                fitting = [literal for literal in literals if _shape(literal) in line]
                if fitting:
                    wanted.setdefault(line, []).extend(fitting)
                at = shapes.find(part, end)
        return wanted


def _shape(text: bytes) -> bytes:
    return text.translate(_SHAPE)


def make(literals: Sequence[str]) -> Engine:
    """Return an engine for these literals."""
    return _Python(literals)
