"""Find the error logged just before an assertion without a message: `log.error(…)`, then `assert False`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.redact import strip_escapes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.model import Frame

_NOTHING = re.compile(r"AssertionError: (?:assert )?(?:False|0)")
_BARE = "AssertionError"
_NEVER = re.compile(r"assert (?:False|0)")
_LINE = re.compile(
    r"\s*(?:-\.--|\d+(?:\.\d+)?)[a-z]{1,4}\s+(?P<level>[A-Z]+)\s+(?P<logger>\S+)\s+"
    r"(?:\S+:\d+\s+in \S+\s+)?(?P<text>\S.*)"
)
_MANAGER = "cocotb.regression"
_DEEP = re.compile(r"\s{16}")
"""Indentation of continuation lines of a message."""


def with_logged(text: str, frame: Frame | None, lines: Sequence[tuple[int, str]], end: int | None = None) -> str:
    """Return the text of an exception; an assertion without a message gets the error that the test logged before it.

    The error must be directly above the line where cocotb reports the failed test. Of several such errors the first is
    used.

    Args:
        text: The exception.
        frame: Where the exception was raised.
        lines: Line numbers and lines of the log.
        end: Line number in the log before which cocotb's line must be; None for the last test of the log.
    """
    if not (_NOTHING.fullmatch(text) or (text == _BARE and frame is not None and _NEVER.fullmatch(frame.source))):
        return text
    failed = (
        at for at in reversed(range(len(lines))) if (end is None or lines[at][0] < end) and _is_verdict(lines[at][1])
    )
    at, said = next(failed, 0), ""
    while at and lines[at - 1][0] == lines[at][0] - 1:
        at -= 1
        line = strip_escapes(lines[at][1])
        found = _LINE.match(line)
        if found is not None and found["level"] in {"ERROR", "CRITICAL"}:
            said = found["text"]
        elif found is not None or not _DEEP.match(line):
            break
    return f"{_BARE}: {said.rstrip()}" if said else text


def _is_verdict(line: str) -> bool:
    found = _LINE.match(strip_escapes(line)) if _MANAGER in line else None
    return found is not None and found["logger"] == _MANAGER and " failed" in found["text"]
