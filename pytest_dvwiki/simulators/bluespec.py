"""Bluespec's compiler: generates Verilog from a design in Bluespec; it does not simulate by itself."""

from pytest_dvwiki.simulators.tool import Multiline, Tool

_PLACE = r'Error: (?:"[^"]{1,300}", line \d{1,9}, column \d{1,9}|Unknown position|Command line): '

TOOL = Tool(
    name="bluespec",
    title="Bluespec Compiler",
    programs={"bsc": None},
    head=_PLACE,
    multiline=(Multiline(head=rf"{_PLACE}\([A-Z]\d{{4}}\)", below="indented"),),
    report=r'\b(?P<class>Error):[ ]"{source}",[ ]line[ ](?P<line>\d+),[ ]column[ ]\d+:[ ]'
    r"\((?P<id>[A-Z]\d{4})\)[ ]?(?P<text>.*)",
    report_literal='Error: "',
)
