"""Rules for the code that no linter checks."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest_dvwiki

PACKAGE = Path(pytest_dvwiki.__file__).parent
LONGEST = 200
MOST_METHODS = 20


@cache
def classes() -> list[ast.ClassDef]:
    trees = (ast.parse(file.read_text()) for file in PACKAGE.rglob("*.py"))
    return [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


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
        and not re.search(r"\b(?:long|many)\b", ast.get_docstring(each) or "", re.IGNORECASE)
    ]
    assert unexplained == []
