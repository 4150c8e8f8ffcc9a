"""Engines find the lines that hold a literal; `re` decides elsewhere what such a line means.

All of them find the same lines and differ only in speed. The fastest one that is installed is used: Hyperscan,
then RE2, then Python, which is always there and starts fastest. `DVWIKI_ENGINE` chooses another one.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NAMES = ("hyperscan", "re2", "python")
"""The engines, fastest first."""
VARIABLE = "DVWIKI_ENGINE"
WORTH_LOADING = 1 << 19
"""Number of bytes that Python scans before a library is loaded."""
_LEAST = 1 << 12
"""Minimum number of bytes counted for a block: Python takes as long for a few lines as for this many bytes."""


class Engine(Protocol):
    """Searches blocks of lines for a fixed set of literals."""

    name: str

    def offsets(self, block: bytes) -> Iterable[int]:
        """Return offsets, ascending: at least one inside each line that holds a literal, and none in any other line.

        The case of ASCII letters is ignored.
        """
        ...


class EngineError(ValueError):
    """An engine that was asked for by name cannot be used; the message gives the reason and the remedy."""


class Engines:
    """The engine for a set of literals, chosen by the amount of text.

    Small logs are read in Python, which takes less time than loading a library. An unknown engine in `DVWIKI_ENGINE` is
    ignored here; `load` reports it.
    """

    def __init__(self, literals: Sequence[str]) -> None:
        self._literals = literals
        self._left = 0 if os.environ.get(VARIABLE) else WORTH_LOADING
        self._quick: Engine | None = None
        self._engine: Engine | None = None

    def offsets(self, block: bytes) -> Iterable[int]:
        """Return the offsets as `Engine.offsets` does."""
        self._left -= max(len(block), _LEAST)
        if self._left >= 0:
            self._quick = self._quick or load(self._literals, name=NAMES[-1])
            return self._quick.offsets(block)
        self._engine = self._engine or self._loaded()
        return self._engine.offsets(block)

    def _loaded(self) -> Engine:
        try:
            return load(self._literals)
        except EngineError:
            return load(self._literals, name=NAMES[-1])


def load(literals: Sequence[str], *, name: str | None = None) -> Engine:
    """Return an engine for these literals.

    Args:
        literals: At least one, in lower case; the engines look for their bytes in UTF-8.
        name: One of `NAMES`; without it `DVWIKI_ENGINE`, else the fastest one that can be loaded.

    Raises:
        EngineError: The named engine is unknown or cannot be loaded.
    """
    asked = name or os.environ.get(VARIABLE)
    if asked:
        return _named(asked, literals)
    for each in NAMES[:-1]:
        # If a library does not work on this machine, the next one is tried.
        with contextlib.suppress(Exception):
            return _make(each, literals)
    return _make(NAMES[-1], literals)


def _named(name: str, literals: Sequence[str]) -> Engine:
    if name not in NAMES:
        raise EngineError(f"there is no engine {name!r}: choose one of {', '.join(NAMES)}")
    try:
        return _make(name, literals)
    except Exception as error:
        package = {"re2": "google-re2"}.get(name, name)
        raise EngineError(f"the engine {name} cannot be loaded ({error}): pip install {package}") from error


def _make(name: str, literals: Sequence[str]) -> Engine:
    # Imported by name: each module loads a library of its own.
    engine: Engine = importlib.import_module(f"{__name__}.{name}").make(literals)
    return engine
