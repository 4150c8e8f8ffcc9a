"""Texts that lost their line feeds when they were quoted: a short text with several messages in one long line."""

from __future__ import annotations

import functools
import re
from itertools import pairwise

from pytest_dvwiki import simulators

_FEW_LINES = 3
"""Lines with text that a text has at most whose line feeds were lost."""
_LONG = 80
_MESSAGES = 2
"""Heads of messages within one line that show that it was several."""
_HEADS = (
    r"(?:-\.--|\d+(?:\.\d+)?)[munpf]?s\s+(?:INFO|WARNING|ERROR|CRITICAL|DEBUG)\s"
    r"|UVM_(?:INFO|WARNING|ERROR|FATAL)\s[@\w/.]|make(?:\[\d+\])?:\s(?:\*\*\*|Entering|Leaving)"
    r"|Traceback\s\(most\srecent|File\s\"[^\"]{1,300}\",\sline\s\d"
    r"|(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Failure):\s|(?:(?:FATAL_)?ERROR|WARNING|INFO|FATAL):\s"
    r"|[\w./-]{1,200}\.(?:s?vh?:\d+:|vhdl?:\d+:\d+:|py:\d+:)"
)
_LAST = r"make(?:\[\d+\])?:\s\*\*\*"


def parted(lines: list[str]) -> tuple[list[str], list[int]] | None:
    """Takes a text apart whose line feeds were lost: each head of a message begins a line.

    Returns:
        The lines, and of each the number, from 1, of that in which it stands; None where nothing was lost.
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


@functools.cache
def _head() -> re.Pattern[str]:
    heads = simulators.either(lambda tool: tool.head, _HEADS)
    return re.compile(rf"(?<=\s)(?<![:>(,\]*#]\s)(?={heads})")


@functools.cache
def _last() -> re.Pattern[str]:
    """Return how the sum begins that a tool draws last: one head is enough where it is this."""
    return re.compile(simulators.either(lambda tool: tool.summary, _LAST))
