"""Rules for the code that no linter knows."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest_dvwiki

PACKAGE = Path(pytest_dvwiki.__file__).parent
LONGEST = 200
MOST_METHODS = 20


def classes() -> Iterator[ast.ClassDef]:
    for file in PACKAGE.rglob("*.py"):
        yield from (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ClassDef))


def test_a_class_name_means_one_class() -> None:
    assert [name for name, count in Counter(each.name for each in classes()).items() if count > 1] == []


def test_a_long_class_says_why() -> None:
    unexplained = [
        each.name
        for each in classes()
        if (
            (each.end_lineno or 0) - each.lineno >= LONGEST
            or sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in each.body) > MOST_METHODS
        )
        and not {"Long", "Many"} & set((ast.get_docstring(each) or "").replace(",", "").split())
    ]
    assert unexplained == []
