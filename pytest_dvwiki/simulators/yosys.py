"""Yosys, SymbiYosys and EQY; only their logs are read."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(
    name="yosys",
    title="Yosys and SymbiYosys",
    prefix=r"(?:SBY|EQY)[ ]+(?:\d{1,2}:\d\d:\d\d[ ])?\[[^\]]{1,80}\][ ]"
    r"(?:(?:base|prep|smt2|run|combine|partition|nomem|aig|btor|model|summary|engine_\d)[\w.]{0,40}:[ ])?",
)
