"""Each tool needs only one module."""

from __future__ import annotations

import importlib
from collections import Counter

import pytest

from pytest_dvwiki import simulators
from pytest_dvwiki.capture.processes.tools import simulator_name
from pytest_dvwiki.capture.simulations import regression


def test_a_tool_is_named_as_its_module() -> None:
    assert simulators.tools()
    for tool in simulators.tools():
        assert importlib.import_module(f"pytest_dvwiki.simulators.{tool.name}").TOOL is tool


def test_a_program_belongs_to_one_tool() -> None:
    names = Counter(name for tool in simulators.tools() for name in (*tool.programs, *tool.binaries))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("verilator_bin_dbg", "verilator"),
        ("Vtop", "verilator"),
        ("vlib", "questa"),
        ("vcom", "questa"),
        ("vopt", "questa"),
        ("acom", "riviera"),
        ("vhdlan", "vcs"),
        ("xmsim", "xcelium"),
        ("ncsim", "incisive"),
        ("xelab", "xsim"),
        ("dsim", "dsim"),
        ("make", None),
        ("ls", None),
    ],
)
def test_processes_and_logs_know_a_program_by_the_same_name(program: str, name: str | None) -> None:
    assert simulator_name(program) == simulator_name(f"{program}.exe") == name
    assert regression.simulator_name(program) == (name or program)


@pytest.mark.parametrize(
    ("banner", "name"),
    [("ModelSim SE-64", "questa"), ("ncsim(64)", "incisive"), ("Active-HDL", "activehdl"), ("XSIM", "xsim")],
)
def test_a_product_name_belongs_to_a_tool(banner: str, name: str) -> None:
    assert regression.simulator_name(banner) == name
