"""Keeps the plugin's own mistakes, and the machine's, away from the run that it watches."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    @contextmanager
    def __call__(self, doing: str) -> Iterator[None]:
        """Lets nothing but an interrupt out of a block.

        Args:
            doing: What the block does, for the note.
        """
        try:
            yield
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            self.note(f"{doing} failed: {type(error).__name__}: {error}")
