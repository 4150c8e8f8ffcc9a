"""VCS: compiles a design, with or without a separate analysis step, into a program that simulates it."""

from pytest_dvwiki.simulators.shared import COMPILER
from pytest_dvwiki.simulators.tool import Multiline, Program, Tool, options

_ANALYSER = Program(does="build", separate=COMPILER)

_HEAD = r"(?:Error|Warning|Lint|Info|Note|Fatal)-\[[\w-]+\]"
_REPORT = r'(?:Error|Fatal): "[^"]{1,300}", \d+: .{1,300}: at time \d+(?: [munpf]?s)?$'
"""The first line of a $error or $fatal; its text is on the next line."""
_C_ERROR = r'"[^"]{1,300}\.(?:c|cc|cpp|cxx|h|hpp)", line \d+: (?:catastrophic )?error: '
"""The start of an error of the C++ front end, whose text goes on in lines indented by ten spaces."""

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
    called_by_make=("vcs",),
    plus_options="vcs",
    banners=("vcs",),
    head=r"(?:Error|Warning|Lint|Info|Note|Fatal)-\[",
    multiline=(
        Multiline(head=_HEAD, ends_at=rf"\s*(?:{_HEAD}|make(?:\[\d+\])?: )"),
        Multiline(head=_REPORT, ends_at=rf"\s*(?:{_HEAD}|{_REPORT})", most=2),
        Multiline(head=_C_ERROR, below="indented", only=r"\s{10}\S", most=4),
    ),
    report=r"\b(?P<class>Error|Fatal|Warning)-\[(?P<id>[\w-]+)\][ ](?P<text>.*?{source}.*|.*)",
    report_literal="-[",
    warning=r"Warning-\[",
    run_error=r"(?:Error|Fatal): \"[^\"]{1,300}\", \d+: ",
    fatal=r"^Fatal: ",
    mention=r"\bsimv\b",
    version=r"\bRuntime version (?P<version>[\w.-]{3,40});",
    seed_options=("+ntb_random_seed=",),
    seed_line=r"NOTE: automatic random seed used: (?P<seed>\d+)",
    run_ends=("S i m u l a t i o n   R e p o r t",),
    start_time=r"\bRuntime version [^\n;]{1,40};\s+[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d \d{4}",
    folders=("csrc", "simv.daidir"),
)
