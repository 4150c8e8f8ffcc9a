"""Parse pytest's report of a failure: its messages and its frames."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.logtext.frames import report_frames
from pytest_dvwiki.logtext.frames import user_frame as innermost_user_frame
from pytest_dvwiki.logtext.tracebacks import DIRECT, DURING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.model import Frame

_PLACE = re.compile(r"(?P<file>[^\s:][^:]{0,1000}\.py):(?P<line>\d+): ?(?:in (?P<function>\S+)|(?P<type>[\w.]+))?$")
_MESSAGE = re.compile(r"E {1,}\S")
_EXIT = re.compile(r"E {1,}SystemExit\b")
"""A SystemExit raised in an `except` clause is not the fault: the caught exception is."""


def only_messages(lines: Sequence[str]) -> list[str]:
    """Return the lines of the report, all but its messages blanked: source code, docstrings, values and places.

    pytest marks the lines of the exception with an `E`. A report without such a line (a strict xpass, a worker's crash)
    consists of messages only. In a chain of exceptions only the one that counts stays, as in a traceback.
    """
    if not any(_MESSAGE.match(line) for line in lines):
        return ["" if _PLACE.match(line) else line for line in lines]
    first, last = _counting(lines)
    return [line if first <= at < last and _MESSAGE.match(line) else "" for at, line in enumerate(lines)]


def _counting(lines: Sequence[str]) -> tuple[int, int]:
    """Return the start and end of the exception that counts: the cause named by `from`, else the last of the chain."""
    links = [(at, line.startswith(DIRECT)) for at, line in enumerate(lines) if line.startswith((DIRECT, DURING))]
    if not links or any(_EXIT.match(line) for line in lines[links[-1][0] :]):
        return 0, len(lines)
    end = len(lines)
    while links and links[-1][1]:
        end = links.pop()[0]
    return (links[-1][0] if links else 0), end


def user_frame(lines: Sequence[str]) -> Frame | None:
    """Return the innermost frame of the report that is in the user's code, not in a library."""
    return innermost_user_frame(reversed(report_frames(lines).values()))
