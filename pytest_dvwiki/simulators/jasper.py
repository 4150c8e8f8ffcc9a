"""Jasper: proves the properties of a design; it does not simulate."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(name="jasper", title="Jasper", programs={"jg": None, "jaspergold": None})
