"""The running test, and its state so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from pytest_dvwiki.capture.processes.children import Children
    from pytest_dvwiki.capture.processes.spool import Place

_CAPTURING = frozenset({"capfd", "capfdbinary"})
"""Fixtures by which a test reads the output of its children, which must not be redirected then."""


@dataclass(slots=True)
class Running:
    """A test while it runs."""

    item: pytest.Item
    started: float
    """Seconds since the epoch."""
    children: Children
    began: bool = False
    stdout: Place | None = None
    """Target of file descriptor 1 when the test began; a different target later means that somebody redirected it."""

    @property
    def nodeid(self) -> str:
        """Return the test's node id."""
        return self.item.nodeid

    @property
    def is_spooled(self) -> bool:
        """Tell whether the output of its children may be spooled."""
        return _CAPTURING.isdisjoint(getattr(self.item, "fixturenames", ()))
