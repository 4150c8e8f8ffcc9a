"""Drives the register."""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer


async def start(dut) -> None:
    """Start the clock and leave reset."""
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.rst_n.value = 0
    dut.overflow.value = 0
    dut.d.value = 0
    await RisingEdge(dut.clk)
    await Timer(2, unit="ns")
    dut.rst_n.value = 1
