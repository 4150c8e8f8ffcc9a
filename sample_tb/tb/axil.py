"""Clock, reset and bus master for designs with an AXI4-Lite port."""

from __future__ import annotations

import logging
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

CTRL, SCRATCH, STATUS, ID, UNMAPPED = 0x00, 0x04, 0x08, 0x0C, 0x40


async def start(dut: Any) -> AxiLiteMaster:
    """Start the clock, reset the design and return a master on its port."""
    # The master describes itself at length in every test.
    logging.getLogger(f"cocotb.{dut._name}").setLevel(logging.WARNING)  # noqa: SLF001 - cocotb's API
    Clock(dut.clk, 10, unit="ns").start()
    dut.rst.value = 1
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)
    return master
