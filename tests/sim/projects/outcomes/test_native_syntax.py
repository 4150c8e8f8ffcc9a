"""Flow N: a runner whose test module cannot be imported; pytest notices that during collection."""

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


@pytest.mark.cocotb_runner("syntax_bench")
def test_bad_syntax(dut_hdl: HDL) -> None:
    dut_hdl.test()
