"""The register gets a value that depends on the seed."""

from __future__ import annotations

import os

import cocotb
from cocotb.triggers import Timer


async def clocked(dut: object, value: int) -> int:
    dut.d.value = value  # type: ignore[attr-defined]
    for level in (0, 1):
        dut.clk.value = level  # type: ignore[attr-defined]
        await Timer(5, "ns")
    return int(dut.q.value)  # type: ignore[attr-defined]


@cocotb.test()
async def copies(dut: object) -> None:
    value = int(os.environ["COCOTB_RANDOM_SEED"]) % 4
    found = await clocked(dut, value)
    assert found == value, f"q: expected {value}, got {found}"


@cocotb.test()
async def keeps(dut: object) -> None:
    found = await clocked(dut, 8)
    assert found == 8, f"the register lost its value: expected 8, got {found}"
