"""The cocotb tests of the register block."""

from __future__ import annotations

import random
from typing import Any

import axil
import cocotb
import faults
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi import AxiLiteMaster, AxiResp


async def start(dut: Any) -> AxiLiteMaster:
    """Reset the block with all its inputs defined."""
    dut.status.value = 0
    return await axil.start(dut)


@cocotb.test()
async def reset_values(dut: Any) -> None:
    """After reset CTRL is zero and the ID can be read."""
    master = await start(dut)
    assert dut.ctrl.value == 0
    assert await master.read_dword(axil.ID) == 0x5D1C0001


@cocotb.test()
async def write_and_read_back(dut: Any) -> None:
    """SCRATCH keeps what is written, byte by byte."""
    master = await start(dut)
    model = bytearray(4)
    for _ in range(20):
        offset = random.randrange(4)
        data = random.randbytes(random.randint(1, 4 - offset))
        await master.write(axil.SCRATCH + offset, data)
        model[offset : offset + len(data)] = data
        actual = (await master.read(axil.SCRATCH, 4)).data
        assert actual == model, f"SCRATCH: expected {model.hex()} got {actual.hex()}"


@cocotb.test()
async def read_only(dut: Any) -> None:
    """A write to a read-only register is refused."""
    master = await start(dut)
    answer = await master.write(axil.STATUS, bytes(4))
    assert answer.resp is AxiResp.SLVERR, "STATUS took a write, it is read only"


@cocotb.test()
async def data_before_address(dut: Any) -> None:
    """A write is answered where its data comes before its address."""
    master = await start(dut)
    master.write_if.aw_channel.pause = True
    write = cocotb.start_soon(master.write(axil.SCRATCH, b"\x12\x34\x56\x78"))
    await ClockCycles(dut.clk, 5)
    master.write_if.aw_channel.pause = False
    answer = await with_timeout(write, 2, "us")
    assert answer.resp is AxiResp.OKAY


@cocotb.test()
async def interrupt(dut: Any) -> None:
    """The interrupt follows STATUS once it is enabled."""
    master = await start(dut)
    irq = dut.irq_out if "regs_renamed_irq" in faults.active() else dut.irq
    dut.status.value = 1
    await ClockCycles(dut.clk, 2)
    assert irq.value == 0, "interrupt before it is enabled"
    await master.write_dword(axil.CTRL, 0b10)
    await ClockCycles(dut.clk, 2)
    assert irq.value == 1, "no interrupt"


@cocotb.test()
async def bad_address(dut: Any) -> None:
    """Reads and writes outside the map answer DECERR."""
    master = await start(dut)
    assert (await master.write(axil.UNMAPPED, bytes(4))).resp is AxiResp.DECERR
    assert (await master.read(axil.UNMAPPED, 4)).resp is AxiResp.DECERR
