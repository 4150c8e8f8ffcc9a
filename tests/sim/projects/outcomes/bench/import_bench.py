"""A test module that needs a package that is not installed."""

from __future__ import annotations

import cocotb
import no_such_package


@cocotb.test()
async def never_seen(dut):
    no_such_package.run(dut)
