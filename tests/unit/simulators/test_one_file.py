"""One file adds a tool, and another one its patterns: tested in a copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest_dvwiki

TOOL = r'''
"""A simulator that nobody has."""

from pytest_dvwiki.simulators.tool import Program, Multiline, Tool, options

TOOL = Tool(
    name="acme",
    title="ACME Sim",
    programs={"acmesim": Program(does="both", separate=options(top="-top"), decided_by={"-elab": "build"})},
    called_by_make=("acmesim",),
    banners=("acme",),
    prefix=r"ACME> ",
    head=r"!E\d+:",
    error=r"!E\d+:",
    multiline=(Multiline(head=r"!E\d+:", below="indented"),),
    report=r"!(?P<id>E\d+): {source}\((?P<line>\d+)\): (?P<class>)(?P<text>.*)",
    report_literal="!E",
    run_error=r"!E\d+:",
    run_error_words=("!E",),
    mention=r"\bacmesim\b",
)
'''
PATTERNS = r"""
- id: acme.unknown_signal
  error_class: compile_error
  failure_subtype: undeclared_identifier
  tools: [acme]
  tier: cause
  match: ['!E17: .{1,300}no signal (?P<name>\w+)']
  description: A signal is used that nothing declares.
  fix: Declare {name}.
  examples: ['!E17: a.v(3): there is no signal rdy']
"""
GENERATE = Path(__file__).parents[3] / "docs" / "generate.py"
QUESTIONS = r'''
import json
import runpy
import sys
from pytest_dvwiki import simulators
from pytest_dvwiki.capture.processes.toolcalls import read_call
from pytest_dvwiki.capture.processes.tools import simulator_name
from pytest_dvwiki.capture.simulations.noise import error_lines
from pytest_dvwiki.capture.simulations.regression import read_regressions
from pytest_dvwiki.logtext.logs import LogText
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.logtext.report_parts import parse_report

class Interest:
    def is_benign(self, text): return False
    def is_accepted(self, text): return False

log = """     0.00ns INFO cocotb.regression Running on ACME Sim version 3.1 and more
ACME> !E17: a.v(3): there is
ACME>   no signal rdy
"""
pages = runpy.run_path(sys.argv[1])["pattern_pages"]()
registry = load_registry()
hit = Matcher(registry).hits(log)[0]
call = read_call(("acmesim", "-top", "dut", "a.v"), "/p")
report = parse_report(hit.text)
print(json.dumps({
    "program": simulator_name("acmesim"),
    "call": [call.simulator, sorted(call.items), call.builds, call.runs],
    "log": str(read_regressions(LogText(source="log", text=log))[0].simulator),
    "hit": [hit.pattern.id, hit.text],
    "report": [report.file, report.line, report.message_id, report.text],
    "errors": error_lines(LogText(source="log", text=log), Interest()).count,
    "advice": registry.advice(hit.pattern.id, hit.pattern.failure_subtype, hit.text),
    "page": "| [ACME Sim](patterns/acme.md) | 1 | `acme.yaml` |" in pages["patterns.md"],
}))
'''


def test_one_file_and_its_patterns_are_all_that_a_new_tool_needs(tmp_path: Path) -> None:
    copy = shutil.copytree(
        Path(pytest_dvwiki.__file__).parent, tmp_path / "pytest_dvwiki", ignore=shutil.ignore_patterns("__pycache__")
    )
    (copy / "simulators" / "acme.py").write_text(TOOL, encoding="utf-8")
    (copy / "patterns" / "builtin" / "acme.yaml").write_text(PATTERNS, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", QUESTIONS, str(GENERATE)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    text = "!E17: a.v(3): there is no signal rdy"
    assert json.loads(done.stdout) == {
        "program": "acme",
        "call": ["acme", ["top dut"], True, True],
        "log": "Simulator(name='acme', version='3.1')",
        "hit": ["acme.unknown_signal", text],
        "report": ["a.v", 3, "E17", "there is no signal rdy"],
        "errors": 1,
        "advice": "Declare rdy.",
        "page": True,
    }
