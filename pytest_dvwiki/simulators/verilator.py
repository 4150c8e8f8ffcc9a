"""Verilator: compiles a design into a program that simulates it, or only checks the design."""

from pytest_dvwiki.simulators.tool import Program, Tool, options

_VERILATOR = Program(
    does="build",
    separate=options(
        top="-top-module -top",
        list="-f",
        list_beside="-F",
        source="-v",
        artefact="-o",
        folder="-Mdir",
        library="-y",
        word="-prefix -mod-prefix -CFLAGS -LDFLAGS -MAKEFLAGS -timescale -threads -j -work",
    ),
    joined=options(parameter="-G", define="-D", include="-I"),
    only_checks=frozenset({"--lint-only", "-lint-only", "--json-only", "--xml-only", "-E"}),
    two_dashes=True,
    makes="V{top}",
    makes_in="obj_dir",
    has_library=False,
)

TOOL = Tool(
    name="verilator",
    title="Verilator",
    programs={"verilator": _VERILATOR, "verilator_bin": _VERILATOR, "verilator_bin_dbg": _VERILATOR},
    binaries=("Vtop",),
    called_by_make=("verilator",),
    banners=("verilator",),
    head=r"%(?:Error|Warning)(?:-\w+)?:[ ]",
    summary=r"%Error:\s(?:Exiting|Command)",
    error=r"%Error",
    report=r"%(?P<class>Error|Warning|Fatal)(?:-(?P<id>\w+))?:[ ]"
    r"(?:{source}:(?P<line>\d+)(?::\d+)?:[ ]?)?(?P<text>.*)",
    report_literal="%",
    missing={
        "module": r"Cannot find file containing module: '(?P<name>[\w$]+)'",
        "include": r"Cannot find include file: '(?P<name>[^']+)'",
        "port": r"Pin not found: '(?P<name>[\w$]+)'",
        "name": r"Can't find definition of variable: '(?P<name>[\w$]+)'",
    },
    warning=r"%Warning\b",
    run_error=r"(?:\[\d+\] )?%Error",
    fatal=r"%(?:Error|Fatal)\b",
    mention="[Vv]erilator",
    folders=("obj_dir",),
    dependencies="__ver.d",
)
