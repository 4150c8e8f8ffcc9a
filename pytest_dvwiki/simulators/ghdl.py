"""GHDL: one program with subcommands that analyses, elaborates and runs VHDL."""

from pytest_dvwiki.simulators.tool import Does, Program, Tool, options

_SUBCOMMANDS: dict[str, Does] = {
    "-a": "build", "analyze": "build", "-i": "build", "import": "build", "-m": "build", "make": "build",
    "-e": "build", "elab": "build", "elaborate": "build",
    "-r": "run", "run": "run", "--elab-run": "run", "elab-run": "run",
    "-c": "both", "compile": "both",
}  # fmt: skip

TOOL = Tool(
    name="ghdl",
    title="GHDL",
    programs={
        "ghdl": Program(
            joined=options(folder="--workdir=", searched="-P", parameter="-g", library_name="--work="),
            subcommands=_SUBCOMMANDS,
            imports=frozenset({"-i", "import"}),
            analyses_imported=frozenset({"-m", "make"}),
            names_top=True,
            architecture_follows=True,
        )
    },
    called_by_make=("ghdl",),
    banners=("ghdl",),
    begins_with_file=True,
    head=r"[\w./-]{1,200}ghdl\S{0,40}:error:",
    summary=r"\S*ghdl\S*:\s?(?:error:\s(?:simulation|compilation)|compilation)",
    # at run time: file:line:column:@time:(severity): text
    report=r"{source}:(?P<line>\d+):\d+:@[^:]{1,40}:\((?P<class>[a-z ]+)\):[ ]?(?P<text>.*)",
    report_literal=":@",
    run_error=r"\S+:@\w+:\((?:assertion|report) (?:error|failure)\)",
    run_error_words=("error)", "failure)"),
    fatal=r"\((?:assertion|report) failure\)",
    # GHDL only warns and simulates on, with nothing driving the component's outputs.
    unbound=r'^(?P<place>\S+:\d+:\d+):warning: instance "[^"]+" of component "(?P<name>[^"]+)" is not bound',
    mention=r"\bghdl\b",
    time=r":@(\d+(?:\.\d+)?)([munpf]?s):\(",
    scan_words=(".vhd:", ".vhdl:"),
)
