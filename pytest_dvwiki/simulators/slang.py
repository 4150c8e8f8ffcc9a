"""slang: parses and elaborates SystemVerilog, and simulates nothing."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(
    name="slang",
    title="slang",
    programs={"slang": None},
    summary=r"Build (?:failed|succeeded): \d+ errors?, ",
)
