"""Questa and ModelSim."""

from pytest_dvwiki.simulators.shared import COMPILER, GENERICS, LOADER
from pytest_dvwiki.simulators.tool import Multiline, Program, Repair, Tool, options

_HEAD = r"\*\* (?:at |Error|Warning|Fatal|Failure|Note|Info)"

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
    prefix=r"\#(?:[ ]|$|(?=\*\*[ ]))(?:COUT:(?:[ ]|$))?"
    r"|[ \t]+(?=\#[ ]?(?:\*\*[ ]|[A-Z]{3,}\w*:[ ]|[ ]{2,}\S))",  # an indented transcript
    head=r"(?:\#[ ])?(?:\*\*[ ](?:Error|Warning|Note|Fatal|Failure|at|while)\b|Error[ ]loading[ ]|End[ ]time:)",
    summary=r"Error loading|Optimization failed|End time|Errors: ",
    error=r"(?:\*\* ?)?(?:Error|Fatal)(?: \(suppressible\))?:",
    continued=r"(?:Error|Fatal)(?: \(suppressible\))?:|\((?:vlog|vcom|vopt|vsim)-[\w-]+\):?",
    multiline=(
        Multiline(head=r".{0,200}\*\* while parsing (?:file included|macro)", only=r"[ ]*\*\* (?:while parsing|at )"),
        Multiline(head=rf"{_HEAD}.*:$", below="indented or details"),
        Multiline(head=_HEAD, below="details", text_until_time=True),
    ),
    repairs=(
        # Markdown takes the stars for emphasis, and removes them.
        Repair(
            starts=("Error", "Fatal"),
            expression=r"^(?=(?:Error|Fatal)(?: \(suppressible\))?: "
            r"(?:\S{1,300}\(\d+\): |\((?:v\w{3}-[\w-]+|SIGSEGV)\) |\S{1,200}/(?:vlog|vcom|vsim|vopt)\S* failed))",
            replacement="** ",
        ),
    ),
    report=r"\*\*[ ](?P<class>Error|Fatal|Failure)(?:[ ]\(suppressible\))?:[ ](?:\((?P<id>[a-z]+-\d+)\)[ ])?"
    r"(?:(?P<file>[^\s()]{1,300})\((?P<line>\d+)(?:\.\d+)?\):[ ])?(?P<text>.*)",
    report_literal="**",
    warning=r"\*\* Warning\b",
    elaboration_head=r".{0,300}\((?:vopt|vsim)-\d+\)",
    run_error=r"\*\* (?:Error|Fatal|Failure)\b",
    fatal=r"^\*\* Fatal",
    success=r"^Errors: 0, Warnings: \d",
    success_words=("errors: 0",),
    mention=r"\bvsim\b",
    time=r"\bTime: (\d+(?:\.\d+)?) ([munpf]?s)  Iteration: ",
    version=r"(?:\bvsim |// +Version )(?P<version>\d[\w.]{3,20})\b",
    seed_options=("-sv_seed",),
    seed_line=r"\bSv_Seed = (?P<seed>\d+)",
    run_ends=("End time:",),
    scan_words=("(vlog-", "(vcom-", "(vopt-", "(vsim-"),
    log_names=("transcript", ".transcript"),
)
