"""A test that prints FLOOD_MB megabytes, with the cause in the middle."""

from __future__ import annotations

import logging
import os

import cocotb
from driver import settle

log = logging.getLogger("scoreboard")
LINE = f"{'x' * 60} transaction ok\n"
LINES_PER_MB = (1 << 20) // len(LINE)


def flood(megabytes: int) -> None:
    block = LINE * LINES_PER_MB
    for _ in range(megabytes):
        print(block, end="", flush=True)


@cocotb.test()
async def floods(dut):
    await settle(dut)
    half = int(os.environ["FLOOD_MB"]) // 2
    flood(half)
    log.error("MISMATCH in the middle: expected 0x31 got 0x32")
    flood(half)
    assert dut.ready.value, "ready never rose after the flood"
