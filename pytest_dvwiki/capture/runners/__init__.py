"""Regression runners other than pytest: one module per runner; every module in this folder is loaded.

A module recognises the results file of its runner, and reads the tests, seeds, logs and commands from it. FuseSoC
writes no results file; its module identifies the run by the folder of the logs.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_dvwiki.capture.files.results import ResultsFile


class Runner(Struct, frozen=True, kw_only=True):
    """A regression runner: how to recognise and read the files that it leaves behind."""

    recognises: Callable[[str, bytes], bool]
    """Returns whether this runner wrote a file, given the file's name and first bytes."""
    read: Callable[[Path], ResultsFile]
    """Reads the tests from a file that the runner wrote; raises `ResultsError` if the file cannot be used."""
    logs: tuple[str, ...] = ()
    """Globs of the tests' logs, relative to the folder of the file; a log that matches is not a run of its own."""


@functools.cache
def runners() -> tuple[Runner, ...]:
    """Return all runners, sorted by name."""
    files = sorted(Path(__file__).parent.glob("[a-z]*.py"))
    modules = (importlib.import_module(f"{__name__}.{file.stem}") for file in files)
    return tuple(found for module in modules if (found := getattr(module, "RUNNER", None)) is not None)


def runner_of(name: str, head: bytes) -> Runner | None:
    """Return the runner that wrote a file, judged by the file's name and first bytes; None if no runner wrote it."""
    return next((runner for runner in runners() if runner.recognises(name, head)), None)
