"""DSim: one program that compiles, elaborates and runs."""

from pytest_dvwiki.simulators.shared import COMPILER
from pytest_dvwiki.simulators.tool import Multiline, Program, Tool, options

_HEAD = r"=[EFW]:\[[^\]]{1,60}\]"

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
    called_by_make=("dsim",),
    banners=("dsim",),
    head=r"=[EFW]:\[",
    multiline=(
        # The text is on the next line.
        Multiline(head=r"=[EFW]:\[(?:\$\w+ call\] \S+$|\w+\]:?$)", ends_at=rf"\s*{_HEAD}", most=3),
        Multiline(head=_HEAD, below="indented"),
    ),
    version=r"\bDSim version: (?P<version>[\w.]{4,30})",
    seed_options=("-sv_seed",),
    run_ends=("Simulation terminated by ",),
    warning=r"=W:\[",
    scan_words=("=e:[", "=f:["),
)
