"""The design ends the simulation too early, with $finish."""

from __future__ import annotations

import cocotb
from cocotb.triggers import Timer
from driver import settle


@cocotb.test()
async def before(dut):
    await settle(dut)


@cocotb.test()
async def in_flight(dut):
    await settle(dut)
    dut.stop.value = 1
    await Timer(100, unit="ns")


@cocotb.test()
async def not_started(dut):
    await settle(dut)
