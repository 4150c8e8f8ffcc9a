"""The register in the flow of cocotb's runner."""

from __future__ import annotations

import os
from pathlib import Path

from cocotb_tools.runner import get_runner

HERE = Path(__file__).parent
SIM = os.getenv("SIM", "icarus")
SOURCES = ["dut.vhdl"] if SIM == "ghdl" else ["dut.sv"]
TOP = "dut"


def test_dut() -> None:
    runner = get_runner(SIM)
    runner.build(
        sources=[HERE / "rtl" / name for name in SOURCES],
        hdl_toplevel=TOP,
        parameters={} if SIM == "ghdl" else {"WIDTH": os.getenv("WIDTH", "8")},
        build_dir=HERE / f"sim_build_{SIM}",
        build_args=["-Wno-fatal"] if SIM == "verilator" else [],
        always=os.getenv("SKIP") is None,
    )
    runner.test(hdl_toplevel=TOP, test_module="copy_bench")
