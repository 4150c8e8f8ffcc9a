"""RE2: one automaton for all literals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import re2  # type: ignore[import-untyped]  # it has no stubs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.patterns.engines import Engine

_MEMORY = 64 << 20


class _Re2:
    name = "re2"

    def __init__(self, expression: Any) -> None:
        self._search = expression.search

    def offsets(self, block: bytes) -> Iterator[int]:
        # One hit a line is enough, and its end is one memchr away; an iteration over all hits is slower.
        at = 0
        while (found := self._search(block, at)) is not None:
            start = found.start()
            yield start
            at = block.find(b"\n", start) + 1
            if not at:
                return


def make(literals: Sequence[str]) -> Engine:
    """An engine for these literals."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.never_capture = True
    options.max_mem = _MEMORY
    return _Re2(re2.compile("|".join(map(re2.escape, literals)).encode("ascii"), options))
