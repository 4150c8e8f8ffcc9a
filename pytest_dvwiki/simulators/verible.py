"""Verible: a parser, a linter and a formatter of SystemVerilog."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(
    name="verible",
    title="Verible",
    programs=dict.fromkeys(
        f"verible-verilog-{name}" for name in ("format", "lint", "preprocessor", "project", "syntax")
    ),
)
