"""All tests pass here."""

from __future__ import annotations

import cocotb
from driver import settle


@cocotb.test()
async def first(dut):
    await settle(dut)


@cocotb.test()
async def second(dut):
    await settle(dut)
