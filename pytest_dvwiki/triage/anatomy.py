"""The parts of a report: its class, source file, message id and text, as each tool writes them.

They go into the fingerprint, so they come from the message alone, never from the pattern that knew it.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from pytest_dvwiki.model.sentences import end_told

_INSIDE = r"(?:[^\[\]]|\[[^\[\]]{0,60}\])"
"""A character between brackets, or an index."""
_SOURCE = r"(?P<file>[^\s:()\"',]{1,300}\.\w{1,5})"


@dataclass(frozen=True, slots=True)
class Anatomy:
    """What one report consists of."""

    report_class: str
    """Severity or exception type."""
    text: str
    file: str | None = None
    line: int | None = None
    """Of the file."""
    message_id: str | None = None


_SHAPES: tuple[tuple[str, str], ...] = (
    # Python warns of it where it clears up, which may be anywhere: the coroutine alone tells what happened.
    ("was never awaited", r"\b(?P<class>RuntimeWarning): (?P<text>coroutine '[^']{1,100}' was never awaited)"),
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
    # Verilator: [time] %Severity-CODE: file:line:column: text
    (
        "%",
        (
            rf"%(?P<class>Error|Warning|Fatal)(?:-(?P<id>\w+))?:[ ]"
            rf"(?:{_SOURCE}:(?P<line>\d+)(?::\d+)?:[ ]?)?(?P<text>.*)"
        ),
    ),
    # Xcelium: tool: *S,CODE (file,line|column): text
    ("*", rf"\*(?P<class>[EFS][A-Z]?),(?P<id>\w+)[ :]*(?:\({_SOURCE},(?P<line>\d+)(?:\|\d+)?\))?[ :]*(?P<text>.*)"),
    # VCS: Severity-[CODE] title file, line text
    ("-[", rf"\b(?P<class>Error|Fatal|Warning)-\[(?P<id>[\w-]+)\][ ](?P<text>.*?{_SOURCE}.*|.*)"),
    # Questa, Riviera: ** Severity: (code) file(line): text
    (
        "**",
        (
            r"\*\*[ ](?P<class>Error|Fatal|Failure)(?:[ ]\(suppressible\))?:[ ](?:\((?P<id>[a-z]+-\d+)\)[ ])?"
            r"(?:(?P<file>[^\s()]{1,300})\((?P<line>\d+)(?:\.\d+)?\):[ ])?(?P<text>.*)"
        ),
    ),
    # Vivado: SEVERITY: [CODE] text [file:line]
    (
        ": [",
        (
            r"\b(?P<class>ERROR|FATAL_ERROR|CRITICAL WARNING):[ ]\[(?P<id>[A-Za-z_]+[ ][\d-]+)\][ ](?P<text>.*?)"
            r"(?:[ ]\[(?P<file>[^\]:]{1,300}(?::[^\]:]{1,300})?):(?P<line>\d+)\])?$"
        ),
    ),
    # Icarus at run time: SEVERITY: file:line: text Time: … Scope: …
    (": ", rf"\b(?P<class>FATAL|ERROR):[ ]{_SOURCE}:(?P<line>\d+):[ ]?(?P<text>.*?)(?:[ ]Time:[ ].*)?$"),
    # GHDL at run time: file:line:column:@time:(severity): text
    (":@", rf"{_SOURCE}:(?P<line>\d+):\d+:@[^:]{{1,40}}:\((?P<class>[a-z ]+)\):[ ]?(?P<text>.*)"),
    # compilers: file:line[:column]: [error:] text
    (
        ":",
        rf"{_SOURCE}:(?P<line>\d+)(?::\d+)?:[ ]?(?:(?P<class>(?:fatal )?error|sorry|internal error):[ ]?)?(?P<text>.+)",
    ),
)
"""What a report of each shape holds in any case, and its expression, compiled when first there is such a report."""
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
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.ASCII)


def dissect(message: str) -> Anatomy:
    """Takes a message apart; one of no known shape is all text."""
    # The capture's sentences name the test in flight and the time: who was there is not what happened.
    if (end := end_told(message)) is not None:
        return Anatomy(report_class="", text=end)
    exception = _EXCEPTION.match(message)
    if exception is not None:
        return Anatomy(report_class=exception["type"].rsplit(".", 1)[-1], text=exception["text"] or exception["type"])
    for literal, shape in _SHAPES:
        found = _compiled(shape).search(message) if literal in message else None
        if found is not None:
            parts = found.groupdict()
            return Anatomy(
                report_class=parts["class"] or "error",
                text=parts["text"].strip(),
                file=parts.get("file"),
                line=int(line) if (line := parts.get("line")) else None,
                message_id=parts.get("id"),
            )
    logged = _LOG_LINE.match(message)
    if logged is not None:
        return Anatomy(report_class=logged["class"], text=logged["text"], file=logged["file"])
    return Anatomy(report_class="", text=message)
