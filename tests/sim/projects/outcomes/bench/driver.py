"""Functions of all test modules: a clock, and a register with known inputs."""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer


async def settle(dut):
    """Start the clock with all switches off, and leave reset."""
    for switch in ("overflow", "stop", "complain"):
        if hasattr(dut, switch):  # the VHDL design cannot stop
            getattr(dut, switch).value = 0
    dut.rst_n.value = 0
    dut.d.value = 0
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    await FallingEdge(dut.clk)
    dut.rst_n.value = 1
    await Timer(22, unit="ns")
