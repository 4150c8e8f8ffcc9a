"""Vivado's simulator; its command lines are not read."""

from pytest_dvwiki.simulators.tool import Multiline, Tool

TOOL = Tool(
    name="xsim",
    title="Vivado xsim",
    programs=dict.fromkeys(("xvlog", "xvhdl", "xelab", "xsim", "vivado")),
    banners=("xsim", "vivado"),
    head=r"(?:FATAL_)?ERROR:[ ]|WARNING:[ ]\[",
    error=r"(?:FATAL_)?ERROR: \[",
    multiline=(
        Multiline(head=r"(?:Error|Fatal|Failure): .*:$", below="indented or details"),
        Multiline(head=r"(?:Error|Fatal|Failure): ", below="details", text_until_time=True),
    ),
    report=r"\b(?P<class>ERROR|FATAL_ERROR|CRITICAL WARNING):[ ]\[(?P<id>[A-Za-z_]+[ ][\d-]+)\][ ](?P<text>.*?)"
    r"(?:[ ]\[(?P<file>[^\]:]{1,300}(?::[^\]:]{1,300})?):(?P<line>\d+)\])?$",
    report_literal=": [",
    warning=r"(?:CRITICAL )?WARNING: \[",
    timed_error=r"(?:Error|Fatal|Failure): ",
    mention="(?i:xsim)|launch_simulation",
    version=r"\bVivado Simulator v(?P<version>\d[\w.]{3,20})",
    seed_options=("-sv_seed", "--sv_seed"),
    scan_words=("[vrfc 10-",),
    folders=("xsim.dir",),
)
