"""Questa and ModelSim."""

from pytest_dvwiki.simulators.shared import COMPILER, GENERICS, LOADER
from pytest_dvwiki.simulators.tool import Program, Tool, options

TOOL = Tool(
    name="questa",
    title="Questa and ModelSim",
    programs={
        "vlib": None,
        "vmap": None,
        "vlog": Program(does="build", separate=COMPILER, only_checks=frozenset({"-E"})),
        "vcom": Program(does="build", separate=COMPILER),
        "vopt": Program(does="build", separate=LOADER | options(word="-o"), joined=GENERICS, names_top=True),
        "vsim": Program(does="run", separate=LOADER, joined=GENERICS, names_top=True, takes_script=True),
        "qrun": Program(
            does="both",
            separate=LOADER | COMPILER | options(top="-top", folder="-outdir", word="-makelib -designfile"),
            joined=GENERICS,
            decided_by={"-compile": "build", "-optimize": "build", "-simulate": "run"},
        ),
        "vrun": None,
    },
    plus_options="acc",
    banners=("questa", "modelsim"),
)
