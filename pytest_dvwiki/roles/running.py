"""The test that runs now, and what was seen of it so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from pytest_dvwiki.capture.processes.children import Children
    from pytest_dvwiki.capture.processes.spool import Place

_CAPTURING = frozenset({"capfd", "capfdbinary"})
"""Fixtures by which a test reads what its children print; nothing may come between."""


@dataclass(slots=True)
class Running:
    """A test while it runs."""

    item: pytest.Item
    started: float
    """Seconds since the epoch."""
    children: Children
    began: bool = False
    stdout: Place | None = None
    """What file descriptor 1 led to when the test began: another place means that somebody redirected it."""

    @property
    def nodeid(self) -> str:
        """The test's name."""
        return self.item.nodeid

    @property
    def is_spooled(self) -> bool:
        """Whether the output of its children may be kept."""
        return _CAPTURING.isdisjoint(getattr(self.item, "fixturenames", ()))
