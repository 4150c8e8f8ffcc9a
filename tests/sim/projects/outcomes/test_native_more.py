"""Flow N: further tests for the invariants."""

from __future__ import annotations

import pytest
from cocotb_tools._pytest.hdl import HDL
from test_native import dut_hdl  # noqa: F401


@pytest.mark.cocotb_runner("seeds_bench")
def test_seeds(dut_hdl: HDL) -> None:  # noqa: F811
    dut_hdl.test()


@pytest.mark.cocotb_runner("secrets_bench")
def test_secrets(dut_hdl: HDL) -> None:  # noqa: F811
    dut_hdl.test()
