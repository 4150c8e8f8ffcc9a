"""Active-HDL: it shares its programs and messages with Riviera-PRO."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(name="activehdl", title="Active-HDL", banners=("active-hdl",))
