"""The state of the running test, including data for its reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import pytest

    from pytest_dvwiki.capture.processes.children import Child, Children
    from pytest_dvwiki.capture.processes.spool import Place
    from pytest_dvwiki.model import Failure

EVIDENCE = "dvwiki"
"""The attribute of a report that carries evidence."""
OUTCOMES = frozenset({"passed", "failed", "skipped"})
"""pytest's own outcomes. Any other one, such as `rerun` or `retried`, means that a plugin repeats the test."""
MORE_THAN_PASSED = frozenset({EVIDENCE, "runner_nodeid", "wasxfail"})
"""Attributes that cocotb's plugin and pytest may set; a passed report with one of them has to be examined."""
_CAPTURING = frozenset({"capfd", "capfdbinary"})
"""Fixtures that let a test read its children's output, which then must not be redirected."""


class Running(Struct):
    """A running test."""

    item: pytest.Item
    started: float
    """Seconds since the epoch."""
    children: Children
    began: bool = False
    stdout: Place | None = None
    """Target of file descriptor 1 at the start of the test; a different one later means that it was redirected."""
    sections_before: int = 0
    """Number of sections of earlier attempts, which come first in the reports of this attempt."""
    open: pytest.TestReport | None = None
    """Failed report of this attempt that was not logged, because the plugin `flaky` only logs the last attempt."""
    earlier: tuple[Failure, ...] = ()
    """Failures of earlier attempts that were not logged."""
    retried: pytest.TestReport | None = None
    """Report of the first attempt, which pytest-retry reuses for the last attempt."""
    reported: Child | None = None
    """The last child process when the call failed: the call's report has the simulations up to this process."""
    error: pytest.CallInfo[None] | None = None
    """Result of the last failed phase."""

    @property
    def sections(self) -> list[tuple[str, str, str]]:
        """Return the output captured so far: phase, stream and text."""
        return self.item._report_sections  # noqa: SLF001  # only reports of later phases have them

    @property
    def nodeid(self) -> str:
        """Return the test's node id."""
        return self.item.nodeid

    @property
    def may_be_spooled(self) -> bool:
        """Return whether the output of the test's children may be spooled: not if the test reads it by `capfd`."""
        return _CAPTURING.isdisjoint(getattr(self.item, "fixturenames", ()))
