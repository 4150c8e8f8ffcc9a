"""The simulator is killed."""

from __future__ import annotations

import os
import signal

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
    await Timer(40, unit="ns")
    os.kill(os.getpid(), signal.SIGKILL)
    await Timer(40, unit="ns")
