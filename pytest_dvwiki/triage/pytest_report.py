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
"""Matches a SystemExit. If it was raised in an `except` clause, the fault is the caught exception."""


def only_messages(lines: Sequence[str]) -> list[str]:
    """Return the lines of the report with everything but its messages blanked.

    pytest marks the lines of the exception with an `E`. Reports without it (a strict xpass, a worker's crash) contain
    only messages. Of chained exceptions, only the relevant one is kept, as in a traceback.
    """
    if not any(_MESSAGE.match(line) for line in lines):
        return ["" if _PLACE.match(line) else line for line in lines]
    first, last = _relevant(lines)
    return [line if first <= at < last and _MESSAGE.match(line) else "" for at, line in enumerate(lines)]


def _relevant(lines: Sequence[str]) -> tuple[int, int]:
    """Return the range of lines of the relevant exception: the explicit cause, or else the last one of the chain."""
    links = [(at, line.startswith(DIRECT)) for at, line in enumerate(lines) if line.startswith((DIRECT, DURING))]
    if not links or any(_EXIT.match(line) for line in lines[links[-1][0] :]):
        return 0, len(lines)
    end = len(lines)
    while links and links[-1][1]:
        end = links.pop()[0]
    return (links[-1][0] if links else 0), end


def user_frame(lines: Sequence[str]) -> Frame | None:
    """Return the report's innermost frame in the user's code."""
    return innermost_user_frame(reversed(report_frames(lines).values()))
