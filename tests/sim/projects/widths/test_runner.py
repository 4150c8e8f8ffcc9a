"""The design in the flow of cocotb's runner; `WIDTH` is its parameter."""

from __future__ import annotations

import os
from pathlib import Path

from cocotb_tools.runner import get_runner

HERE = Path(__file__).parent
SIM = os.getenv("SIM", "icarus")


def test_widths() -> None:
    parameters = {"WIDTH": os.getenv("WIDTH", "8")}
    runner = get_runner(SIM)
    if SIM == "ghdl":  # takes them when it runs
        runner.build(sources=[HERE / "rtl" / "dut.vhdl"], hdl_toplevel="dut", build_dir=HERE / "sim_build")
        runner.test(hdl_toplevel="dut", test_module="widths_bench", parameters=parameters)
        return
    runner.build(
        sources=[HERE / "rtl" / "dut.sv"],
        includes=[HERE / "rtl"],
        parameters=parameters,
        hdl_toplevel="dut",
        build_dir=HERE / "sim_build",
        build_args=["-Wno-fatal"] if SIM == "verilator" else [],
    )
    runner.test(hdl_toplevel="dut", test_module="widths_bench", plusargs=os.getenv("PLUSARGS", "").split())
