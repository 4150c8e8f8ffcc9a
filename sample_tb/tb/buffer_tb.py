"""The cocotb test of the stream buffer."""

from __future__ import annotations

import random
from typing import Any

import axil
import cocotb
from cocotb.triggers import FallingEdge, RisingEdge


@cocotb.test()
async def through(dut: Any) -> None:
    """Words pass once the buffer is enabled, and STATUS shows how many wait."""
    dut.in_valid.value = 0
    dut.out_ready.value = 0
    master = await axil.start(dut)
    assert dut.in_ready.value == 0, "open before it is enabled"
    await master.write_dword(axil.CTRL, 1)

    words = random.randbytes(5)
    dut.in_valid.value = 1
    for word in words:
        dut.in_data.value = word
        await RisingEdge(dut.clk)
    dut.in_valid.value = 0
    assert await master.read_dword(axil.STATUS) == len(words)

    received = []
    dut.out_ready.value = 1
    for _ in words:
        await FallingEdge(dut.clk)
        received.append(int(dut.out_data.value))
    assert bytes(received) == words, f"expected {words.hex()} got {bytes(received).hex()}"
