"""Directed simulations, in which no random number depends on the seed."""

from __future__ import annotations

import ast
import functools
import itertools
import os
import re
import sys
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from pytest_dvwiki import reading
from pytest_dvwiki.capture.simulations.builds import stamp_of
from pytest_dvwiki.capture.simulations.constant_seeds import code_that_may_draw
from pytest_dvwiki.capture.simulations.reads import find_module
from pytest_dvwiki.capture.simulations.unseeded import syntax_nodes
from pytest_dvwiki.model import MOST_READ

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

_READ_LIMIT = 1 << 20
"""Maximum size in bytes of a file that is searched; a larger one is treated as drawing random numbers."""
_LIBRARY_FILES = 200
"""Maximum number of library files searched for one import; more are treated as drawing random numbers."""
_TRUSTED = frozenset({"cocotb", "cocotb_test", "cocotb_tools", "find_libpython", "numpy", "pytest", "pyuvm"})
"""Libraries that are not searched: they draw random numbers only if the testbench's own code mentions randomness."""
_DRAWS = re.compile(
    r"(?<!ope)rand|seed|secrets|uuid|shuffle|hypothesis|faker|\bvsc\b|crv|constrain|getpid"
    r"|\bhash\(|\btime\.|\bfrom\s+time\b|\btime\s+as\b|\bdatetime\b"
    r"|\bopen\b|read_text|read_bytes|loadtxt|genfromtxt|fromfile|\w\.load\(|\bimport\b[\s\w,()]*\bload\b"
    r"|import_module|__import__|\bexec\b|\beval\b|subprocess|popen|socket|urlopen|requests|thread"
    r"|@(?:cocotb\.)?(?:external|bridge|function|resume)\b",
    re.IGNORECASE,
)
"""Matches code of a testbench that may draw random numbers, or take its stimulus from elsewhere."""
_HDL_DRAWS = re.compile(
    r"random|\brand(?:c|case|sequence|omize)?\b|\buniform\b|\$(?:dist_|f(?:open|scanf|gets|read)|readmem|system)"
    r"|plusargs|\"DPI|\bfile\b|textio|pragma\s+protect",
    re.IGNORECASE,
)
_MEMORY = re.compile(r'\$readmem[bh]\s*\(\s*"([^"\\\n]+)"')
"""Matches a call that reads a file with a literal name into a memory."""
_HDL_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_VHDL_COMMENT = re.compile(r"--[^\n]*")
_SCRIPT = re.compile(r"(?:[Mm]akefile|\.(?:mk|f|vc|vlt|tcl|do))$")
_SCRIPT_DRAWS = re.compile(
    r"\$+[({]?RANDOM\b|urandom|\brandom\b|\bs?rand\b|openssl|uuid|mktemp|\bshuf\b|\bdate\b"
    r"|RESOLVE_X|TEST_ORDER"
)
"""Matches a Makefile or script with a source of numbers that differ between runs; a constant seed is not one."""
_BY_SEED = ("COCOTB_RESOLVE_X", "COCOTB_RANDOM_TEST_ORDER")
"""Variables that can make cocotb itself draw random numbers: for unknown bits, and for the order of tests."""
_SCRIPT_COMMENT = re.compile(r"(?:#|//)[^\n]*")


def draws_nothing(
    reads: Sequence[str], sources: Iterable[str], modules: Sequence[str], top: Path, folder: Path
) -> bool:
    """Return whether it is known that no random number of a simulation depends on its seed.

    It is known only if all files of the simulation are known, and none of them may draw with a seed other than a
    literal, load stimulus from an unknown file, or reach outside the simulation. The paths in `reads` are relative to
    `top`, the top of the repository; those in `sources` are absolute. `folder` is the working directory of the
    simulator.
    """
    base = f"{os.path.realpath(top)}{os.sep}"
    known = frozenset(reads)
    built = [os.path.realpath(each).removeprefix(base).replace(os.sep, "/") for each in sources]
    if not built or not modules or len(reads) >= MOST_READ or not known.issuperset(built):
        return False
    if any(map(os.environ.get, _BY_SEED)):
        return False
    if not all(_is_read(each.replace(".", "/"), known) for each in modules):
        return False
    above = {str(path) for each in reads if each.endswith(".py") for path in PurePosixPath(each).parents}
    settings = [name for each in above if os.path.isfile(name := f"{base}{each}/conftest.py")]  # noqa: PTH113
    memories: set[str] = set()
    for file in (*settings, *(f"{base}{name}" for name in reads)):
        found = _references_in(file)
        if found is None or not all(_is_harmless(names, known) for names in found.imports):
            return False
        memories |= found.memories
    return {os.path.realpath(folder / name).removeprefix(base).replace(os.sep, "/") for name in memories} <= known


def _is_read(path: str, known: Collection[str]) -> bool:
    """Return whether a Python module, as a path without its suffix, is among the files read."""
    return any(f"/{each}".endswith((f"/{path}.py", f"/{path}/__init__.py")) for each in known)


class _References(NamedTuple):
    """What a file refers to, if the file draws no random numbers itself."""

    imports: frozenset[tuple[str, ...]] = frozenset()
    memories: frozenset[str] = frozenset()
    """Files that are read into memories of the design."""


def _references_in(file: str) -> _References | None:
    """Return what a file refers to; None if the file may draw random numbers, is missing, or is too large."""
    stamp = stamp_of(file)
    return None if stamp is None or stamp[1] > _READ_LIMIT else _searched(file, stamp)


@functools.lru_cache(maxsize=1024)
def _searched(file: str, stamp: tuple[int, int]) -> _References | None:  # noqa: ARG001  # a new stamp is a new file
    text = reading.start_of(file, _READ_LIMIT)
    if file.endswith(".py"):
        imports = _imports(text)
        return None if imports is None else _References(imports)
    memories: list[str] = []
    if _SCRIPT.search(file):
        draws = _SCRIPT_DRAWS.search(_SCRIPT_COMMENT.sub(" ", text))
    else:  # HDL, or a file with any suffix that HDL includes
        comment = _VHDL_COMMENT if file.lower().endswith((".vhd", ".vhdl")) else _HDL_COMMENT
        code = comment.sub(" ", text)
        memories = _MEMORY.findall(code)
        draws = _HDL_DRAWS.search(_MEMORY.sub("(", code))
    return None if draws else _References(memories=frozenset(memories))


def _imports(text: str) -> frozenset[tuple[str, ...]] | None:
    """Return what Python code imports; None if the code may draw random numbers or cannot be parsed.

    Each import is a tuple: the module, with a dot for each relative level, then the names imported from the module.
    """
    nodes = syntax_nodes(text)
    if not nodes:
        return None
    plain = ((each.name,) for node in nodes if isinstance(node, ast.Import) for each in node.names)
    taken = (
        ("." * node.level + (node.module or ""), *(each.name for each in node.names))
        for node in nodes
        if isinstance(node, ast.ImportFrom)
    )
    found = frozenset((*plain, *taken))
    # The whole text is searched first, because in most files nothing matches, not even in comments.
    return None if _DRAWS.search(text) and _code_may_draw(nodes[0]) else found


def _code_may_draw(tree: ast.AST) -> bool:
    try:
        return not isinstance(tree, ast.Module) or _DRAWS.search(code_that_may_draw(tree)) is not None
    except RecursionError:
        return True


def _is_harmless(names: tuple[str, ...], known: frozenset[str]) -> bool:
    """Return whether an imported module is searched anyway, or is known not to draw random numbers by itself."""
    module, *parts = names
    path = module.lstrip(".").replace(".", "/")
    if _is_trusted(module) or (path and _is_read(path, known)):
        return True
    if parts and all(_is_read(f"{path}/{each}".lstrip("/"), known) for each in parts):
        return True
    return not module.startswith(".") and not _library_may_draw(names)


def _is_trusted(module: str) -> bool:
    first = module.partition(".")[0]
    return first in _TRUSTED or first in sys.stdlib_module_names


@functools.lru_cache(maxsize=64)
def _library_may_draw(names: tuple[str, ...]) -> bool:
    """Return whether a Python library, or any module that it imports, may draw random numbers.

    The answer is True if the library or one of these modules cannot be found, or if there are too many modules.
    """
    folders = list(dict.fromkeys(map(os.path.abspath, sys.path)))
    waiting, met = [names], set[str]()
    while waiting:
        module, *parts = waiting.pop()
        inner = [name for each in parts if find_module(name := f"{module}.{each}", folders)]
        if not find_module(module, folders) and not (parts and len(inner) == len(parts)):
            return True
        # Importing a module also runs all packages that contain it.
        outer = itertools.accumulate(module.split("."), lambda package, name: f"{package}.{name}")
        for name in (*outer, *inner):
            file = next(iter(find_module(name, folders)), None)
            if file is None or name in met:
                continue
            met.add(name)
            imports = _imports(reading.start_of(file, _READ_LIMIT))
            if imports is None or len(met) > _LIBRARY_FILES:
                return True
            package = name if file.endswith("/__init__.py") else name.rpartition(".")[0]
            found = ((_absolute(each, package), *taken) for each, *taken in imports)
            waiting += [each for each in found if not _is_trusted(each[0])]
    return False


def _absolute(module: str, package: str) -> str:
    """Return the full name of a module that a file of a package imports."""
    name = module.lstrip(".")
    levels = len(module) - len(name)
    if not levels:
        return name
    parts = package.split(".")
    return ".".join(filter(None, (*parts[: len(parts) - levels + 1], name)))
