"""Xcelium, and the parts that it shares with its predecessor Incisive."""

from pytest_dvwiki.simulators.tool import Multiline, Program, Repair, Tool, options

_OPTIONS = options(
    define="-define -DEFINE",
    parameter="-gpg -defparam -generic",
    top="-top",
    list="-f -file",
    list_beside="-F",
    source="-v",
    include="-incdir",
    folder="-xmlibdirname -xmlibdirpath -nclibdirname -nclibdirpath",
    library="-y",
    word="-work -l -logfile -loadvpi -loadvpisim -loadvhpi -access -input -timescale -cds_implicit_tmpdir -svseed"
    " -vhdl_time_precision",
)
ALL_IN_ONE = Program(
    does="both", separate=_OPTIONS, decided_by={"-elaborate": "build", "-compile": "build", "-R": "run"}
)
COMPILER = Program(does="build", separate=_OPTIONS)
ELABORATOR = Program(does="build", separate=_OPTIONS, names_top=True)
SIMULATOR = Program(does="run", separate=_OPTIONS, names_top=True)

_HEAD = r"\w+: \*\S*,\w+|TOOL:|(?:xcelium|ncsim)> |Simulation |\S{1,300}:\d+\s|\s*\|\s*$"
_VHDL_REPORT = r"(?i:(?:ASSERT|Report)/(?:NOTE|WARNING|ERROR|FAILURE) \(time )"
"""The first line of a VHDL assertion or report; its text is on the next line."""

TOOL = Tool(
    name="xcelium",
    title="Xcelium and Incisive",
    programs={"xrun": ALL_IN_ONE, "xmvlog": COMPILER, "xmvhdl": COMPILER, "xmelab": ELABORATOR, "xmsim": SIMULATOR},
    called_by_make=("xrun",),
    plus_options="access",
    banners=("xcelium", "xmsim"),
    head=r"(?:(?:xm|nc)\w{2,8}|[xi]run):[ ]\*[A-Z]{1,2},",
    summary=r"[xi]run:\s\*E,|x?[mn]\w+:\s\*F,",
    error=r"\w+: \*S?[EF],\w",
    multiline=(
        Multiline(head=_VHDL_REPORT, ends_at=rf"\s*{_VHDL_REPORT}|{_HEAD}", most=2),
        Multiline(
            head=r"(?:.{0,400} )?\w+: \*S?[EF],\w+:?(?: ?\([^()]{1,300}\))?:?(?: ?\(time [^()]{1,40}\))?\.?$",
            ends_at=_HEAD,
            most=4,
        ),
    ),
    repairs=(
        # Markdown takes the star for emphasis, and removes it.
        Repair(
            starts=("xm", "nc", "xrun", "irun"),
            expression=r"^(\w{4,10}): (S?[EFW]),(?=[A-Z]{4,})",
            replacement=r"\1: *\2,",
        ),
    ),
    report=r"\*(?P<class>[EFS][A-Z]?),(?P<id>\w+)[ :]*(?:\({source},(?P<line>\d+)(?:\|\d+)?\))?[ :]*(?P<text>.*)",
    report_literal="*",
    warning=r"(?:xm|nc)\w{2,8}: \*W,",
    run_head=r"(?:xm|nc)sim: \*",
    elaboration_head=r"(?:xm|nc)elab: \*",
    run_error=r"\w+: \*[EF],\w",
    run_error_words=("*E,", "*F,"),
    fatal=r"\*E,",
    mention=r"\b(?:xmsim|xrun)\b",
    version=r"\b(?:xrun|xmsim)(?:\(64\))?[:\t ]+(?P<version>\d\d\.\d\d-\w{1,8})\b",
    seed_options=("-svseed", "-SVSEED", "+svseed=", "+SVSEED="),
    seed_line=r"\bSVSEED (?:set randomly|set|default)[^:\n]{0,40}: (?P<seed>\d+)",
    run_ends=("Simulation complete via ", "Simulation is complete", ": Exiting on "),
    scan_words=("*e,", "*f,", "*s,", "*se,"),
    folders=("xcelium.d",),
)
