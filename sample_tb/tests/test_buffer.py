"""The stream buffer: register block and FIFO together."""

from __future__ import annotations

from collections.abc import Callable

import faults
from cocotb_tools.runner import Runner


def test_buffer(build: Callable[..., Runner]) -> None:
    runner = build("stream_buffer", "axil_regs", "sync_fifo")
    runner.test("buffer_tb", "stream_buffer", plusargs=faults.plusargs())
