"""A file of cocotb-test's tests that needs a package that is not installed."""

from __future__ import annotations

import no_such_helper
from cocotb_test.simulator import run


def test_never_seen() -> None:
    no_such_helper.simulate(run)
