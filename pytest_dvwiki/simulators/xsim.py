"""Vivado's simulator; its command lines are not read."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(
    name="xsim",
    title="Vivado xsim",
    programs=dict.fromkeys(("xvlog", "xvhdl", "xelab", "xsim", "vivado")),
    banners=("xsim", "vivado"),
)
