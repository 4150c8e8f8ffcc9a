"""Yosys and SymbiYosys; their runs are read as logs and are no simulations."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(name="yosys", title="Yosys and SymbiYosys")
