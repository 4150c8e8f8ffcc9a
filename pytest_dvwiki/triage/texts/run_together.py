"""Split text that lost its line feeds when it was quoted, so that several messages are in one long line."""

from __future__ import annotations

from itertools import pairwise

from pytest_dvwiki import simulators

_FEW_LINES = 3
"""Maximum number of non-empty lines in a text that lost its line feeds."""
_LONG = 80
_MESSAGES = 2
"""Minimum number of messages for which a line is split."""
_HEADS = (
    r"(?:-\.--|\d+(?:\.\d+)?)[munpf]?s\s+(?:INFO|WARNING|ERROR|CRITICAL|DEBUG)\s"
    r"|UVM_(?:INFO|WARNING|ERROR|FATAL)\s[@\w/.]|make(?:\[\d+\])?:\s(?:\*\*\*|Entering|Leaving)"
    r"|Traceback\s\(most\srecent|File\s\"[^\"]{1,300}\",\sline\s\d"
    r"|(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Failure):\s|(?:(?:FATAL_)?ERROR|WARNING|INFO|FATAL):\s"
    r"|[\w./-]{1,200}\.(?:s?vh?:\d+:|vhdl?:\d+:\d+:|py:\d+:)"
)
_LAST = r"make(?:\[\d+\])?:\s\*\*\*"


def split_run_together(lines: list[str]) -> tuple[list[str], list[int]] | None:
    """Restore lost line feeds: start a new line at each message.

    Returns:
        The lines, and the original line number of each, from 1; None if no line feed was lost.
    """
    if sum(map(bool, lines)) > _FEW_LINES:
        return None
    whole: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, start=1):
        heads = [found.start() for found in _head().finditer(line)] if len(line) >= _LONG else []
        several = len(heads) >= _MESSAGES or any(_last().match(line, head) for head in heads)
        starts = [0, *heads] if several else [0]
        whole += (line[start:end].rstrip() for start, end in pairwise([*starts, len(line)]))
        numbers += [number] * len(starts)
    return (whole, numbers) if len(whole) > len(lines) else None


_head = simulators.expression(lambda tool: tool.head, _HEADS, form=r"(?<=\s)(?<![:>(,\]*#]\s)(?={})")
_last = simulators.expression(lambda tool: tool.summary, _LAST)
"""Returns the expression for a tool's final summary; if it is inside a line, line feeds were lost."""
