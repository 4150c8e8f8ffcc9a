"""What commands print: whatever files, pages and logs hold, none of it moves the cursor or colours the terminal."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_START = "\r\x1b[K"
"""Begins a line of progress, which takes the place of the one before."""


class _Cleaned:
    """A stream without what does not print."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        start = LINE_START if text.startswith(LINE_START) else ""
        # A name that is no UTF-8 is shown as it was before, by the numbers of its bytes.
        rest = text.removeprefix(start).encode("utf-8", "backslashreplace").decode()
        self._stream.write(f"{start}{clean(rest)}")
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def cleaned() -> Iterator[None]:
    """Take what does not print out of all that is printed meanwhile."""
    out, err = (cast("TextIO", _Cleaned(stream)) for stream in (sys.stdout, sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield
