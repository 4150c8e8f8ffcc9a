"""Test modules of one Makefile that have tests with the same name, so that only their modules distinguish the tests."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.capture.make.makefiles import HEAD, python_path, text_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_WORD = re.compile(r"[A-Za-z_][\w.]*")
_DECORATOR = re.compile(r"@(?:\w+\.)*(?:test|parametrize)\b")
_DEFINITION = re.compile(r"(?:async[ \t]+def|def|class)[ \t]+(\w+)")
_FACTORY = re.compile(r"\bTestFactory\(\s*(?:test_function\s*=\s*)?(\w+)")
_MOST_MODULES = 1000


def modules_alike(makefile: Path) -> frozenset[str]:
    """Return the test modules named in a Makefile that have a test with the same name as a test of another of them.

    A Makefile names modules in targets, lists and loops, so each of its words may be a module.
    """
    words = {word.rstrip(".").removesuffix(".py") for word in _WORD.findall(text_of(makefile))}
    tests: dict[str, frozenset[str]] = {}
    for folder in python_path(makefile):
        for module, path in _modules_in(folder, words - tests.keys()):
            if len(tests) < _MOST_MODULES:
                tests[module] = frozenset(_tests_in(reading.start_of(path, HEAD)))
    counts = Counter(name for names in tests.values() for name in names)
    return frozenset(module for module, names in tests.items() if any(counts[name] > 1 for name in names))


def _modules_in(folder: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield those of the given modules that are files in a folder or below, each with the path of its file."""
    try:
        here = {path.name for path in Path(folder).iterdir()}
    except OSError:
        return
    for name in sorted(names):
        first, dot, _ = name.partition(".")
        path = f"{folder}/{name.replace('.', '/')}.py"
        if (first if dot else f"{first}.py") in here and os.path.isfile(path):  # noqa: PTH113
            yield name, path


def _tests_in(text: str) -> Iterator[str]:
    """Yield the names of the cocotb tests in the text of a module.

    The module is not parsed as Python, because its tests have the same names if it has a syntax error.
    """
    is_decorated = False
    for line in text.split("\n"):
        if _DECORATOR.match(line):
            is_decorated = True
        elif is_decorated and (found := _DEFINITION.match(line)):
            yield found[1]
            is_decorated = False
    yield from _FACTORY.findall(text)
