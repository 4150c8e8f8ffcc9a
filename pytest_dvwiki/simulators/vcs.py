"""VCS: compiles a design, after an analysis of it or at once, to a program that simulates it."""

from pytest_dvwiki.simulators.shared import COMPILER
from pytest_dvwiki.simulators.tool import Program, Tool, options

_ANALYSER = Program(does="build", separate=COMPILER)

TOOL = Tool(
    name="vcs",
    title="VCS",
    programs={
        "vlogan": _ANALYSER,
        "vhdlan": _ANALYSER,
        "vcs": Program(
            does="build",
            separate=COMPILER
            | options(top="-top", artefact="-o", parameter="-gv", word="-load -P -LDFLAGS -CFLAGS -Mdir"),
            joined=options(parameter="-pvalue+"),
            decided_by={"-R": "both"},
            names_top=True,
            makes="simv",
        ),
    },
    binaries=("simv",),
    only_of_make=("vcs",),
    plus_options="vcs",
    banners=("vcs",),
)
