"""Keeps the plugin's own mistakes, and the machine's, away from the run that it watches."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_dvwiki.reading import told

if TYPE_CHECKING:
    from types import TracebackType

DEBUG = "DVWIKI_DEBUG"
"""Environment variable that lets an error of the plugin end the run, for whoever looks for its cause."""


class Guard:
    """Turns errors of the plugin into notes that are shown at the end, each once."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Adds something that a person should know."""
        if text not in self.notes:
            self.notes.append(text)

    def __call__(self, doing: str) -> _Guarded:
        """Lets nothing but an interrupt out of a block.

        Args:
            doing: What the block does, for the note.
        """
        return _Guarded(self, doing)


class _Guarded:
    """One block. A class, since each report passes one and a generator costs four times as much."""

    __slots__ = ("_doing", "_guard")

    def __init__(self, guard: Guard, doing: str) -> None:
        self._guard = guard
        self._doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception) or os.environ.get(DEBUG):
            return False
        self._guard.note(f"{self._doing} failed: {told(error)}")
        return True
