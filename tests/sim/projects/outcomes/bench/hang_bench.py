"""The simulation never ends, until a limit from outside or a kill of pytest."""

from __future__ import annotations

from pathlib import Path

import cocotb
from cocotb.triggers import Event, Timer
from driver import settle


@cocotb.test()
async def before(dut):
    await settle(dut)


@cocotb.test()
async def fails_early(dut):
    await settle(dut)
    assert dut.ready.value, "ready never rose before the hang"


@cocotb.test()
async def in_flight(dut):
    await settle(dut)
    dut._log.info("waiting for an answer that never comes")
    await Timer(70, unit="ns")
    # Tells the test that kills the run that it has reached this point.
    Path("hanging").touch()
    await Event().wait()


@cocotb.test()
async def not_started(dut):
    await settle(dut)
