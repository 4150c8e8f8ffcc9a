"""Flow N: the Python process of the runner dies after its simulation."""

from __future__ import annotations

import os

import pytest
from cocotb_tools._pytest.hdl import HDL
from test_native import dut_hdl  # noqa: F401


@pytest.mark.cocotb_runner("passing_bench")
def test_runner_crash(dut_hdl: HDL) -> None:  # noqa: F811
    dut_hdl.test()
    os._exit(3)
