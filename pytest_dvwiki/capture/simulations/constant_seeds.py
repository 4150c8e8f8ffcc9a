"""Finds random numbers that are the same in every run, because the seed is a literal in the code."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.simulations.unseeded import dotted, imported_names

if TYPE_CHECKING:
    from collections.abc import Iterator

_GENERATORS = frozenset({"random.Random", "numpy.random.default_rng", "numpy.random.RandomState"})
"""Calls that make a new generator, with a seed as argument."""
_TYPES = _GENERATORS | {"numpy.random.Generator"}
_SETS_SEED = frozenset({"random.seed", "numpy.random.seed"})
_NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
_MODULES = frozenset({"random", "numpy"})
_DRAWING = frozenset(
    {
        "betavariate", "bytes", "choice", "choices", "expovariate", "gammavariate", "gauss", "getrandbits", "integers",
        "lognormvariate", "normal", "normalvariate", "paretovariate", "permutation", "permuted", "poisson", "rand",
        "randbytes", "randint", "randn", "random", "randrange", "sample", "shuffle", "standard_normal", "triangular",
        "uniform", "vonmisesvariate", "weibullvariate",
    }
)  # fmt: skip
"""Methods of generators that are also functions of `random` or `numpy.random`."""


def code_that_may_draw(tree: ast.Module) -> str:
    """Return the code of a module without the parts that draw the same numbers in every run.

    Comments and docstrings are left out, too. The tree is changed. These parts draw the same numbers:

    - calls that make a generator with a literal seed (`random.Random(7)`), and the methods of generators;
    - calls of the functions of `random` in a function that has called `random.seed(7)` before. A call of `random.seed`
      at the top of a module is not enough: cocotb sets another seed at the start of each test.

    The same applies to `numpy.random`. Any other use of these modules stays in the code.

    Raises:
        RecursionError: The code is nested too deeply.
    """
    return ast.unparse(_Remainder(tree).visit(tree))


class _Remainder(ast.NodeTransformer):
    """Removes the parts that draw the same numbers in every run from a syntax tree."""

    def __init__(self, tree: ast.Module) -> None:
        imported: dict[str, set[str]] = {}
        for name, module in imported_names(ast.walk(tree)):
            imported.setdefault(name, set()).add(module)
        bound = set(_bound(tree))
        self._modules = {
            name: module
            for name, (module, *others) in imported.items()
            # Another file could import `random` from here under an unsuspicious name.
            if module in _MODULES and not others and name not in bound and module in {name, "numpy"}
        }
        self._own = bound - imported.keys() - _MODULES - {*dir(builtins)}
        """Names that the file itself defines; a word such as `random` in them means nothing."""
        self._seeded: frozenset[str] = frozenset()
        """The modules (`random`, `numpy.random`) whose functions draw from a literal seed at this point of the code."""

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        names = [each for each in node.names if each.asname or each.name != "random" or "random" not in self._modules]
        return ast.Import(names) if names else ast.Pass()

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return ast.Pass() if is_text else ast.Expr(self.visit(node.value))

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._called(node.id)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = self._full_name(node.func)
        module, _, function = name.rpartition(".")
        if name in _GENERATORS and _is_literal(node):
            return ast.Name("made")
        if module in self._seeded and function in _DRAWING:
            node.func = ast.Name("drawn")
        elif isinstance(node.func, ast.Attribute) and not name and node.func.attr in _DRAWING:
            node.func.attr = "drawn"
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        is_type = node.annotation is not None and self._full_name(node.annotation) in _TYPES
        annotation = self.visit(node.annotation) if node.annotation is not None and not is_type else None
        return ast.arg(self._called(node.arg), annotation)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if self._full_name(node.annotation) in _TYPES:
            node.annotation = ast.Name("type")
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._called(node.name)
        return self._unseeded(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """Visit a function statement by statement: statements after a literal seed draw from that seed."""
        before, self._seeded = self._seeded, frozenset()
        body, node.body, node.name = node.body, [], self._called(node.name)
        node.returns = None if node.returns is None or self._full_name(node.returns) in _TYPES else node.returns
        self.generic_visit(node)
        # No literal seed counts in a generator function: one test may start an iteration, and the next one continue it.
        is_generator = any(isinstance(each, ast.Yield | ast.YieldFrom) for part in body for each in ast.walk(part))
        for each in body:
            call = each.value if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) else None
            name = self._full_name(call.func) if call is not None else ""
            if call is not None and name in _SETS_SEED and not is_generator and _is_literal(call):
                self._seeded |= {name.rpartition(".")[0]}
            else:
                node.body.append(self.visit(each))
        node.body = node.body or [ast.Pass()]
        self._seeded = before
        return node

    def _unseeded(self, node: ast.AST) -> ast.AST:
        """Visit code that may run at any later time, when another seed may have replaced the literal one."""
        before, self._seeded = self._seeded, frozenset()
        self.generic_visit(node)
        self._seeded = before
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function  # noqa: N815  # names of `ast`
    visit_Lambda = visit_GeneratorExp = _unseeded  # noqa: N815  # likewise

    def _called(self, name: str) -> str:
        return "own" if name in self._own else name

    def _full_name(self, node: ast.expr) -> str:
        """Return the full name of a function or class of `random` or `numpy`; empty for any other expression."""
        first, dot, rest = dotted(node).partition(".")
        module = self._modules.get(first)
        return f"{module}{dot}{rest}" if module else ""


def _is_literal(call: ast.Call) -> bool:
    """Return whether a call has exactly one argument, a literal number or text."""
    given = [*call.args, *(each.value for each in call.keywords)]
    return (
        len(given) == 1 and isinstance(given[0], ast.Constant) and isinstance(given[0].value, int | float | str | bytes)
    )


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield each name that is bound by anything but an import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, _NAMED) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
