"""Flow N: the simulator gets SIGTERM."""

from __future__ import annotations

import pytest
from cocotb_tools._pytest.hdl import HDL
from test_native import dut_hdl  # noqa: F401


@pytest.mark.cocotb_runner("terminate_bench")
def test_terminate(dut_hdl: HDL) -> None:  # noqa: F811
    dut_hdl.test()
