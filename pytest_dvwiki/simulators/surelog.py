"""Surelog: parses and elaborates SystemVerilog for other tools; it does not simulate."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(name="surelog", title="Surelog", programs={"surelog": None})
