"""Identify missing names and syntax errors in the same way for every tool.

A missing name is one cause, no matter which statement, component or simulator reports it. A syntax error is identified
by its source line, because its message only says what the parser expected: two syntax errors in a file are two causes.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import simulators

if TYPE_CHECKING:
    from pytest_dvwiki.logtext.report_parts import ReportParts

_HANDLE = re.compile(r"(?P<owner>[\w$.\[\]()]+) contains no (?:child )?object named (?P<name>[\w$]+)")
_RULE = "*** No rule to make target "
_SOURCE = re.compile(
    r"(?:No such file or directory: '|\*\*\* No rule to make target ['`]|\bcannot open (?:file )?\"?"
    r"|Cannot find file containing module: '|(?:^|\s)(?=\S+: No such file or directory))"
    r"(?:[^\s'\"]*[\\/])?(?P<name>[^\s'\"\\/]+\.(?:svh?|vh?|vhdl?))(?=['\":]|$)"
)
"""A missing source file, in the messages of Python, make, GHDL, Verilator and Icarus."""
_SYNTAX = re.compile(r"syntax error(?:,|$)")


@functools.cache
def _named() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return every tool's expressions for missing names, each with the name's kind, such as `missing module`."""
    return tuple(
        (f"missing {kind}", re.compile(text)) for tool in simulators.tools() for kind, text in tool.missing.items()
    )


def of_any_tool(parts: ReportParts) -> ReportParts:
    """Return the parts of a message in a form that does not depend on the tool; other messages are unchanged."""
    if " contains no " in parts.text and (handle := _HANDLE.search(parts.text)):
        # A component that catches the exception may put words around the message, so only the two names count.
        return replace(parts, report_class="missing handle", file=None, message_id=handle["name"], text=handle["owner"])
    if source := _SOURCE.search(parts.text):
        return replace(parts, report_class="missing source", file=None, message_id=source["name"], text="")
    if parts.file is None or parts.line is None:
        # With `-k`, make prints the same message without `Stop.`
        return replace(parts, text=parts.text.removesuffix("Stop.").rstrip()) if _RULE in parts.text else parts
    if _SYNTAX.match(parts.text):
        return replace(parts, report_class="syntax error", message_id=str(parts.line), text="")
    for kind, expression in _named():
        if found := expression.match(parts.text):
            return replace(parts, report_class=kind, message_id=found["name"], text="")
    return parts


def module_in(message: str) -> str | None:
    """Return the module that a build lacks according to a tool's message; None if the message names none."""
    modules = (expression for kind, expression in _named() if kind == "missing module")
    found = next(filter(None, (expression.search(message) for expression in modules)), None)
    return found["name"] if found else None
