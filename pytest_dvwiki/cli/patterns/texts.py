"""Reads the text that a command was given: a file of any encoding, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_dvwiki.cli import UsageError


def see_that_it_is_bare(name: str) -> None:
    """Sees that a file is a text as it stands.

    Raises:
        UsageError: It is compressed, or an archive.
    """
    from pytest_dvwiki.capture.files.archives import is_archive, single_name  # noqa: PLC0415

    if is_archive(name) or single_name(name) is not None:
        raise UsageError(f"{name}: it is compressed, or an archive; `dvwiki scan {name}` reads it")


def read_text(name: str) -> str:
    """The text of a file, `-` for standard input, its lines as a log's are read.

    Raises:
        UsageError: It cannot be read.
    """
    from pytest_dvwiki.capture.texts.logs import LogStream, LogText  # noqa: PLC0415

    see_that_it_is_bare(name)
    if name == "-":
        log = LogText(source="log", text=sys.stdin.buffer.read().decode("utf-8", "replace"))
    else:
        log = LogText(source="log", path=Path(name))
    try:
        return "".join(chunk.text for chunk in LogStream(log))
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from error
