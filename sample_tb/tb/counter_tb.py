"""The cocotb tests of the event counter."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Timer


async def start(dut: Any) -> None:
    """Start the clock and reset the counter."""
    dut.event_in.value = 0
    dut.rst.value = 1
    Clock(dut.clk, 10, unit="ns").start()
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0


async def events(dut: Any, number: int) -> None:
    """Raise the input `number` times, out of step with the clock."""
    for _ in range(number):
        await Timer(random.randint(31, 60), "ns")
        dut.event_in.value = 1
        await Timer(random.randint(31, 60), "ns")
        dut.event_in.value = 0
    await ClockCycles(dut.clk, 5)


@cocotb.test()
async def counts(dut: Any) -> None:
    """Every event is counted once."""
    await start(dut)
    await events(dut, 25)
    assert dut.count.value == 25


@cocotb.test()
async def wraps(dut: Any) -> None:
    """After its largest value the counter starts again from zero."""
    await start(dut)
    await events(dut, 2 ** len(dut.count) + 3)
    assert dut.count.value == 3
