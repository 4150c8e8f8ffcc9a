"""Flow N: reruns of pytest-rerunfailures, one successful and one not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cocotb_tools._pytest.hdl import HDL
from test_native import dut_hdl  # noqa: F401

AGAIN = Path(__file__).parent / "again"


@pytest.mark.flaky(reruns=1)
@pytest.mark.cocotb_runner("flaky_bench")
def test_second_time(dut_hdl: HDL) -> None:  # noqa: F811
    """The simulation fails at the first attempt only."""
    os.environ["FLAKY"] = "0" if AGAIN.exists() else "1"
    AGAIN.touch()
    dut_hdl.test()


@pytest.mark.flaky(reruns=1)
@pytest.mark.cocotb_runner("flaky_bench")
def test_every_time(dut_hdl: HDL) -> None:  # noqa: F811
    os.environ["FLAKY"] = "1"
    dut_hdl.test()
