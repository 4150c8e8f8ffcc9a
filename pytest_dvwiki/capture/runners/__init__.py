"""Regression runners other than pytest: one module per runner; every module in this folder is loaded.

A module recognises the results file of its runner, and reads the tests, seeds, logs and commands from it. FuseSoC
writes no results file; its module identifies the run by the folder of the logs.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_dvwiki.capture.runners.runner import Runner


@functools.cache
def runners() -> tuple[Runner, ...]:
    """Return all runners, sorted by name."""
    files = sorted(Path(__file__).parent.glob("[a-z]*.py"))
    modules = (importlib.import_module(f"{__name__}.{file.stem}") for file in files)
    return tuple(found for module in modules if (found := getattr(module, "RUNNER", None)) is not None)


def runner_of(name: str, head: bytes) -> Runner | None:
    """Return the runner that wrote a file, judged by the file's name and first bytes; None if no runner wrote it."""
    return next((runner for runner in runners() if runner.recognises(name, head)), None)
