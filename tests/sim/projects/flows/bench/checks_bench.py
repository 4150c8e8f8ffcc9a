"""Failures that cocotb itself reports, each with a different cause."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import RisingEdge, Timer, with_timeout
from driver import start


@cocotb.test()
async def mismatch(dut):
    await start(dut)
    value = random.randrange(16)
    dut.d.value = value
    await RisingEdge(dut.clk)
    await Timer(1, unit="ns")
    assert dut.q.value == value, f"expected {value:#04x} got {int(dut.q.value):#04x}"


@cocotb.test()
async def missing_signal(dut):
    await start(dut)
    await Timer(1, unit="ns")
    dut.no_such_signal.value = 1


@cocotb.test()
async def passes(dut):
    await start(dut)
    await Timer(30, unit="ns")


@cocotb.test()
async def never_ready(dut):
    await start(dut)
    await with_timeout(RisingEdge(dut.ready), 100, "ns")
