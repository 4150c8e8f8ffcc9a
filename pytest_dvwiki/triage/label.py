"""The label of a failure: its pattern's label, adjusted to how the test failed."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from pytest_dvwiki import simulators
from pytest_dvwiki.logtext.report_parts import parse_report
from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.triage import compared

if TYPE_CHECKING:
    from pytest_dvwiki.triage.classify import FirstCause

ASSERTIONS = "python.assert"
"""Prefix of the ids of patterns for assertions in Python."""
_SEVERITIES = {"UVM_ERROR": "uvm_error", "ERROR": "uvm_error", "UVM_FATAL": "uvm_fatal", "CRITICAL": "uvm_fatal"}
_CHECKS = frozenset({"scoreboard_fail", "assertion_fail"})
_OF_LIMITS = frozenset({"timeout", "protocol_violation", "coverage_miss"})
_ASSERTION = re.compile(r"\bAssertionError\b|\bassert\b")
_EQUALITY = re.compile(r"[=!]=")


def label_of(finding: FirstCause) -> tuple[str, str]:
    """Return error class and failure subtype: those of the pattern, adjusted to how the test failed."""
    if finding.choice is None:
        return UNKNOWN, UNKNOWN
    candidate = finding.choice.candidate
    label = _class(candidate.pattern.error_class, finding.text), candidate.pattern.failure_subtype
    if label[1] in _CHECKS and compared.shows_unknown(f"{parse_report(finding.text).text} {finding.values}"):
        return label[0], "x_propagation"
    if not candidate.exception or label[0].startswith("uvm_"):
        return label
    if candidate.pattern.id.startswith(ASSERTIONS) or label[1] in {"assertion_fail", "scoreboard_fail"}:
        label = _assertion(finding, label)
    if finding.phase in {"setup", "teardown"} and label[0] == "python_error":
        return "python_error", "fixture_error"
    return label


def _assertion(finding: FirstCause, label: tuple[str, str]) -> tuple[str, str]:
    """Return the label of a Python assertion, or of an exception used like one.

    Without a simulator the label is `python_error`. In a simulation, a comparison of two values is a failed check,
    no matter what the message says. But if the message is about a timeout, protocol violation or missed coverage, that
    label is kept, unless the assertion tests a value of the design for equality.
    """
    pattern = finding.choice.candidate.pattern if finding.choice is not None else None
    if not finding.in_simulator and not (pattern is not None and "cocotb" in pattern.tools):
        return "python_error", "assertion_error" if _ASSERTION.search(finding.text) else "runtime_error"
    statement = finding.frame.source if finding.frame is not None else ""
    shown = finding.values or finding.text[max(0, finding.text.find("assert ")) :]
    if label == ("sim_error", "assertion_fail"):
        return ("sim_error", "scoreboard_fail") if _compares(statement, shown) else label
    if label[1] in _OF_LIMITS and _compares(statement, shown):
        compared_text = f"{statement} {shown}"
        if compared.is_of_design(compared_text) and _EQUALITY.search(compared_text):
            return "sim_error", "scoreboard_fail"
    return label


def _class(error_class: str, text: str) -> str:
    """Return the error class of a message, corrected by its UVM severity or by the tool's phase that it comes from."""
    if error_class.startswith("uvm_"):
        return _severity(text, error_class)
    if error_class == "compile_error" and _at_run().match(text):
        return "sim_error"
    if error_class == "compile_error" and _at_elaboration().match(text):
        return "elaboration_error"
    return error_class


def _compares(statement: str, shown: str) -> bool:
    """Return whether an assertion compares two values; the printed values decide if the statement is truncated."""
    if statement.startswith("assert ") and not statement.endswith(("(", "[", "\\", ",")):
        return compared.compares(statement, shown=False)
    return shown.startswith("assert ") and compared.compares(shown, shown=True)


def _severity(text: str, default: str) -> str:
    """Return the error class for the severity of a UVM report; `default` for a text that is no UVM report."""
    return _SEVERITIES.get(parse_report(text).report_class, "uvm_fatal" if "UVM_FATAL" in text else default)


_at_run = simulators.expression(lambda tool: tool.run_head, form=r"(?:.{{0,80}}\W)?{}", flags=re.ASCII)
"""Returns the expression for prefixes of run-time messages, which compilers never print."""


@functools.cache
def _at_elaboration() -> re.Pattern[str]:
    """Return the expression for prefixes of messages from elaborating or loading a design."""
    beginnings = simulators.either(lambda tool: tool.elaboration_head)
    return re.compile(rf"(?:.{{0,80}}\W)?{beginnings}|{beginnings}", re.ASCII)
