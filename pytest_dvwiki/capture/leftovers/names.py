"""Name simulations and tests by the files that their runs leave behind, with the same names in every run."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.files.results import Case

_ANY_RUN = re.compile(r"(?:[a-z0-9_]{8}_)?results\.xml$")
"""Names that do not identify a run: cocotb's default, and the random names of cocotb-test."""
_DATE = re.compile(
    r"(?<!\d)20\d\d([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T_.-]?[0-2]\d([-_.:]?)[0-5]\d(?:\2[0-5]\d)?Z?)?(?!\d)"
)
"""A date, perhaps with a time, in the names of folders and files."""
_RUNNER_SUFFIX = ".result.xml"


def simulation_name(artefact: Artefact) -> str:
    """Return the name of a simulation, the same for each run: from its results file, or from that file's folder."""
    shown = clean(artefact.shown)
    if _ANY_RUN.match(PurePosixPath(shown).name):
        return undated(artefact.folder or PurePosixPath(shown).name)
    return undated(shown.removesuffix(_RUNNER_SUFFIX))


def undated(name: str) -> str:
    """Return a name without the date of its run; with the date, each day's tests would count as new ones."""
    return _DATE.sub("*", name)


def native_runner(cases: Sequence[Case]) -> str | None:
    """Return the node id of the tests' native runner, with the tests' module unless the runner is in that module."""
    runners = {case.runner for case in cases}
    runner = runners.pop() if len(runners) == 1 else None
    if runner is None:
        return None
    modules = {case.classname for case in cases}
    folder, _, file = runner.partition("::")[0].rpartition("/")
    inside = f"{folder.replace('/', '.')}." if folder else ""
    module = modules.pop().removeprefix(inside) if len(modules) == 1 else ""
    return clean(runner if module in {"", file.removesuffix(".py")} else f"{runner}::{module}")


def package_of(cases: Sequence[Case]) -> str | None:
    """Return the node id that cocotb-test gives to the only suite of a results file; None if there is none."""
    packages = {case.package for case in cases}
    package = packages.pop() if len(packages) == 1 else None
    return clean(package) if package is not None and "::" in package else None


def place_of(classname: str, file: str | None, root: Path) -> str:
    """Return where another tool defines a test: module file and classes as in a node id, else file or class name.

    Args:
        classname: Module and classes.
        file: File of the module, if the results file names it.
        root: Folder of the project.
    """
    parts = classname.split(".")
    if not all(parts) or "/" in classname:
        return file or classname
    for count in range(1, len(parts) + 1):
        module = "/".join(parts[:count]) + ".py"
        # `Path.is_file` raises for a name that is too long.
        if module == file or (file is None and os.path.isfile(root / module)):  # noqa: PTH113
            return "::".join((module, *parts[count:]))
    return file or classname
