"""The interface to one regression runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_dvwiki.capture.files.results import ResultsFile


class Runner(Struct, frozen=True, kw_only=True):
    """A regression runner: how to recognise and read the files that it leaves behind."""

    recognises: Callable[[str, bytes], bool]
    """Returns whether the runner wrote a file, given the file's name and first bytes."""
    read: Callable[[Path], ResultsFile]
    """Reads the tests from a file that the runner wrote; raises `ResultsError` if the file cannot be used."""
    logs: tuple[str, ...] = ()
    """Globs of the tests' logs, relative to the folder of the file; a log that matches is not a run of its own."""
