"""Icarus Verilog: `iverilog` compiles, `vvp` runs."""

from pytest_dvwiki.simulators.tool import Multiline, Program, Tool, options

_GETOPT = options(artefact="-o", top="-s", define="-D", parameter="-P", list="-f -c", source="-l", include="-I")

TOOL = Tool(
    name="icarus",
    title="Icarus Verilog",
    programs={
        "iverilog": Program(
            does="build",
            separate=_GETOPT | options(library="-y", word="-B -d -g -L -m -M -N -p -t -T -W -Y"),
            joined=_GETOPT,
            only_checks=frozenset({"-E"}),
            makes="a.out",
            has_library=False,
        ),
        "vvp": Program(does="run", separate=options(word="-l -M -m"), runs_first_word=True, has_library=False),
    },
    called_by_make=("iverilog", "vvp"),
    banners=("icarus",),
    begins_with_file=True,
    head=r"\d+[ ]error\(s\)[ ]during",
    summary=r"\d+\serror\(s\)\sduring",
    multiline=(
        Multiline(head=r"(?:FATAL|ERROR|WARNING|INFO): \S.*:$", below="indented or details"),
        Multiline(head=r"(?:FATAL|ERROR|WARNING|INFO): \S", below="details"),
    ),
    # at run time: SEVERITY: file:line: text Time: … Scope: …
    report=r"\b(?P<class>FATAL|ERROR):[ ]{source}:(?P<line>\d+):[ ]?(?P<text>.*?)(?:[ ]Time:[ ].*)?$",
    report_literal=": ",
    missing={
        "module": r"Unknown module type: (?P<name>[\w$]+)",
        "include": r"Include file (?P<name>\S+) not found",
        "port": r"port ``(?P<name>[\w$]+)'' is not a port of ",
        "name": r"(?:Unable to bind wire/reg/memory [`']|Could not find variable ``)(?P<name>[\w$]+)(?:\[[^.]*\])?'",
    },
    run_error=r"(?:ERROR|FATAL): \S.{0,300}?:\d+: ",
    fatal="^FATAL: ",
    mention=r"\b(?:iverilog|vvp)\b",
)
