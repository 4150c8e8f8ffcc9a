"""The protocol by which captures and patterns meet without knowing each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.model.failure import Tier


class Interest(Protocol):
    """Tells which lines of a huge text are worth keeping; implemented by the patterns."""

    def find(self, text: str) -> Iterable[tuple[int, Tier]]:
        """Yields offsets of lines' starts in ascending order, each with the tier of the pattern that asks for it."""
        ...

    def is_benign(self, message: str) -> bool:
        """Whether a message, as one line, looks like a failure and is none."""
        ...

    def is_accepted(self, message: str) -> bool:
        """Whether people accept a message, as one line, although it is an error."""
        ...
