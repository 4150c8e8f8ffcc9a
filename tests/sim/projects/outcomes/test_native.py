"""Flow N: the same test modules with cocotb's own pytest plugin, one runner for each item."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cocotb_tools._pytest.hdl import HDL

RTL = Path(__file__).parent / "rtl"


def build(hdl: HDL, top: str, source: str | None = None) -> HDL:
    hdl.toplevel = top
    hdl.sources = [RTL / f"{source or top}.sv"]
    hdl.build(always=True)
    return hdl


@pytest.fixture
def dut_hdl(hdl: HDL) -> HDL:
    return build(hdl, "dut")


@pytest.fixture
def untimed_hdl(hdl: HDL) -> HDL:
    return build(hdl, "untimed")


@pytest.fixture
def missing_module_hdl(hdl: HDL) -> HDL:
    return build(hdl, "missing_module")


@pytest.fixture
def port_mismatch_hdl(hdl: HDL) -> HDL:
    return build(hdl, "port_mismatch")


@pytest.fixture
def wrong_top_hdl(hdl: HDL) -> HDL:
    return build(hdl, "no_top", source="dut")


@pytest.fixture(scope="module")
def broken_hdl(hdl_session: HDL) -> HDL:
    """Make a build for two runners, which fails once."""
    hdl_session.toplevel = "syntax_error"
    hdl_session.sources = [RTL / "syntax_error.sv"]
    hdl_session.runner.build(
        sources=hdl_session.sources, hdl_toplevel="syntax_error", build_dir=hdl_session.build_dir
    )
    return hdl_session


@pytest.mark.cocotb_runner("checks_bench")
def test_checks(dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.mark.cocotb_runner("uvm_bench")
def test_uvm(dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.mark.cocotb_runner("uvm_report_bench")
def test_uvm_reports(dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.mark.cocotb_runner("fatal_bench")
def test_fatal(dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.mark.cocotb_runner("finish_bench")
def test_finish(dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.mark.cocotb_runner("kill_bench")
def test_kill(dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.mark.cocotb_runner("segfault_bench")
def test_segfault(dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.mark.cocotb_runner("untimed_bench")
def test_untimed(untimed_hdl: HDL) -> None:
    untimed_hdl.test()


@pytest.mark.cocotb_runner("checks_bench")
def test_needs_broken(broken_hdl: HDL) -> None:
    broken_hdl.test()


@pytest.mark.cocotb_runner("checks_bench")
def test_needs_broken_too(broken_hdl: HDL) -> None:
    broken_hdl.test()


@pytest.mark.cocotb_runner("checks_bench")
def test_missing_module(missing_module_hdl: HDL) -> None:
    missing_module_hdl.test()


@pytest.mark.cocotb_runner("checks_bench")
def test_port_mismatch(port_mismatch_hdl: HDL) -> None:
    port_mismatch_hdl.test()


@pytest.mark.cocotb_runner("checks_bench")
def test_wrong_top(wrong_top_hdl: HDL) -> None:
    wrong_top_hdl.test()


@pytest.mark.cocotb_runner("fixtures_bench")
def test_inner_fixture(dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.fixture
def vectors() -> Path:
    raise OSError("vectors.hex cannot be read")


@pytest.mark.cocotb_runner("passing_bench")
def test_fixture_setup(vectors: Path, dut_hdl: HDL) -> None:
    dut_hdl.test()


@pytest.fixture
def ledger() -> Iterator[None]:
    yield
    raise RuntimeError("ledger not empty at the end")


@pytest.mark.cocotb_runner("passing_bench")
def test_fixture_teardown(ledger: None, dut_hdl: HDL) -> None:
    dut_hdl.test()
