"""Stimulus that cocotb's seed does not reproduce: from `numpy.random`, or from a testbench with its own seed."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from pytest_dvwiki import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_MODULE = "numpy.random"
_READ_LIMIT = 1 << 20
_TAKES_SEED = frozenset(
    {"default_rng", "RandomState", "SeedSequence", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"}
)
"""Functions that take a seed from the operating system if the caller gives none."""
_STATE = frozenset({"seed", "set_state"})
"""Functions that set the state of numpy's global generator."""
_OWN_SEED = re.compile(r"""(?:environ\.get\(|environ\[|getenv\()\s*["'](?!(?:COCOTB_)?RANDOM_SEED["'])\w*SEED""")
"""Matches Python code that reads a seed other than cocotb's from the environment."""
_SETS_SEED = re.compile(r"\brandom\.(?:seed|Random)\(\s*[^\s\d)]")
_NO_DRAW = frozenset({"Generator", "BitGenerator", "get_state", "get_bit_generator", "set_bit_generator"})


def draws_unseeded(files: Iterable[str], top: Path) -> str:
    """Return a file that draws random numbers without cocotb's seed; empty if no file does.

    Paths are relative to `top`. The file uses numpy without a seed, or `random` with a seed from an environment
    variable other than cocotb's. Most runners set such a variable to a new value for each run.
    """
    shared = ""
    is_set = False
    for file in files:
        text = reading.start_of(top / file, _READ_LIMIT) if file.endswith(".py") else ""
        if _SETS_SEED.search(text) and _OWN_SEED.search(text):
            return file
        for name, has_seed in _calls(text):
            if name in _TAKES_SEED:
                if not has_seed:
                    return file
            elif name in _STATE:
                is_set = is_set or has_seed
            elif name not in _NO_DRAW:
                shared = shared or file
    return "" if is_set else shared


def _calls(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the functions of `numpy.random` that a file calls, and whether each gets an argument other than None."""
    nodes = syntax_nodes(text) if _MODULE.partition(".")[0] in text else []
    names = dict(imported_names(nodes))
    for node in nodes:
        if isinstance(node, ast.Call):
            first, dot, rest = dotted(node.func).partition(".")
            module, _, name = f"{names.get(first, '')}{dot}{rest}".rpartition(".")
            if module == _MODULE:
                given = [*node.args, *(each.value for each in node.keywords)]
                yield name, any(not (isinstance(each, ast.Constant) and each.value is None) for each in given)


def syntax_nodes(text: str) -> list[ast.AST]:
    """Return all nodes of the syntax tree of a Python file; empty if it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def imported_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, and the full name of the imported module or object."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                yield (each.asname, each.name) if each.asname else (each.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                yield each.asname or each.name, f"{'.' * node.level}{node.module or ''}.{each.name}"


def dotted(node: ast.expr) -> str:
    """Return a name with its attributes, `np.random.rand`; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
