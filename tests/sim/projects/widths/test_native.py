"""The design under cocotb's own pytest plugin."""

from __future__ import annotations

from pathlib import Path

import pytest
from cocotb_tools._pytest.hdl import HDL

RTL = Path(__file__).parent / "rtl"


@pytest.fixture
def dut_hdl(hdl: HDL) -> HDL:
    hdl.toplevel = "dut"
    hdl.sources = [RTL / "dut.sv"]
    hdl.includes = [RTL]
    hdl.parameters = {"WIDTH": "8"}
    hdl.build()
    return hdl


@pytest.mark.cocotb_runner("widths_bench")
def test_widths(dut_hdl: HDL) -> None:
    dut_hdl.test()
