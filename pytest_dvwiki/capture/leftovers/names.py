"""Names of simulations and tests, derived from the files of their runs, and the same in every run."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_dvwiki.records.units import is_folder
from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.files.results import Case

_ANY_RUN = re.compile(r"(?:[a-z0-9_]{8}_)?results\.xml$")
"""Matches names of results files that identify nothing: cocotb's default, and cocotb-test's random names."""
_DATE = re.compile(
    r"(?<!\d)20\d\d([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T_.-]?[0-2]\d([-_.:]?)[0-5]\d(?:\2[0-5]\d)?Z?)?(?!\d)"
)
"""Matches a date, with or without a time, in the name of a folder or file."""
_RUNNER_SUFFIX = ".result.xml"


def simulation_name(artefact: Artefact) -> str:
    """Return the name of a simulation: the path of its results file, or of the file's folder, without dates."""
    shown = clean(artefact.shown)
    if is_named_after_folder(artefact):
        return undated(artefact.folder or PurePosixPath(shown).name)
    return undated(shown.removesuffix(_RUNNER_SUFFIX))


def is_named_after_folder(artefact: Artefact) -> bool:
    """Return whether a results file has one of the names that identify nothing, so that its folder identifies it."""
    return _ANY_RUN.match(PurePosixPath(clean(artefact.shown)).name) is not None


def folder_in(name: str) -> str | None:
    """Return the folder that gave a simulation its name; None if a file gave it."""
    if is_folder(name):
        return name
    return "." if _ANY_RUN.match(name) else None


def without_module(test: str) -> str:
    """Return a cocotb test's own name, without its module."""
    return test.rpartition(".")[2]


def undated(name: str) -> str:
    """Return a name with the date of its run masked, because otherwise each day's tests would be new."""
    return _DATE.sub("*", name)


def native_runner(cases: Sequence[Case]) -> str | None:
    """Return the node id of a native runner, with the tests' module appended if the runner is in another module.

    Return None if the tests were not run by a native runner, or by several.
    """
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
    """Return the node id that cocotb-test writes into the only suite of a results file; None for any other file."""
    packages = {case.package for case in cases}
    package = packages.pop() if len(packages) == 1 else None
    return clean(package) if package is not None and "::" in package else None


def place_of(classname: str, file: str | None, root: Path) -> str:
    """Return the first part of a node id for another tool's test: module and classes, else the file or class name."""
    parts = classname.split(".")
    if not all(parts) or "/" in classname:
        return file or classname
    for count in range(1, len(parts) + 1):
        module = "/".join(parts[:count]) + ".py"
        # `Path.is_file` raises for a name that is too long.
        if module == file or (file is None and os.path.isfile(root / module)):  # noqa: PTH113
            return "::".join((module, *parts[count:]))
    return file or classname
