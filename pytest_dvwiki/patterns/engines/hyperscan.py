"""Hyperscan (Vectorscan): finds all literals in one pass.

The compiled database depends on the library and the CPU. It is cached in a file named after both.
"""

from __future__ import annotations

import hashlib
import platform
from typing import TYPE_CHECKING, Any

import hyperscan

from pytest_dvwiki.patterns import cache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.patterns.engines import Engine


_DIGEST = hashlib.sha256().digest_size
"""Length of the hash at the start of a cached database; it reveals damage that the library would not notice."""


class _Hyperscan:
    name = "hyperscan"

    def __init__(self, database: hyperscan.Database) -> None:
        self._database = database
        # A database that was loaded from the cache has no scratch space.
        self._scratch = hyperscan.Scratch(database)

    def offsets(self, block: bytes) -> list[int]:
        ends: list[int] = []
        note = ends.append

        def found(_number: int, _start: int, end: int, _flags: int, _context: object) -> None:
            note(end - 1)

        self._database.scan(block, match_event_handler=found, scratch=self._scratch)
        return ends


def make(literals: Sequence[str]) -> Engine:
    """Return an engine for these literals, with its database from the cache if available."""
    key = _key(literals)
    database = _loaded(cache.read(key))
    if database is None:
        database = _compiled(literals)
        data = hyperscan.dumpb(database)
        cache.write(key, hashlib.sha256(data).digest() + data)
    return _Hyperscan(database)


def _loaded(data: bytes | None) -> Any:
    """Return the database in a cached file; None if the file is missing or damaged."""
    if data is None or hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
        return None
    try:
        return hyperscan.loadb(data[_DIGEST:], hyperscan.HS_MODE_BLOCK)
    except hyperscan.HyperscanError:  # made on another CPU
        return None


def _compiled(literals: Sequence[str]) -> Any:
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[b"".join(b"\\x%02x" % byte for byte in literal.encode()) for literal in literals],
        ids=list(range(len(literals))),
        elements=len(literals),
        # Not SINGLEMATCH, which reports only one line of a block.
        flags=hyperscan.HS_FLAG_CASELESS,
    )
    return database


def _key(literals: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in (getattr(hyperscan, "__version__", ""), platform.machine(), _cpu(), *literals):
        digest.update(f"{part}\0".encode())
    return f"literals-{digest.hexdigest()[:24]}.hs"


def _cpu() -> str:
    """Return a description of the CPU; CPUs that need different databases have different descriptions."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123
            return next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        return platform.processor()
