"""The parts of a report: its class, source file, message id and text, as each tool writes them.

The parts go into the fingerprint. Therefore they come from the message alone, never from the pattern that matched it.
"""

from __future__ import annotations

import functools
import re

from msgspec import Struct

from pytest_dvwiki import simulators
from pytest_dvwiki.model.sentences import reported_end

_INSIDE = r"(?:[^\[\]]|\[[^\[\]]{0,60}\])"
"""Matches a character between brackets, or an index in brackets."""
_SOURCE = r"(?P<file>[^\s:()\"',]{1,300}\.\w{1,5})"


class ReportParts(Struct, frozen=True):
    """The parts of one report."""

    report_class: str
    """Severity or exception type."""
    text: str
    file: str | None = None
    line: int | None = None
    """Line number in the file."""
    message_id: str | None = None


_TESTBENCH_SHAPES: tuple[tuple[str, str], ...] = (
    # Python's garbage collector prints this warning at a random place, so only the coroutine identifies the cause.
    ("was never awaited", r"\b(?P<class>RuntimeWarning): (?P<text>coroutine '[^']{1,100}' was never awaited)"),
    # A log check: the value that does not match is not part of the cause.
    (
        "check violated in ",
        (
            r"\b(?P<class>check violated) in (?P<file>.{1,300}?\.check\.yaml): '(?P<id>.{1,300}?)': "
            r"(?P<text>is missing|is incomplete|does not match)\b"
        ),
    ),
    # UVM: severity file(line) @ time: path [id] text
    (
        "UVM_",
        (
            r"\b(?P<class>UVM_(?:FATAL|ERROR|WARNING))\b[ :]*(?:(?P<file>[^\s()]{1,300})\((?P<line>\d+)\))?"
            r"[ ]*@[ ]*[^:]{1,40}:"
            rf"[ ]*(?:[^\s\[]\S{{0,300}}[ ]+)?\[(?P<id>{_INSIDE}{{0,200}})\][ ]?(?P<text>.*)"
        ),
    ),
    (
        "UVM_",
        r"\b(?P<class>UVM_(?:FATAL|ERROR|WARNING))\b[ :]*(?:(?P<file>[^\s()]{1,300})\((?P<line>\d+)\))?(?P<text>.*)",
    ),
    # pyuvm: time severity file(line) [path]: [id] text
    (
        "]:",
        (
            r"(?:^|\s)(?P<class>ERROR|CRITICAL|WARNING)[ ]+(?P<file>[^\s()]{1,300})\((?:(?P<line>\d+)|\.\.\.)\)[ ]*"
            rf"\[{_INSIDE}{{0,300}}\]:[ ]*(?:\[(?P<id>{_INSIDE}{{1,200}})\][ ])?(?P<text>.*)"
        ),
    ),
)
_COMPILER_SHAPE = (
    ":",
    rf"{_SOURCE}:(?P<line>\d+)(?::\d+)?:[ ]?(?:(?P<class>(?:fatal )?error|sorry|internal error):[ ]?)?(?P<text>.+)",
)
"""The shape of compilers' messages: `file:line[:column]: [error:] text`."""
_EXCEPTION = re.compile(
    r"^(?!(?i:error|fatal|failure|warning|info|note|critical warning)\b)"
    r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?:: (?P<text>.*)|:?$)",
    re.ASCII | re.DOTALL,
)
_LOG_LINE = re.compile(
    r"^\s*(?:(?:-\.--|\d+(?:\.\d+)?)[a-z]{1,4}\s+)?(?P<class>ERROR|CRITICAL|WARNING|INFO)\s+"
    r"(?:(?P<file>[\w.]+)\s{2,})?(?P<text>.*)",
    re.ASCII,
)


@functools.cache
def _shapes() -> tuple[tuple[str, str], ...]:
    """Return the known shapes of reports, as pairs of a literal in the report and an expression."""
    reporting = (tool for tool in simulators.tools() if tool.report)
    of_tools = ((tool.report_literal, tool.report.replace("{source}", _SOURCE)) for tool in reporting)
    return (*_TESTBENCH_SHAPES, *of_tools, _COMPILER_SHAPE)


@functools.cache
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.ASCII)


def parse_report(message: str) -> ReportParts:
    """Split a message into its parts; if its shape is unknown, all of it is text."""
    # The capture's own messages contain the running test and the time, which are not part of the cause.
    if (end := reported_end(message)) is not None:
        return ReportParts(report_class="", text=end)
    exception = _EXCEPTION.match(message)
    if exception is not None:
        name = exception["type"]
        return ReportParts(report_class=name.rsplit(".", 1)[-1], text=exception["text"] or name)
    for literal, shape in _shapes():
        found = _compiled(shape).search(message) if literal in message else None
        if found is not None:
            parts = found.groupdict()
            return ReportParts(
                report_class=parts["class"] or "error",
                text=parts["text"].strip(),
                file=parts.get("file"),
                line=int(line) if (line := parts.get("line")) else None,
                message_id=parts.get("id"),
            )
    logged = _LOG_LINE.match(message)
    if logged is not None:
        return ReportParts(report_class=logged["class"], text=logged["text"], file=logged["file"])
    return ReportParts(report_class="", text=message)
