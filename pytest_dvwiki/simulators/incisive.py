"""Incisive: it shares its command lines and messages with Xcelium."""

from pytest_dvwiki.simulators.tool import Tool
from pytest_dvwiki.simulators.xcelium import ALL_IN_ONE, COMPILER, ELABORATOR, SIMULATOR

TOOL = Tool(
    name="incisive",
    title="Incisive",
    programs={"irun": ALL_IN_ONE, "ncvlog": COMPILER, "ncvhdl": COMPILER, "ncelab": ELABORATOR, "ncsim": SIMULATOR},
    plus_options=r"nc\w+",
    banners=("ncsim", "incisive"),
    mention=r"\b(?:ncsim|irun)\b",
    folders=("INCA_libs",),
)
