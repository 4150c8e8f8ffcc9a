"""Several runners in one item and in one session, all in one folder; none of them may run beside another."""

from __future__ import annotations

from pathlib import Path

import pytest
from cocotb_test.simulator import run
from cocotb_tools.runner import get_runner

HERE = Path(__file__).parent
AREA = HERE / "sim_build" / "shared"


@pytest.fixture(scope="module")
def runner():
    """The design, built once for all."""
    made = get_runner("icarus")
    made.build(sources=[HERE / "rtl" / "dut.sv"], hdl_toplevel="dut", build_dir=AREA, always=True)
    return made


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_seeds(runner, seed: int) -> None:
    runner.test(test_module="checks_bench", hdl_toplevel="dut", build_dir=AREA, seed=seed, test_filter=r"\.mismatch$")


def test_two_modules(runner) -> None:
    runner.test(test_module="quiet_bench", hdl_toplevel="dut", build_dir=AREA)
    runner.test(test_module="checks_bench", hdl_toplevel="dut", build_dir=AREA)


def test_pass_then_broken() -> None:
    """The first simulation is good, the second does not compile: nothing failed in the first."""
    common = {"toplevel": "dut", "module": "quiet_bench", "python_search": [str(HERE / "bench")]}
    run(verilog_sources=[str(HERE / "rtl" / "dut.sv")], sim_build=str(AREA / "good"), **common)
    run(verilog_sources=[str(HERE / "rtl" / "broken.sv")], sim_build=str(AREA / "bad"), **common)


def test_all_seeds_then_verdict() -> None:
    """One item runs the same tests with two seeds and fails at its end, as a regression of its own would."""
    failed = 0
    for seed in (11, 12):
        try:
            run(
                verilog_sources=[str(HERE / "rtl" / "dut.sv")],
                toplevel="dut",
                module="checks_bench",
                python_search=[str(HERE / "bench")],
                sim_build=str(AREA / "seeds"),
                seed=seed,
                extra_env={"COCOTB_TEST_FILTER": r"\.mismatch$"},
            )
        except SystemExit:
            failed += 1
    assert not failed, f"{failed} of 2 seeds failed"
