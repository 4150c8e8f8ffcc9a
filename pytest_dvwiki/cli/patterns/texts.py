"""Reads the input of a command from a file or from standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_dvwiki import reading
from pytest_dvwiki.cli import UsageError


def require_plain_text(name: str) -> None:
    """Raise an error if a file's name shows that the file is compressed or an archive, and so no plain text."""
    from pytest_dvwiki.capture.files.archives import is_archive, single_name  # noqa: PLC0415

    if is_archive(name) or single_name(name) is not None:
        raise UsageError(f"{name}: this file is compressed, or an archive; `dvwiki scan {name}` can read it")


def read_text(name: str) -> str:
    """Return the text of a file, or of standard input for `-`, decoded and split into lines as logs are."""
    from pytest_dvwiki.logtext.logs import LogStream, LogText  # noqa: PLC0415

    require_plain_text(name)
    if name == "-":
        log = LogText(source="log", text=sys.stdin.buffer.read().decode("utf-8", "replace"))
    else:
        log = LogText(source="log", path=Path(name))
    try:
        return "".join(chunk.text for chunk in LogStream(log))
    except OSError as error:
        raise UsageError(f"{name}: {reading.reason(error)}") from error
