"""What a message says is missing, or where it says that a source cannot be read: the same in the words of any tool.

A name that is not there is one cause, whichever statement asked for it, whichever component caught and reported the
exception, and whichever simulator says so. A syntax error is known by its line: its words tell only what the parser of
a tool had hoped for, and two of them in one file are two causes.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_dvwiki import simulators

if TYPE_CHECKING:
    from pytest_dvwiki.triage.anatomy import Anatomy

_HANDLE = re.compile(r"(?P<owner>[\w$.\[\]()]+) contains no (?:child )?object named (?P<name>[\w$]+)")
_SYNTAX = re.compile(r"syntax error(?:,|$)")


@functools.cache
def _named() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return by kind what tools say; the file that asks for the name tells one from another."""
    return tuple(
        (f"missing {kind}", re.compile(text)) for tool in simulators.tools() for kind, text in tool.missing.items()
    )


def of_any_tool(anatomy: Anatomy) -> Anatomy:
    """Return the parts of a message that identify it whoever reports it; other messages as they are."""
    if " contains no " in anatomy.text and (handle := _HANDLE.search(anatomy.text)):
        # Also in the report of a component that caught the exception, with words of its own.
        return replace(
            anatomy, report_class="missing handle", file=None, message_id=handle["name"], text=handle["owner"]
        )
    if anatomy.file is None or anatomy.line is None:
        return anatomy
    if _SYNTAX.match(anatomy.text):
        return replace(anatomy, report_class="syntax error", message_id=str(anatomy.line), text="")
    for kind, expression in _named():
        if found := expression.match(anatomy.text):
            return replace(anatomy, report_class=kind, message_id=found["name"], text="")
    return anatomy
