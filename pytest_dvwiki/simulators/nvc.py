"""NVC: one program that analyses, elaborates or runs VHDL, depending on its options."""

from pytest_dvwiki.simulators.tool import Program, Tool, options

TOOL = Tool(
    name="nvc",
    title="NVC",
    programs={
        "nvc": Program(
            separate=options(parameter="-g --generic", folder="-L", word="--load"),
            joined=options(parameter="-g --generic=", work="--work="),
            decided_by={"-r": "run", "-a": "build", "-e": "build"},
            names_top=True,
            no_top_with="-a",
        )
    },
    called_by_make=("nvc",),
    banners=("nvc",),
    place_line=r"> \S{1,300}:\d+$|File \S{1,300}, Line \d+$",
    mention=r"\bnvc\b",
)
