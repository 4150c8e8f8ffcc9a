"""The design ends the simulation."""

from __future__ import annotations

import cocotb
from cocotb.triggers import Timer
from driver import start


@cocotb.test()
async def before(dut):
    await start(dut)
    await Timer(20, unit="ns")


@cocotb.test()
async def in_flight(dut):
    await start(dut)
    dut.overflow.value = 1
    await Timer(50, unit="ns")


@cocotb.test()
async def not_started(dut):
    await start(dut)
    await Timer(20, unit="ns")
