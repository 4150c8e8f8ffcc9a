"""Two tests of a design without a timescale: one cause."""

from __future__ import annotations

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def waits_for_ten(dut):
    await Timer(10, unit="ns")


@cocotb.test()
async def waits_again(dut):
    await Timer(10, unit="ns")
