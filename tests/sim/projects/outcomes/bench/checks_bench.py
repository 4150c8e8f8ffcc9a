"""Kinds that the testbench itself reports, in one simulation; some pass with errors in the log."""

from __future__ import annotations

import logging

import cocotb
from cocotb.triggers import Event, FallingEdge, RisingEdge, Timer, with_timeout
from driver import settle

log = logging.getLogger("scoreboard")


@cocotb.test()
async def passes(dut):
    await settle(dut)


@cocotb.test()
async def assert_with_message(dut):
    await settle(dut)
    assert dut.ready.value, "ready never rose after reset"


@cocotb.test()
async def assert_bare(dut):
    await settle(dut)
    grants = 0
    await RisingEdge(dut.clk)
    assert grants


@cocotb.test()
async def mismatch_in_assert(dut):
    await settle(dut)
    dut.d.value = 0x12
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    got = int(dut.q.value)
    assert got == 0x12, f"expected 0x12 got {got:#04x}"


@cocotb.test()
async def mismatch_in_hex(dut):
    """The x of a hexadecimal number is no unknown value."""
    await settle(dut)
    await FallingEdge(dut.clk)
    got = int(dut.q.value)
    assert got == 0x00, f"expected 0x00 got {got:#04x}"


@cocotb.test()
async def mismatch_in_values(dut):
    """Neither the message nor a name in the statement shows that this compares with a model."""
    await settle(dut)
    await FallingEdge(dut.clk)
    word = int(dut.q.value)
    assert word == 0x63, "wrong word on the way out"


@cocotb.test()
async def mismatch_in_log(dut):
    await settle(dut)
    errors = 0
    dut.d.value = 0x20
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    got = int(dut.q.value)
    if got != 0x20:
        log.error("MISMATCH on q: expected 0x20 got %#04x", got)
        errors += 1
    assert not errors, "scoreboard reported errors"


@cocotb.test()
async def timeout_while_waiting(dut):
    await settle(dut)
    await with_timeout(RisingEdge(dut.ready), 200, "ns")


@cocotb.test(timeout_time=300, timeout_unit="ns")
async def timeout_of_test(dut):
    await settle(dut)
    await Event().wait()


@cocotb.test()
async def x_to_int(dut):
    await settle(dut)
    assert int(dut.unset.value) >= 0


@cocotb.test()
async def x_in_comparison(dut):
    await settle(dut)
    assert dut.unset.value == 5


@cocotb.test()
async def missing_attribute(dut):
    await settle(dut)
    dut.no_such_signal.value = 1


@cocotb.test()
async def missing_item(dut):
    await settle(dut)
    dut["no_such_port"].value = 1


@cocotb.test()
async def background_task(dut):
    async def monitor():
        await Timer(35, unit="ns")
        raise RuntimeError("monitor lost its lock on the bus")

    await settle(dut)
    cocotb.start_soon(monitor())
    await Timer(500, unit="ns")


@cocotb.test(expect_fail=True)
async def expected_to_fail_but_passes(dut):
    await settle(dut)


@cocotb.test(expect_error=ValueError)
async def expected_another_error(dut):
    await settle(dut)
    {}["opcode"]


@cocotb.test(expect_fail=True)
async def expected_to_fail(dut):
    await settle(dut)
    assert dut.ready.value, "known: ready is tied low"


@cocotb.test()
async def logs_errors_and_passes(dut):
    await settle(dut)
    log.error("expected 0x55 got 0xAA, but the test goes on")
    log.critical("and says it again")
    await Timer(10, unit="ns")


@cocotb.test()
async def hdl_complains_and_passes(dut):
    await settle(dut)
    dut.complain.value = 1
    await FallingEdge(dut.clk)
    dut.complain.value = 0
    await Timer(10, unit="ns")
