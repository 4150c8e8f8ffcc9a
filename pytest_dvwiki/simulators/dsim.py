"""DSim: one program that compiles, elaborates and runs."""

from pytest_dvwiki.simulators.shared import COMPILER
from pytest_dvwiki.simulators.tool import Program, Tool, options

TOOL = Tool(
    name="dsim",
    title="DSim",
    programs={
        "dsim": Program(
            does="both",
            separate=COMPILER
            | options(top="-top", parameter="-defparam", folder="-work", word="-pli_lib -image -genimage -waves"),
            decided_by={"-genimage": "build", "-image": "run"},
        )
    },
    only_of_make=("dsim",),
    banners=("dsim",),
)
