"""Flow N: a runner that never ends, and one that has already reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from cocotb_tools._pytest.hdl import HDL

RTL = Path(__file__).parent / "rtl"


@pytest.fixture
def dut_hdl(hdl: HDL) -> HDL:
    hdl.toplevel = "dut"
    hdl.sources = [RTL / "dut.sv"]
    hdl.build(always=True)
    return hdl


@pytest.mark.cocotb_runner("finish_bench")
def test_reported(dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.mark.timeout(12)
@pytest.mark.cocotb_runner("hang_bench")
def test_hang(dut_hdl: HDL) -> None:
    dut_hdl.test()
