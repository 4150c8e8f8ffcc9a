"""The register in the flow of cocotb-test."""

from __future__ import annotations

from pathlib import Path

from cocotb_test.simulator import run

HERE = Path(__file__).parent


def test_dut() -> None:
    run(
        toplevel="dut",
        module="copy_bench",
        verilog_sources=[str(HERE / "rtl" / "dut.sv")],
        python_search=[str(HERE / "bench")],
        sim_build=str(HERE / "sim_build_cocotb_test"),
    )
