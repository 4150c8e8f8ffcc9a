"""The simulator's process gets SIGTERM, as at a job's time limit."""

from __future__ import annotations

import os
import signal

import cocotb
from cocotb.triggers import Timer
from driver import settle


@cocotb.test()
async def before(dut):
    await settle(dut)


@cocotb.test()
async def in_flight(dut):
    await settle(dut)
    os.kill(os.getpid(), signal.SIGTERM)
    await Timer(100, unit="ns")


@cocotb.test()
async def not_started(dut):
    await settle(dut)
