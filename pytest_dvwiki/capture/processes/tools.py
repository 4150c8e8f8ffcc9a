"""Recognition of HDL tools and cocotb simulations among child processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_dvwiki import simulators

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_dvwiki.capture.processes.children import Child

_DRIVERS = frozenset({"cmake", "gmake", "make"})
"""Build programs that call tools."""
_RESULTS = "COCOTB_RESULTS_FILE"
_MAKES = frozenset({"make", "gmake"})
_MAKE_OPTIONS = {"-C": True, "--directory": True, "-f": False, "--file": False, "--makefile": False}
"""Maps each option of make that takes a path to whether the path is the folder that make changes to."""


def is_simulation(child: Child) -> bool:
    """Return whether a child runs cocotb tests, judged by cocotb's variables in its environment."""
    return _RESULTS in child.environment or bool(modules(child.environment))


def is_tool(child: Child) -> bool:
    """Return whether a child is a simulator, an HDL compiler, or a build program that may call them."""
    # Verilator is started through perl; therefore its own name is the second word.
    words = (child.program, *(os.path.basename(word) for word in child.arguments[1:2]))  # noqa: PTH119
    return any(word in _DRIVERS or simulator_name(word) is not None for word in words)


def simulator_name(program: str) -> str | None:
    """Return the short name of the simulator that a program is part of; None if the program is not part of one."""
    return simulators.owners().get(program.removesuffix(".exe"))


def results_file(child: Child) -> Path | None:
    """Return the results file that a simulation was told to write; None if unknown.

    For a call of make that names no file, it is `results.xml`, the default of cocotb's Makefile.
    """
    name = child.environment.get(_RESULTS)
    if is_make(child):
        given = (word.partition("=")[2] for word in child.arguments if word.startswith(f"{_RESULTS}="))
        name = next(given, name) or "results.xml"
    return working_folder(child) / name if name else None


def working_folder(child: Child) -> Path:
    """Return the working folder of a child; for make, the folder of `-C DIR`, `-CDIR` or `--directory=DIR`."""
    return _place_of_make(child)[0] if is_make(child) else child.folder


def makefile_of(child: Child) -> Path | None:
    """Return the Makefile that a call of make reads; None if make would find none."""
    folder, file = _place_of_make(child)
    return folder / file if file else next(iter(makefiles(folder)), None)


def _place_of_make(child: Child) -> tuple[Path, str | None]:
    """Return the working folder of a call of make, and the Makefile that its options name (None without `-f`)."""
    folder, file = child.folder, None
    words = iter(child.arguments[1:])
    for word in words:
        option = next((each for each in _MAKE_OPTIONS if word.startswith(each)), None)
        if option is not None:
            value = word.removeprefix(option).removeprefix("=") or next(words, "")
            folder, file = (folder / value, file) if _MAKE_OPTIONS[option] else (folder, value)
    return folder, file


def is_make(child: Child) -> bool:
    """Return whether a child is make, which may run cocotb's Makefile."""
    return child.program in _MAKES


def modules(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the test modules, from the variable of cocotb 2.x or 1.9."""
    names = environment.get("COCOTB_TEST_MODULES") or environment.get("MODULE") or ""
    return tuple(name.strip() for name in names.split(",") if name.strip())


def cocotb_version(environment: Mapping[str, str]) -> str | None:
    """Return `1.9` if only the variables of cocotb 1.9 are set; otherwise None."""
    return "1.9" if environment.get("MODULE") and not environment.get("COCOTB_TEST_MODULES") else None


def seed(environment: Mapping[str, str]) -> str | None:
    """Return the seed that the environment requests; None if it requests none."""
    return environment.get("COCOTB_RANDOM_SEED") or environment.get("RANDOM_SEED") or None


def makefiles(folder: Path) -> list[Path]:
    """Return a list with the Makefile that make would use in a folder; empty if there is none."""
    return [path for name in ("GNUmakefile", "makefile", "Makefile") if (path := folder / name).is_file()][:1]
