"""Flow R: `cocotb_tools.runner` in plain pytest functions, one simulation for each item."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cocotb_tools.runner import get_runner

RTL = Path(__file__).parent / "rtl"
SIM = os.getenv("SIM", "icarus")
LOG_FILES = os.getenv("LOG_FILES") == "1"
"""Whether build and test each get a log file, as in some projects."""

VHDL = SIM == "ghdl"
TOP = "dff" if VHDL else "dut"
BUILD_ARGS = {"verilator": ["-O0"]}.get(SIM, [])


class Bench:
    """A runner with the folders and log files of one item."""

    def __init__(self, name: str, area: Path) -> None:
        self.runner = get_runner(SIM)
        self.folder = area / name
        self.folder.mkdir(parents=True, exist_ok=True)

    def log(self, name: str) -> dict[str, Path]:
        return {"log_file": self.folder / name} if LOG_FILES else {}

    def build(self, top: str, source: str | None = None) -> None:
        suffix = "vhdl" if VHDL else "sv"
        self.runner.build(
            sources=[RTL / f"{source or top}.{suffix}"],
            hdl_toplevel=top,
            build_dir=self.folder,
            build_args=BUILD_ARGS,
            always=True,
            **self.log("build.log"),
        )

    def test(self, module: str, built: Path, top: str = TOP) -> None:
        self.runner.test(
            test_module=module,
            hdl_toplevel=top,
            hdl_toplevel_lang="vhdl" if VHDL else "verilog",
            build_dir=built,
            test_dir=self.folder,
            **self.log("test.log"),
        )


@pytest.fixture
def bench(request: pytest.FixtureRequest, area: Path) -> Bench:
    return Bench(request.node.name, area)


@pytest.fixture(scope="session")
def dut(area: Path) -> Path:
    """Build the design once, and return its build folder."""
    builder = Bench("dut", area)
    builder.build(TOP)
    return builder.folder


def simulate(bench: Bench, module: str, dut: Path) -> None:
    if VHDL:  # GHDL finds its library only in the folder in which it analysed the source
        bench.build(TOP)
        dut = bench.folder
    bench.test(module, dut)


def test_checks(bench: Bench, dut: Path) -> None:
    simulate(bench, "checks_bench", dut)


def test_uvm(bench: Bench, dut: Path) -> None:
    simulate(bench, "uvm_bench", dut)


def test_uvm_reports(bench: Bench, dut: Path) -> None:
    simulate(bench, "uvm_report_bench", dut)


def test_fatal(bench: Bench, dut: Path) -> None:
    simulate(bench, "fatal_bench", dut)


def test_finish(bench: Bench, dut: Path) -> None:
    simulate(bench, "finish_bench", dut)


def test_kill(bench: Bench, dut: Path) -> None:
    simulate(bench, "kill_bench", dut)


def test_segfault(bench: Bench, dut: Path) -> None:
    simulate(bench, "segfault_bench", dut)


def test_terminate(bench: Bench, dut: Path) -> None:
    simulate(bench, "terminate_bench", dut)


def test_bad_import(bench: Bench, dut: Path) -> None:
    simulate(bench, "import_bench", dut)


def test_bad_syntax(bench: Bench, dut: Path) -> None:
    simulate(bench, "syntax_bench", dut)


def test_absent_module(bench: Bench, dut: Path) -> None:
    simulate(bench, "no_such_bench", dut)


def test_untimed(bench: Bench) -> None:
    bench.build("untimed")
    bench.test("untimed_bench", bench.folder, top="untimed")


@pytest.fixture(scope="module")
def broken(area: Path) -> None:
    """Make a build for two tests, which fails once."""
    Bench("broken", area).build("syntax_error")


def test_needs_broken(broken: None) -> None: ...


def test_needs_broken_too(broken: None) -> None: ...


def test_missing_module(bench: Bench) -> None:
    bench.build("missing_module")


def test_port_mismatch(bench: Bench) -> None:
    bench.build("port_mismatch")


def test_wrong_top(bench: Bench) -> None:
    bench.build("no_top", source=TOP)


@pytest.fixture
def vectors() -> Path:
    raise OSError("vectors.hex cannot be read")


def test_fixture_setup(vectors: Path, bench: Bench, dut: Path) -> None:
    simulate(bench, "finish_bench", dut)


@pytest.fixture
def ledger() -> Iterator[None]:
    yield
    raise RuntimeError("ledger not empty at the end")


def test_fixture_teardown(ledger: None, bench: Bench, dut: Path) -> None:
    simulate(bench, "passing_bench", dut)
