"""Finds the commands that the terminal and the pages print, and runs them with a minimal environment."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .harness import Project, environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .harness import Call, Cause


def on_terminal(text: str) -> list[str]:
    """Return the commands that the terminal shows."""
    found = re.findall(r"^  run    ((?:.*\\\n)*.*)", text, re.MULTILINE)
    return [re.sub(r" \\\n +", " ", each) for each in found]


def on_page(text: str) -> str:
    """Return the command that a page shows."""
    region = text.partition("\n## Reproduce\n")[2].partition("\n## ")[0]
    found = re.search(r"^```sh\n(.*?)\n```", region, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no command:\n{region}"
    return found[1]


def bare(simulator: str | None) -> dict[str, str]:
    """Return the environment of a user who has set nothing, with the simulator on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment(simulator or 'icarus')['PATH']}"
    return {"PATH": path, "HOME": os.environ.get("HOME", "/")}


def paste(line: str, folder: Path, env: Mapping[str, str]) -> Call:
    """Run a command in a folder, and archive its results."""
    return Project(folder).call(["bash", "-c", line], {**env, "PYTEST_ADDOPTS": "--dvwiki"})


def complaint(line: str, cause: Cause, again: Sequence[Cause]) -> str:
    """Return the error if a command did not give the same cause; empty if it did."""
    # A killed run may not know its simulator.
    simulators = {test.simulator for test in cause.tests} - {None}
    is_same = any(
        each.fingerprint == cause.fingerprint and simulators <= {test.simulator for test in each.tests}
        for each in again
    )
    told = "; ".join(f"{each.label} {each.primary!r}" for each in again)
    return "" if is_same else f"{line}\n  is to give {cause.label} {cause.primary!r}, gave {told or 'nothing'}"
