"""EBMC: proves the properties of a design; it does not simulate."""

from pytest_dvwiki.simulators.tool import Multiline, Tool

TOOL = Tool(
    name="ebmc",
    title="EBMC",
    programs={"ebmc": None},
    multiline=(Multiline(head=r"Invariant check failed$", only=r"(?:File|Condition|Reason): ", most=4),),
)
