"""slang: parses and elaborates SystemVerilog; it does not simulate."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(
    name="slang",
    title="slang",
    programs={"slang": None},
    missing={
        "module": r"unknown (?:module|interface) '(?P<name>[\w$]+)'",
        "include": r"'(?P<name>[^']+)': No such file or directory",
        "port": r"port '(?P<name>[\w$]+)' does not exist in ",
        "name": r"use of undeclared identifier '(?P<name>[\w$]+)'",
    },
    summary=r"Build (?:failed|succeeded): \d+ errors?, ",
)
