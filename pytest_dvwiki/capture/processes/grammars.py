"""Which options of compilers and simulators name the top, parameters, defines, plusargs and files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["define", "parameter", "top", "list", "list_beside", "source", "include", "artefact", "folder", "word"]
"""What stands in the word of an option; `list_beside` is a file list whose paths are relative to the list itself."""
Does = Literal["build", "run", "both"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The options of a tool."""

    simulator: str
    separate: Mapping[str, Kind] = field(default_factory=dict)
    """Options whose word follows."""
    joined: Mapping[str, Kind] = field(default_factory=dict)
    """Options whose word is joined to them."""
    does: Does = "build"
    names_top: bool = False
    """Whether a word that is neither option nor source names the top."""


def _options(**kinds: str) -> dict[str, Kind]:
    """Return options by kind, given as one text for each kind."""
    return {option: cast("Kind", kind) for kind, options in kinds.items() for option in options.split()}


_COMPILER = _options(list="-f -file", list_beside="-F", source="-v", word="-work -y -l -timescale -pli -lib -L -t")
_XCELIUM = _options(
    define="-define -DEFINE",
    parameter="-gpg -defparam -generic",
    top="-top",
    list="-f -file",
    list_beside="-F",
    source="-v",
    include="-incdir",
    folder="-xmlibdirname -xmlibdirpath -nclibdirname -nclibdirpath",
    word="-work -y -l -logfile -loadvpi -loadvpisim -loadvhpi -access -input -timescale -cds_implicit_tmpdir -svseed"
    " -vhdl_time_precision",
)
_VSIM = _options(
    list="-f",
    parameter="-g -G",
    word="-do -onfinish -pli -foreign -t -lib -work -L -Lf -l -wlf -sv_lib -sv_seed -modelsimini -loadvpi -loadvhpi"
    " -gblso -title -coverstore -testname",
)
_GENERICS = _options(parameter="-g -G")
_GETOPT = _options(artefact="-o", top="-s", define="-D", parameter="-P", list="-f -c", source="-l", include="-I")

GRAMMARS: Mapping[str, Grammar] = {
    "iverilog": Grammar("icarus", _GETOPT | _options(word="-B -d -g -L -m -M -N -p -t -T -W -y -Y"), _GETOPT),
    "vvp": Grammar("icarus", _options(word="-l -M -m"), does="run"),
    "verilator": Grammar(
        "verilator",
        _options(
            top="-top-module -top",
            list="-f",
            list_beside="-F",
            source="-v",
            artefact="-o",
            folder="-Mdir",
            word="-y -prefix -mod-prefix -CFLAGS -LDFLAGS -MAKEFLAGS -timescale -threads -j -work",
        ),
        _options(parameter="-G", define="-D", include="-I"),
    ),
    "ghdl": Grammar("ghdl", joined=_options(folder="--workdir=", parameter="-g"), names_top=True),
    "nvc": Grammar(
        "nvc",
        _options(parameter="-g --generic", folder="-L", word="--load"),
        _options(parameter="-g --generic="),
        names_top=True,
    ),
    "vlog": Grammar("questa", _COMPILER),
    "vcom": Grammar("questa", _COMPILER),
    "vopt": Grammar("questa", _VSIM | _options(word="-o"), _GENERICS, names_top=True),
    "vsim": Grammar("questa", _VSIM, _GENERICS, does="run", names_top=True),
    "qrun": Grammar(
        "questa",
        _VSIM | _COMPILER | _options(top="-top", folder="-outdir", word="-makelib -designfile"),
        _GENERICS,
        does="both",
    ),
    "alog": Grammar("riviera", _COMPILER),
    "acom": Grammar("riviera", _COMPILER),
    "asim": Grammar("riviera", _VSIM, _GENERICS, does="run", names_top=True),
    "vlogan": Grammar("vcs", _COMPILER),
    "vhdlan": Grammar("vcs", _COMPILER),
    "vcs": Grammar(
        "vcs",
        _COMPILER | _options(top="-top", artefact="-o", parameter="-gv", word="-load -P -LDFLAGS -CFLAGS -Mdir"),
        _options(parameter="-pvalue+"),
        names_top=True,
    ),
    "xrun": Grammar("xcelium", _XCELIUM, does="both"),
    "irun": Grammar("incisive", _XCELIUM, does="both"),
    "xmvlog": Grammar("xcelium", _XCELIUM),
    "xmvhdl": Grammar("xcelium", _XCELIUM),
    "xmelab": Grammar("xcelium", _XCELIUM, names_top=True),
    "xmsim": Grammar("xcelium", _XCELIUM, does="run", names_top=True),
    "dsim": Grammar(
        "dsim",
        _COMPILER
        | _options(top="-top", parameter="-defparam", folder="-work", word="-pli_lib -image -genimage -waves"),
        does="both",
    ),
}

ALIASES: Mapping[str, str] = {
    "verilator_bin": "verilator",
    "verilator_bin_dbg": "verilator",
    "vsimsa": "asim",
    "riviera": "asim",
}
SCRIPTED = frozenset({"riviera", "vsim", "vsimsa"})
"""Programs to which `-do FILE` gives a script of commands."""
PROGRAMS = frozenset({*GRAMMARS, *ALIASES})

GHDL_COMMANDS: Mapping[str, Does] = {
    "-a": "build",
    "analyze": "build",
    "-i": "build",
    "import": "build",
    "-m": "build",
    "make": "build",
    "-e": "build",
    "elab": "build",
    "elaborate": "build",
    "-r": "run",
    "run": "run",
    "--elab-run": "run",
    "elab-run": "run",
    "-c": "both",
    "compile": "both",
}
BUILDS_BY = frozenset({"-elaborate", "-compile", "-optimize", "-genimage"})
"""Options by which a program that may do both only builds."""
RUNS_BY = frozenset({"-R", "-simulate", "-image"})
"""Options by which a program that may do both only runs; where one that builds is there as well, it builds."""
