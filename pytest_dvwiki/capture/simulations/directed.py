"""Directed simulations: those that draw no random numbers, so that the seed cannot matter."""

from __future__ import annotations

import ast
import functools
import io
import os
import re
import sys
import tokenize
import warnings
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.capture.simulations.builds import stamp_of
from pytest_dvwiki.model import MOST_READ
from pytest_dvwiki.records.sides import HDL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

_READ_LIMIT = 1 << 20
"""Maximum size in bytes of a file that is searched; a larger one may draw."""
_LIBRARY_FILES = 200
"""Maximum number of files of a Python library that are searched; a larger library may draw."""
_TRUSTED = frozenset({"cocotb", "cocotb_test", "cocotb_tools", "find_libpython", "numpy", "pytest", "pyuvm"})
"""Python libraries that draw only if the testbench names `random`. cocotb itself only sets the seed."""
_DRAWS = re.compile(
    r"(?<!ope)rand|seed|secrets|uuid|shuffle|hypothesis|faker|\bvsc\b|crv|constrain|getpid"
    r"|\bopen\b|read_text|read_bytes|loadtxt|genfromtxt|fromfile|\bnp\.load\b"
    r"|import_module|__import__|\bexec\b|\beval\b|subprocess|popen|socket|urlopen|requests|thread"
    r"|@(?:cocotb\.)?(?:external|bridge|function|resume)\b",
    re.IGNORECASE,
)
"""Matches code of a testbench that may draw numbers, or take its stimulus from elsewhere."""
_HDL_DRAWS = re.compile(
    r"\$(?:u?random|dist_|f(?:open|scanf|gets|read)|readmem|system|value\$plusargs|test\$plusargs)|\brand(?:c|case|sequence|omize)?\b|\"DPI"
    r"|random|\buniform\b|\bfile\b|textio|pragma\s+protect",
    re.IGNORECASE,
)
_HDL_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_VHDL_COMMENT = re.compile(r"--[^\n]*")
_SCRIPT_DRAWS = re.compile(
    r"\$+[({]?RANDOM\b|urandom|\brand\(|\brandom\b|\bsrand\b|openssl|uuid|mktemp|\bshuf\b|\bdate\b|RESOLVE_X|TEST_ORDER"
)
"""Matches a Makefile or script with a source of numbers that differ from run to run; a constant seed is none."""
_BY_SEED = ("COCOTB_RESOLVE_X", "COCOTB_RANDOM_TEST_ORDER")
"""Variables that can make cocotb itself draw: values for unknown bits, and the order of tests."""
_SCRIPT_COMMENT = re.compile(r"(?:#|//)[^\n]*")


def draws_nothing(reads: Sequence[str], sources: Iterable[str], modules: Sequence[str], top: Path) -> bool:
    """Return whether a simulation is known to draw no random numbers.

    It is known only if all files that take part are known, and none of them contains anything that may draw, load
    stimulus from a file, or reach outside the simulation.

    Args:
        reads: The files that the simulation read, relative to the top of the repository.
        sources: Absolute paths of the sources of the build.
        modules: Names of the test modules.
        top: The top of the repository.
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
    folders = {str(folder) for each in reads if each.endswith(".py") for folder in PurePosixPath(each).parents}
    settings = [name for folder in folders if os.path.isfile(name := f"{base}{folder}/conftest.py")]  # noqa: PTH113
    return not any(_may_draw(each, known) for each in (*settings, *(f"{base}{name}" for name in reads)))


def _is_read(path: str, known: Collection[str]) -> bool:
    """Return whether a Python module, as a path without its suffix, is among the files read."""
    return any(f"/{each}".endswith((f"/{path}.py", f"/{path}/__init__.py")) for each in known)


def _may_draw(file: str, known: frozenset[str]) -> bool:
    stamp = stamp_of(file)
    if stamp is None or stamp[1] > _READ_LIMIT:
        return True
    draws, imports = _searched(file, stamp)
    return draws or not all(_is_harmless(each, known) for each in imports)


@functools.lru_cache(maxsize=1024)
def _searched(file: str, stamp: tuple[int, int]) -> tuple[bool, frozenset[tuple[str, ...]]]:  # noqa: ARG001  # a new stamp is a new file
    """Return whether the code of a file may draw, and the modules that it imports, each as its possible names."""
    text = reading.start_of(file, _READ_LIMIT)
    if file.endswith(".py"):
        return (True, frozenset()) if _python_draws(text) else (False, frozenset(_imports(text)))
    if HDL.search(file):
        comment = _VHDL_COMMENT if file.lower().endswith((".vhd", ".vhdl")) else _HDL_COMMENT
        return _HDL_DRAWS.search(comment.sub(" ", text)) is not None, frozenset()
    return _SCRIPT_DRAWS.search(_SCRIPT_COMMENT.sub(" ", text)) is not None, frozenset()


def _python_draws(text: str) -> bool:
    """Return whether Python code may draw. Comments do not count, but most files need no second look without them."""
    if not _DRAWS.search(text):
        return False
    code = _python_code(text)
    return code is None or _DRAWS.search(code) is not None


def _python_code(text: str) -> str | None:
    """Return Python code without its comments; None if it cannot be read."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    lines = text.split("\n")
    for token in tokens:
        if token.type == tokenize.COMMENT:
            number, column = token.start
            lines[number - 1] = lines[number - 1][:column]
    return "\n".join(lines)


def _imports(text: str) -> Iterator[tuple[str, ...]]:
    """Yield what a Python file imports: the dotted name of a module, then those of the names taken from it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield ("",)
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((each.name,) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{node.module}." if node.module else ""
            yield (node.module or "", *(f"{module}{each.name}" for each in node.names))


def _is_harmless(names: tuple[str, ...], known: frozenset[str]) -> bool:
    """Return whether an imported module was searched, or is known not to draw by itself."""
    module, *parts = names
    first = module.partition(".")[0]
    if first in _TRUSTED or first in sys.stdlib_module_names:
        return True
    if module and _is_read(module.replace(".", "/"), known):
        return True
    if parts and all(_is_read(each.replace(".", "/"), known) for each in parts):
        return True
    return bool(first) and not _library_may_draw(module)


@functools.lru_cache(maxsize=64)
def _library_may_draw(module: str) -> bool:
    """Return whether a Python library may draw; a library that is not found may."""
    path = module.split(".")
    for folder in dict.fromkeys(map(os.path.abspath, sys.path)):
        for depth in range(len(path), 0, -1):
            place = os.path.join(folder, *path[:depth])  # noqa: PTH118  # many of them
            if os.path.isfile(f"{place}/__init__.py"):  # noqa: PTH113
                files = [os.path.join(here, each) for here, _, names in os.walk(place) for each in names]  # noqa: PTH118
            elif os.path.isfile(f"{place}.py"):  # noqa: PTH113
                files = [f"{place}.py"]
            else:
                continue
            code = [each for each in files if each.endswith(".py")]
            is_compiled = len(code) < len(files) and any(each.endswith((".so", ".pyd")) for each in files)
            texts = (reading.start_of(each, _READ_LIMIT) for each in code)
            return is_compiled or len(code) > _LIBRARY_FILES or any(map(_python_draws, texts))
    return True
