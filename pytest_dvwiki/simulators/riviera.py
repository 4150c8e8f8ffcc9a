"""Riviera-PRO; Active-HDL shares its messages and programs."""

from pytest_dvwiki.simulators.shared import COMPILER, GENERICS, LOADER
from pytest_dvwiki.simulators.tool import Program, Tool

_COMPILER = Program(does="build", separate=COMPILER)
_SHELL = Program(does="run", separate=LOADER, joined=GENERICS, names_top=True, takes_script=True)

TOOL = Tool(
    name="riviera",
    title="Riviera-PRO and Active-HDL",
    programs={
        "alog": _COMPILER,
        "acom": _COMPILER,
        "asim": Program(does="run", separate=LOADER, joined=GENERICS, names_top=True),
        "vsimsa": _SHELL,
        "riviera": _SHELL,
    },
    plus_options="access|rwc?|r|w|c",
    banners=("riviera",),
    head=r"(?:RC)?KERNEL:[ ]|(?:RUNTIME|ASSERT):[ ]|(?:ELAB\w?|COMP96):?[ ]",
    version=r"\bRiviera-PRO version (?P<version>\d[\w.]{3,30}) built\b",
    seed_options=("-sv_seed",),
    run_ends=("KERNEL: stopped at time:",),
    error=r"(?:RUNTIME|KERNEL|ELAB\w?|ELBREAD|VSIM): (?:Fatal )?Error: ",
    run_head="(?:RUNTIME|KERNEL): ",
    elaboration_head=r"ELAB\d?: |ELBREAD: ",
    run_error=r"(?:EXECUTION|ASSERT|ASSERTION|KERNEL|RUNTIME)::? ?(?i:error|fatal|failure)\b",
)
