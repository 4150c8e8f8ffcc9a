"""Active-HDL: programs and messages are those of Riviera-PRO."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(name="activehdl", title="Active-HDL", banners=("active-hdl",))
