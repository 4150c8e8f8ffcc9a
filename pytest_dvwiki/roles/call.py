"""The command line of this pytest session, to build commands that rerun its tests."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.simulations.reproduce import pytest_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from pytest_dvwiki.capture.simulations.reproduce import Call

_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?")


def call_of(config: pytest.Config, environment: Mapping[str, str]) -> Call:
    """Return the command line of a session that started with these environment variables."""
    params = config.invocation_params
    return pytest_call(
        [str(word) for word in params.args],
        root=config.rootpath,
        here=params.dir,
        configuration=config.inipath,
        items=config.getoption("file_or_dir", None) or (),
        environment=environment,
        program=_program(),
    )


def _program() -> tuple[str, ...]:
    """Return how pytest was started: `pytest`, or `python -m pytest`, which adds the current folder to `sys.path`."""
    started = Path(sys.argv[0])
    if started.name != "__main__.py" or started.parent.name != "pytest":
        return ("pytest",)
    name = Path(sys.executable).name
    return (name if _PYTHON.fullmatch(name) else "python", "-m", "pytest")
