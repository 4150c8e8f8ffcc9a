"""The running test, its state so far, and what its reports carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import pytest

    from pytest_dvwiki.capture.processes.children import Children
    from pytest_dvwiki.capture.processes.spool import Place
    from pytest_dvwiki.model import Failure

EVIDENCE = "dvwiki"
"""The attribute of a report that carries evidence."""
OUTCOMES = frozenset({"passed", "failed", "skipped"})
"""Outcomes of pytest itself; any other one, such as `rerun` or `retried`, means that a plugin runs the test again."""
MORE_THAN_PASSED = frozenset({EVIDENCE, "runner_nodeid", "wasxfail"})
"""A passed report with one of these attributes has to be examined; cocotb's plugin and pytest set some of them."""
_CAPTURING = frozenset({"capfd", "capfdbinary"})
"""Fixtures that let a test read the output of its children; that output must not be redirected."""


class Running(Struct):
    """A test while it runs."""

    item: pytest.Item
    started: float
    """Seconds since the epoch."""
    children: Children
    began: bool = False
    stdout: Place | None = None
    """Target of file descriptor 1 when the test began; a different target later means that somebody redirected it."""
    sections_before: int = 0
    """Number of sections of earlier attempts; the reports of this attempt begin with these sections."""
    open: pytest.TestReport | None = None
    """Failed report of this attempt that was not logged: the plugin `flaky` logs no attempt but the last."""
    earlier: tuple[Failure, ...] = ()
    """Failures of earlier attempts that were not logged."""
    retried: pytest.TestReport | None = None
    """Report of the first attempt, which pytest-retry reuses for the last attempt."""
    error: pytest.CallInfo[None] | None = None
    """Outcome of the newest phase that failed."""

    @property
    def sections(self) -> list[tuple[str, str, str]]:
        """Return the output that pytest captured so far: phase, stream and text."""
        return self.item._report_sections  # noqa: SLF001  # only reports of later phases have them

    @property
    def nodeid(self) -> str:
        """Return the test's node id."""
        return self.item.nodeid

    @property
    def is_spooled(self) -> bool:
        """Return whether the output of the test's children may be spooled."""
        return _CAPTURING.isdisjoint(getattr(self.item, "fixturenames", ()))
