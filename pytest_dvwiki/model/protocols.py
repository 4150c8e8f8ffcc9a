"""The protocol through which the capture code uses patterns without importing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.model.failure import Tier


class Interest(Protocol):
    """Selects the lines of a very large log that are worth keeping. Implemented by the patterns."""

    def find(self, text: str) -> Iterable[tuple[int, Tier]]:
        """Yield the offsets of lines worth keeping, in ascending order, each with the tier of the matching pattern."""
        ...

    def is_benign(self, message: str) -> bool:
        """Return whether a one-line message looks like a failure but is not."""
        ...

    def is_accepted(self, message: str) -> bool:
        """Return whether a one-line message is an error that people accept."""
        ...
