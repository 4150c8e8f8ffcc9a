"""Flow C: `cocotb_test.simulator.run` inside plain pytest functions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cocotb_test.simulator import run

HERE = Path(__file__).parent
AREA = HERE / os.getenv("AREA", "sim_build")


def simulate(module: str, name: str, source: str = "dut", **more) -> None:
    run(
        verilog_sources=[str(HERE / "rtl" / f"{source}.sv")],
        toplevel="dut",
        module=module,
        python_search=[str(HERE / "bench")],
        sim_build=str(AREA / name),
        **more,
    )


def test_checks() -> None:
    simulate("checks_bench", "checks")


def test_uvm() -> None:
    simulate("uvm_bench", "uvm")


def test_fatal() -> None:
    simulate("fatal_bench", "fatal")


def test_bad_import() -> None:
    simulate("import_bench", "import")


def test_kill() -> None:
    simulate("kill_bench", "kill")


def test_broken() -> None:
    simulate("quiet_bench", "broken", source="broken")


def test_quiet() -> None:
    simulate("quiet_bench", "quiet")


@pytest.fixture(scope="module")
def built() -> str:
    """A build that two tests need."""
    simulate("quiet_bench", "prebuilt", source="broken", compile_only=True)
    return "prebuilt"


def test_needs_build(built: str) -> None:
    simulate("quiet_bench", built)


def test_needs_build_too(built: str) -> None:
    simulate("quiet_bench", built)
