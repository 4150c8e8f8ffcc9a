"""Flow C: the same test modules with `cocotb_test.simulator.run`, one simulation for each item."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cocotb_test.simulator import run

HERE = Path(__file__).parent
SIM = os.getenv("SIM", "icarus")
VHDL = SIM == "ghdl"
TOP = "dff" if VHDL else "dut"
LANGUAGE = "vhdl" if VHDL else "verilog"
SPEED = {"compile_args": ["-CFLAGS", "-O0"]} if SIM == "verilator" else {}


def simulate(module: str, folder: Path, top: str = TOP, source: str | None = None, **more) -> None:
    suffix = "vhdl" if VHDL else "sv"
    run(
        **{f"{LANGUAGE}_sources": [str(HERE / "rtl" / f"{source or top}.{suffix}")]},
        toplevel=top,
        toplevel_lang=LANGUAGE,
        module=module,
        python_search=[str(HERE / "bench")],
        sim_build=str(folder),
        **SPEED,
        **more,
    )


@pytest.fixture
def folder(request: pytest.FixtureRequest, area: Path) -> Path:
    return area / request.node.name


def test_checks(folder: Path) -> None:
    simulate("checks_bench", folder)


def test_uvm(folder: Path) -> None:
    simulate("uvm_bench", folder)


def test_uvm_reports(folder: Path) -> None:
    simulate("uvm_report_bench", folder)


def test_fatal(folder: Path) -> None:
    simulate("fatal_bench", folder)


def test_finish(folder: Path) -> None:
    simulate("finish_bench", folder)


def test_kill(folder: Path) -> None:
    simulate("kill_bench", folder)


def test_segfault(folder: Path) -> None:
    simulate("segfault_bench", folder)


def test_terminate(folder: Path) -> None:
    simulate("terminate_bench", folder)


def test_bad_import(folder: Path) -> None:
    simulate("import_bench", folder)


def test_bad_syntax(folder: Path) -> None:
    simulate("syntax_bench", folder)


def test_absent_module(folder: Path) -> None:
    simulate("no_such_bench", folder)


def test_untimed(folder: Path) -> None:
    simulate("untimed_bench", folder, top="untimed")


@pytest.fixture(scope="module")
def broken(area: Path) -> None:
    """Make a build for two tests, which fails once."""
    simulate("passing_bench", area / "broken", top="syntax_error", compile_only=True)


def test_needs_broken(broken: None) -> None: ...


def test_needs_broken_too(broken: None) -> None: ...


def test_missing_module(folder: Path) -> None:
    simulate("passing_bench", folder, top="missing_module")


def test_port_mismatch(folder: Path) -> None:
    simulate("passing_bench", folder, top="port_mismatch")


def test_wrong_top(folder: Path) -> None:
    simulate("passing_bench", folder, top="no_top", source=TOP)


@pytest.fixture
def vectors() -> Path:
    raise OSError("vectors.hex cannot be read")


def test_fixture_setup(vectors: Path, folder: Path) -> None:
    simulate("finish_bench", folder)


@pytest.fixture
def ledger() -> Iterator[None]:
    yield
    raise RuntimeError("ledger not empty at the end")


def test_fixture_teardown(ledger: None, folder: Path) -> None:
    simulate("passing_bench", folder)
