"""Needs a module that does not exist."""

from __future__ import annotations

import cocotb
import no_such_library


@cocotb.test()
async def never_runs(dut):
    no_such_library.check(dut)
