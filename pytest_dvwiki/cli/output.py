"""Removes control characters, which files, pages and logs may contain, from the output of commands."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_START = "\r\x1b[K"
"""Starts a progress line that overwrites the previous one."""


class _Cleaned:
    """A stream that drops control characters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        start = LINE_START if text.startswith(LINE_START) else ""
        # Names that are not UTF-8 are shown with escaped bytes.
        rest = text.removeprefix(start).encode("utf-8", "backslashreplace").decode()
        self._stream.write(f"{start}{clean(rest)}")
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def cleaned() -> Iterator[None]:
    """Remove control characters from all output printed inside the context."""
    out, err = (cast("TextIO", _Cleaned(stream)) for stream in (sys.stdout, sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield
