"""The design in the flow of cocotb-test."""

from __future__ import annotations

from pathlib import Path

from cocotb_test.simulator import run

HERE = Path(__file__).parent


def test_widths() -> None:
    run(
        toplevel="dut",
        module="widths_bench",
        verilog_sources=[str(HERE / "rtl" / "dut.sv")],
        includes=[str(HERE / "rtl")],
        parameters={"WIDTH": "8"},
        python_search=[str(HERE / "bench")],
        sim_build=str(HERE / "sim_build_cocotb_test"),
    )
