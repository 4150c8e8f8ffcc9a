"""The simulator's process reads address 0."""

from __future__ import annotations

import ctypes

import cocotb
from cocotb.triggers import Timer
from driver import settle


@cocotb.test()
async def before(dut):
    await settle(dut)


@cocotb.test()
async def in_flight(dut):
    await settle(dut)
    ctypes.string_at(0)
    await Timer(100, unit="ns")


@cocotb.test()
async def not_started(dut):
    await settle(dut)
