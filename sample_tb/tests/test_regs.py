"""The register block: one simulation runs all cocotb tests of regs_tb."""

from __future__ import annotations

from collections.abc import Callable

import faults
from cocotb_tools.runner import Runner


def test_regs(build: Callable[..., Runner]) -> None:
    build("axil_regs").test("regs_tb", "axil_regs", plusargs=faults.plusargs())
