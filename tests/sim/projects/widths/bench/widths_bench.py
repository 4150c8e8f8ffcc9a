"""One test that always passes, and one that depends on the width of the design."""

from __future__ import annotations

import os

import cocotb
from driver import start


@cocotb.test()
async def counts(dut: object) -> None:
    await start(dut)


@cocotb.test()
async def width(dut: object) -> None:
    await start(dut)
    assert len(dut.q) == int(os.environ.get("WANT", len(dut.q))), "another width"  # type: ignore[attr-defined]
