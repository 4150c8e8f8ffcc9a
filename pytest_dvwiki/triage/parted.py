"""Texts that lost their line feeds when they were quoted: a short text with several messages in one long line."""

from __future__ import annotations

import re
from itertools import pairwise

_FEW_LINES = 3
"""Lines with text that a text has at most whose line feeds were lost."""
_LONG = 80
_MESSAGES = 2
"""Heads of messages within one line that show that it was several."""
_HEAD = re.compile(
    r"(?<=\s)(?<![:>(,\]*#]\s)(?="
    r"(?:-\.--|\d+(?:\.\d+)?)[munpf]?s\s+(?:INFO|WARNING|ERROR|CRITICAL|DEBUG)\s"
    r"|(?:\#\s)?\*\*\s(?:Error|Warning|Note|Fatal|Failure)[:\s(]|(?:Error|Warning|Lint|Note|Info|Fatal)-\["
    r"|(?:xm|nc)\w{2,8}:\s\*[A-Z]{1,2},|[xi]run:\s\*|UVM_(?:INFO|WARNING|ERROR|FATAL)\s[@\w/.]"
    r"|%(?:Error|Warning)(?:-\w+)?:\s|make(?:\[\d+\])?:\s(?:\*\*\*|Entering|Leaving)"
    r"|Traceback\s\(most\srecent|File\s\"[^\"]{1,300}\",\sline\s\d"
    r"|(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Failure):\s|(?:(?:FATAL_)?ERROR|WARNING|INFO|FATAL):\s|=[EFW]:\["
    r"|(?:KERNEL|RUNTIME|RCKERNEL):\s|(?:\#\s)?(?:Error\sloading|End\stime:)"
    r"|[\w./-]{1,200}(?:\.(?:s?vh?:\d+:|vhdl?:\d+:\d+:|py:\d+:)|ghdl\S{0,40}:error:)|\d+\serror\(s\)\sduring"
    r")"
)
_LAST = re.compile(
    r"\d+\serror\(s\)\sduring|make(?:\[\d+\])?:\s\*\*\*|%Error:\s(?:Exiting|Command)|[xi]run:\s\*E,|x?[mn]\w+:\s\*F,"
    r"|\S*ghdl\S*:\s?(?:error:\s(?:simulation|compilation)|compilation)"
)
"""How the sum begins that a tool draws last: one head is enough where it is this."""


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
        heads = [found.start() for found in _HEAD.finditer(line)] if len(line) >= _LONG else []
        several = len(heads) >= _MESSAGES or any(_LAST.match(line, head) for head in heads)
        starts = [0, *heads] if several else [0]
        whole += (line[start:end].rstrip() for start, end in pairwise([*starts, len(line)]))
        numbers += [number] * len(starts)
    return (whole, numbers) if len(whole) > len(lines) else None
