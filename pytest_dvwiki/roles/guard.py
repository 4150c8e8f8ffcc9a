"""Protects the run from errors of the plugin and of the machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_dvwiki.reading import described

if TYPE_CHECKING:
    from types import TracebackType

DEBUG = "DVWIKI_DEBUG"
"""Environment variable that lets errors of the plugin propagate, for debugging."""


class Guard:
    """Converts errors of the plugin to notes, which are shown once each at the end."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Add a note for the user, unless the same note exists."""
        if text not in self.notes:
            self.notes.append(text)

    def __call__(self, doing: str) -> _Guarded:
        """Return a context manager that converts exceptions to notes, except KeyboardInterrupt and SystemExit.

        Args:
            doing: Description of the action, for the note.
        """
        return _Guarded(self, doing)


class _Guarded:
    """A guarded block. It is a class, because a generator would take four times as long for each report."""

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
        self._guard.note(f"{self._doing} failed: {described(error)}")
        return True
