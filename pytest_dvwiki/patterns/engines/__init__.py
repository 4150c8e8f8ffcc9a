"""Engines that find the lines with literals; `re` then decides whether such a line matches a pattern.

All engines find the same lines and differ only in speed. The fastest installed one is used: Hyperscan, then RE2, then
Python, which needs no installation and starts fastest. `DVWIKI_ENGINE` selects one.
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
"""Number of bytes to scan in Python before a library is loaded."""
_LEAST = 1 << 12
"""A block with fewer bytes counts as this many: Python takes no less time for a few lines."""


class Engine(Protocol):
    """Searches blocks of lines for a fixed set of literals."""

    name: str

    def offsets(self, block: bytes) -> Iterable[int]:
        """Return ascending offsets: at least one inside each line with a literal, none in other lines.

        ASCII case is ignored.
        """
        ...


class EngineError(ValueError):
    """Raised if a requested engine cannot be used; the message gives the reason and a remedy."""


class Engines:
    """Searches for literals with an engine chosen by the amount of text.

    Small logs are searched in Python, because loading a library takes longer. An unknown engine in `DVWIKI_ENGINE` is
    ignored here; `load` reports it.
    """

    def __init__(self, literals: Sequence[str]) -> None:
        self._literals = literals
        self._left = 0 if os.environ.get(VARIABLE) else WORTH_LOADING
        self._quick: Engine | None = None
        self._engine: Engine | None = None

    def offsets(self, block: bytes) -> Iterable[int]:
        """Return the same offsets as `Engine.offsets`."""
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
        literals: At least one, in lower case; the engines search for the UTF-8 bytes.
        name: One of `NAMES`; by default `DVWIKI_ENGINE`, or else the fastest engine that can be loaded.

    Raises:
        EngineError: The requested engine is unknown or cannot be loaded.
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
        raise EngineError(f"unknown engine {name!r}: choose one of {', '.join(NAMES)}")
    try:
        return _make(name, literals)
    except Exception as error:
        package = {"re2": "google-re2"}.get(name, name)
        raise EngineError(f"the engine {name} cannot be loaded ({error}): pip install {package}") from error


def _make(name: str, literals: Sequence[str]) -> Engine:
    # Imported by name: each module loads a library of its own.
    engine: Engine = importlib.import_module(f"{__name__}.{name}").make(literals)
    return engine
