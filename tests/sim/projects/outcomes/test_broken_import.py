"""A file of runner tests that needs a package that is not installed."""

from __future__ import annotations

import no_such_helper
from cocotb_tools.runner import get_runner


def test_never_seen() -> None:
    no_such_helper.simulate(get_runner("icarus"))
