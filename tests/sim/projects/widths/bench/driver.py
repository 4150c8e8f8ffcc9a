"""Drives the clock."""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles


async def start(dut: object) -> None:
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())  # type: ignore[attr-defined]
    await ClockCycles(dut.clk, 3)  # type: ignore[attr-defined]
