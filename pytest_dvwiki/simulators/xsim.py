"""Vivado's simulator; its command lines are not read."""

from pytest_dvwiki.simulators.tool import Spread, Tool

TOOL = Tool(
    name="xsim",
    title="Vivado xsim",
    programs=dict.fromkeys(("xvlog", "xvhdl", "xelab", "xsim", "vivado")),
    banners=("xsim", "vivado"),
    head=r"(?:FATAL_)?ERROR:[ ]|WARNING:[ ]\[",
    error=r"(?:FATAL_)?ERROR: \[",
    spreads=(
        Spread(head=r"(?:Error|Fatal|Failure): .*:$", below="indented or details"),
        Spread(head=r"(?:Error|Fatal|Failure): ", below="details", text_until_time=True),
    ),
)
