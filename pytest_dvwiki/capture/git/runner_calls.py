"""Finds the Python files that run simulations, and so determine how a design is built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki import simulators

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_dvwiki.capture.git.command import Git

_MOST = 1000
"""Maximum number of files in a search."""
_RUNNER = r"get_runner|hdl_toplevel|(verilog|vhdl)_sources|cocotb_test|cocotb(_tools)?\.runner|vunit"
"""Matches Python code that calls a runner of cocotb, cocotb-test or VUnit."""
_MAKES = ("make", "gmake")


def calling_runners(git: Git, names: Collection[str], commit: str) -> set[str]:
    """Return the Python files that call a runner of simulations, make or an HDL tool.

    Args:
        git: Answers queries about the repository.
        names: The files.
        commit: The commit to search.
    """
    paths = [f":(top,literal){name}" for name in names if name.endswith(".py")]
    if not 0 < len(paths) <= _MOST:
        return set()
    programs = "|".join(map(re.escape, (*_MAKES, *simulators.owners())))
    calls = rf"(run|call|check_call|check_output|popen|system)\([^\"']{{0,3}}[\"']({programs})[\"' ]"
    wanted = ("-e", _RUNNER, "-e", calls)
    found = git.ask("grep", "-lizE", "--full-name", "--no-color", *wanted, commit, "--", *paths) or ""
    return {place.partition(":")[2] for place in found.split("\0") if place}
