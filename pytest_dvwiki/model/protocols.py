"""The protocol through which capture uses the patterns without importing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.model.failure import Tier


class Interest(Protocol):
    """Decides which lines of a huge text are worth keeping; implemented by the patterns."""

    def find(self, text: str) -> Iterable[tuple[int, Tier]]:
        """Yield the offset of each line worth keeping, in ascending order, with the tier of the pattern it matches."""
        ...

    def is_benign(self, message: str) -> bool:
        """Tell whether a message, given as one line, looks like a failure but is not."""
        ...

    def is_accepted(self, message: str) -> bool:
        """Tell whether people accept a message, given as one line, although it is an error."""
        ...
