"""A test that runs longer than any job limit."""

from __future__ import annotations

import time
from pathlib import Path

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
    Path("hanging").touch()
    while True:
        await Timer(1, unit="us")
        time.sleep(0.01)


@cocotb.test()
async def not_started(dut):
    await start(dut)
    await Timer(20, unit="ns")
