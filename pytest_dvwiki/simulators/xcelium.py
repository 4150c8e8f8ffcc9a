"""Xcelium, and what Incisive, which came before it, shares with it."""

from pytest_dvwiki.simulators.tool import Program, Tool, options

_OPTIONS = options(
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
ALL_IN_ONE = Program(
    does="both", separate=_OPTIONS, decided_by={"-elaborate": "build", "-compile": "build", "-R": "run"}
)
COMPILER = Program(does="build", separate=_OPTIONS)
ELABORATOR = Program(does="build", separate=_OPTIONS, names_top=True)
SIMULATOR = Program(does="run", separate=_OPTIONS, names_top=True)

TOOL = Tool(
    name="xcelium",
    title="Xcelium and Incisive",
    programs={
        "xrun": ALL_IN_ONE,
        "xmvlog": COMPILER,
        "xmvhdl": COMPILER,
        "xmelab": ELABORATOR,
        "xmsim": SIMULATOR,
    },
    only_of_make=("xrun",),
    plus_options="access",
    banners=("xcelium", "xmsim"),
)
