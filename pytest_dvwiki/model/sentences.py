"""The plugin's own messages about the end of a simulation, and functions that format counts and short lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LOGGED = ", last logged time "
"""Text before the newest simulation time in a log; the simulation may have ended much later."""

CUT_LOG = "the log ends before its run: it has neither a UVM report summary nor the simulator's end"
"""Message for a UVM run with a log that shows neither a failure nor the end of the run."""

_ENDED = re.compile(
    r"^(?P<end>(?:no results: )?(?:the )?simulator\b.{0,300}? (?:was killed by|ended with) .+?|run was killed)"
    rf"(?: while running .+|{LOGGED}\d[\d.]* ?\w+| at \d[\d.]* ?\w+| after its last test)?$",
    re.ASCII,
)
_UNDONE = re.compile(r"^simulation ended before .+ was done\b", re.ASCII)
_OTHERS = re.compile(
    r"^(?:the log ends before its run: |no results file was written|results file \S.* cannot be read: )"
    r"|^(?:Timeout \(>[\d.]+s\) from pytest-timeout|TimeoutExpired: Command .{1,200} timed out after [\d.]+ seconds)"
    rf"(?: while running |{LOGGED}| at \d| after its last test)"
    r"|^\S+: no entity was compiled for component ",
    re.ASCII,
)


def reported_end(message: str) -> str | None:
    """Return how a simulation ended, according to a message; None if the message reports no end.

    The name of the test and the time are left out.

    Args:
        message: Any message.
    """
    if found := _ENDED.match(message):
        return found["end"]
    return "simulation ended before a test was done" if _UNDONE.match(message) else None


def is_own(message: str) -> bool:
    """Return whether a message is one of the plugin's own."""
    return reported_end(message) is not None or _OTHERS.match(message) is not None


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 run`, `2 runs`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shortened(text: str, most: int) -> str:
    """Return a string cut to at most `most` characters; a cut string ends with `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def few(names: Sequence[str], most: int, *, of: int = 0, separator: str = ", ") -> str:
    """Return the first few names and the number of omitted ones: `a, b and 3 more`.

    Args:
        names: All names, or only the first ones.
        most: Maximum number of names to show.
        of: Total number of names, if `names` has only the first ones.
        separator: String between two names.
    """
    more = max(len(names), of) - len(names[:most])
    return separator.join(names[:most]) + (f" and {more} more" if more else "")
