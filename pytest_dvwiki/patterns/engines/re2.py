"""RE2: one automaton for all literals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import re2  # type: ignore[import-untyped]  # it has no stubs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.patterns.engines import Engine

_MEMORY = 64 << 20
_PARTS = re.compile(rb"[\x00-\x7f]+|[\x80-\xff]+")


class _Re2:
    name = "re2"

    def __init__(self, expression: Any) -> None:
        self._search = expression.search

    def offsets(self, block: bytes) -> Iterator[int]:
        # One hit per line is enough, and one memchr finds the line's end; an iteration over all hits is slower.
        at = 0
        while (found := self._search(block, at)) is not None:
            start = found.start()
            yield start
            at = block.find(b"\n", start) + 1
            if not at:
                return


def make(literals: Sequence[str]) -> Engine:
    """Return an engine for these literals."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    options.max_mem = _MEMORY
    return _Re2(
        re2.compile(b"|".join(b"".join(map(_part, _PARTS.findall(each.encode()))) for each in literals), options)
    )


def _part(part: bytes) -> bytes:
    # RE2 would read some bytes beyond ASCII as Latin-1 letters, and ignore their case.
    return b"(?i:%b)" % re.escape(part) if part.isascii() else b"".join(b"\\x%02x" % byte for byte in part)
