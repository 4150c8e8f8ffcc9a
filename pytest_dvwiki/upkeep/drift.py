"""Citations of code, `rtl/fifo.sv:sync_fifo` or `tb/test_fifo.py:Scoreboard.check`, whose target is gone.

Only what can be told with certainty is reported: the file is not there, or it declares nothing of that name. Python is
parsed; in SystemVerilog, Verilog and VHDL a name counts as declared wherever it stands outside of comments and strings,
so that no declaration, however it is written, is taken for a missing one.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_dvwiki.upkeep.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.upkeep.page import PageText

_CITATION = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|sv|svh|v|vh|vhd|vhdl)):([A-Za-z_][\w.$]*|\d+)`")
_VERILOG = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_VHDL = re.compile(r'--[^\n]*|"[^"\n]*"')
_WORD = re.compile(r"[A-Za-z_][\w$]*")


def check_drift(root: Path, text: PageText) -> Iterator[Finding]:
    """Citations on a page, in what people wrote, whose file or name is gone."""
    for line in text.people:
        for path, name in _CITATION.findall(line.text):
            problem = _problem(root, path, name)
            if problem:
                yield Finding(text.listed.path, line.number, "drift", problem)


def _problem(root: Path, path: str, name: str) -> str | None:
    if ".." in PurePosixPath(path).parts:
        return None
    file = root / path
    if not file.is_file():
        return f"{path} is not there"
    if name.isdigit():
        lines = _source(file).count("\n") + 1
        return None if int(name) <= lines else f"{path} has {lines} lines, not {name}"
    declared = _declared(file)
    if declared is None or all(part.lower() in declared for part in name.split(".")):
        return None
    return f"{path} declares no {name}"


@cache
def _declared(file: Path) -> frozenset[str] | None:
    """Lower-cased names that a file declares; None where that cannot be told."""
    source = _source(file)
    if file.suffix == ".py":
        try:
            return frozenset(name.lower() for name in _names(ast.parse(source)))
        except (SyntaxError, ValueError):
            return None
    comments = _VHDL if file.suffix in {".vhd", ".vhdl"} else _VERILOG
    return frozenset(word.lower() for word in _WORD.findall(comments.sub(" ", source)))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).rpartition(".")[2]
        elif isinstance(node, ast.arg):
            yield node.arg


def _source(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
