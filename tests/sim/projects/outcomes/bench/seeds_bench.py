"""Faults whose values depend on the seed: each is the same cause with every seed."""

from __future__ import annotations

import logging
import random

import cocotb
from cocotb.triggers import FallingEdge, Timer
from driver import settle

log = logging.getLogger("scoreboard")


@cocotb.test()
async def random_value(dut):
    """Check a register that adds one against a model that does not."""
    await settle(dut)
    sent = random.randrange(200)
    dut.d.value = sent
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    got = int(dut.q.value)
    assert got == sent, f"q: expected {sent:#04x} got {got:#04x}"


@cocotb.test()
async def random_time(dut):
    await settle(dut)
    await Timer(random.randrange(100, 200), unit="ns")
    log.error("MISMATCH in packet %d: expected %d got %d", *(random.randrange(99) for _ in range(3)))
    assert False, "packets differ"


@cocotb.test()
async def always_right(dut):
    await settle(dut)
