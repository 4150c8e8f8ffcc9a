"""A test module with a missing bracket."""

import cocotb


@cocotb.test()
async def never_seen(dut):
    print("half a line"
