"""Finds the names that a source file declares, to check citations such as `rtl/fifo.sv:sync_fifo`.

Python is parsed. SystemVerilog and Verilog are parsed by pyslang if it is installed. VHDL, and code that pyslang skips
(inactive branches of an `ifdef`) or cannot parse, is searched for names outside comments and strings where a
declaration is possible. In doubt, a name is included, so that existing names are not reported as missing.
"""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from pytest_dvwiki import reading

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_VHDL_COMMENTS = re.compile(r'--[^\n]*|"[^"\n]*"')
_VHDL = frozenset({".vhd", ".vhdl"})
_TOKEN = re.compile(r"\\\S+|[A-Za-z_][\w$]*|'?\d[\w.']*|::|[^\s\w]")
_NAME = re.compile(r"\\\S|[A-Za-z_]")
_DEFINED = re.compile(r"^[ \t]*`define[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_BEFORE_A_USE = frozenset(".`@=+-*/%&|^~!<>?") | {
    *("assign", "disable", "else", "extends", "iff", "import", "inside", "negedge", "posedge", "return", "wait")
}
"""Tokens that can precede a reference to a name, but never its declaration."""
_REFERENCES = frozenset(
    {
        "CheckerInstantiationSyntax",
        "ClassNameSyntax",
        "HierarchyInstantiationSyntax",
        "IdentifierNameSyntax",
        "IdentifierSelectNameSyntax",
        "MemberAccessExpressionSyntax",
        "ModportNamedPortSyntax",
        "NamedArgumentSyntax",
        "NamedParamAssignmentSyntax",
        "NamedPortConnectionSyntax",
        "PackageImportItemSyntax",
        "PrimitiveInstantiationSyntax",
    }
)
"""Types of pyslang's syntax nodes whose identifiers refer to a name; the identifiers of all other nodes declare one."""
_NAMED = frozenset({"ConstraintDeclarationSyntax", "ConstraintPrototypeSyntax", "FunctionPrototypeSyntax"})
"""Types of pyslang's syntax nodes whose declared name is in a child node."""


@cache
def declared_names(file: Path, _mtime_ns: int) -> frozenset[str] | None:
    """Return the names that a file declares, in lower case, or None if the file cannot be read or parsed.

    The file's modification time is an argument only because it is part of the cache key.
    """
    try:
        source = reading.read_bytes(file).decode("utf-8", "replace")
    except OSError:
        return None
    try:
        names = frozenset(_of_python(source) if file.suffix == ".py" else _of_hdl(source, file.suffix))
    except (SyntaxError, ValueError):
        return None
    return frozenset(name.lower() for name in names)


def _of_python(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).rpartition(".")[2]
        elif isinstance(node, ast.arg):
            yield node.arg


def _of_hdl(source: str, suffix: str) -> set[str]:
    if suffix in _VHDL:
        return set(_by_declarations(_VHDL_COMMENTS.sub(" ", source)))
    defined = set(_DEFINED.findall(source))
    return defined | (_by_parser(source) or set(_by_declarations(_COMMENTS.sub(" ", source))))


def _by_declarations(code: str) -> Iterator[str]:
    """Yield each name at a position where a declaration is possible, in code without comments."""
    tokens = ["", "", "", *(token[0] for token in _TOKEN.finditer(code)), ""]
    for dot, _, before, word, behind in zip(*(tokens[offset:] for offset in range(5)), strict=False):
        # `.port(net)` uses a net that is declared elsewhere.
        is_use = before in _BEFORE_A_USE or behind == "::" or (before == "(" and dot == ".")
        if _NAME.match(word) and not is_use:
            yield word.removeprefix("\\")


def _by_parser(source: str) -> set[str] | None:
    """Return the names declared in the code, or None if pyslang is missing or cannot parse the code."""
    try:
        syntax: Any = importlib.import_module("pyslang.syntax")
        parsing: Any = importlib.import_module("pyslang.parsing")
        tree = syntax.SyntaxTree.fromText(source)
        if any(diagnostic.isError() for diagnostic in tree.diagnostics):
            return None
        names: set[str] = set()
        tree.root.visit(lambda node: names.update(_of_node(node, parsing)))
    except (ImportError, AttributeError, RuntimeError, TypeError):
        # pyslang is not installed, or its version has a different API.
        return None
    return names


def _of_node(node: Any, parsing: Any) -> Iterator[str]:
    """Yield the names declared by a node of pyslang's tree, and names possibly declared in skipped `ifdef` branches."""
    kind = type(node).__name__
    if kind in _NAMED:
        name = node.name
        while hasattr(name, "right"):
            name = name.right
        yield from (word.valueText for word in name if isinstance(word, parsing.Token))
    if not kind.endswith("Syntax"):
        return
    for word in node:
        if not isinstance(word, parsing.Token):
            continue
        if kind not in _REFERENCES and word.kind == parsing.TokenKind.Identifier:
            yield word.valueText
        for trivia in word.trivia:
            if trivia.kind == parsing.TriviaKind.Directive:
                yield from _by_declarations(_COMMENTS.sub(" ", str(trivia.syntax())))
