"""The register under cocotb's own pytest plugin."""

from __future__ import annotations

from pathlib import Path

import pytest
from cocotb_tools._pytest.hdl import HDL


@pytest.fixture
def dut_hdl(hdl: HDL) -> HDL:
    hdl.toplevel = "dut"
    hdl.sources = [Path(__file__).parent / "rtl" / "dut.sv"]
    hdl.build(always=True)
    return hdl


@pytest.mark.cocotb_runner("copy_bench")
def test_dut(dut_hdl: HDL) -> None:
    dut_hdl.test()
