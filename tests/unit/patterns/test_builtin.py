"""The built-in registry: every pattern matches its examples, and none matches another's messages."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_dvwiki.patterns.check import Checker
from pytest_dvwiki.patterns.engines import load
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry, load_subtypes
from pytest_dvwiki.patterns.schema import CLASSES, UNKNOWN, Pattern

REGISTRY = load_registry()
MATCHER = Matcher(REGISTRY)
CHECKER = Checker(REGISTRY)
FAILURES = [pattern for pattern in REGISTRY if pattern.tier != "benign"]


@pytest.mark.parametrize("pattern", REGISTRY.patterns, ids=lambda pattern: pattern.id)
def test_examples_and_counterexamples_hold_against_all_patterns(pattern: Pattern) -> None:
    assert pattern.examples
    assert [str(problem) for problem in CHECKER.problems_of(pattern)] == []


@pytest.mark.parametrize("pattern", REGISTRY.patterns, ids=lambda pattern: pattern.id)
def test_each_pattern_is_described_and_names_what_to_do(pattern: Pattern) -> None:
    assert pattern.description.endswith((".", "."))
    if pattern.tier != "benign":
        assert pattern.fix.endswith((".", ")"))


def test_the_registry_is_broad() -> None:
    assert len(FAILURES) >= 400
    tools = Counter(tool for pattern in REGISTRY for tool in pattern.tools)
    for tool in (
        "icarus",
        "verilator",
        "ghdl",
        "nvc",
        "questa",
        "vcs",
        "xcelium",
        "riviera",
        "xsim",
        "uvm",
        "pyuvm",
        "cocotb",
        "pytest",
        "python",
    ):
        assert tools[tool] >= 5, tool


def test_every_subtype_is_described_and_can_be_given() -> None:
    subtypes = load_subtypes()
    given = {pattern.failure_subtype for pattern in FAILURES} - {UNKNOWN}
    assert given <= set(subtypes)
    # These three come from circumstances or from a project's patterns.
    assert set(subtypes) - given <= {"assertion_error", "timing_offset", "illegal_construct"}
    assert {pattern.error_class for pattern in FAILURES} == set(CLASSES)


def test_an_engine_looks_for_few_literals() -> None:
    """A short literal is in many irrelevant lines."""
    assert len(MATCHER.registry.triggers.rules) <= 1000
    assert sum(len(trigger) < 5 for trigger in MATCHER.registry.triggers.rules) <= 8


def test_python_alone_looks_for_fewer_still() -> None:
    """Python needs one pass over the text for each."""
    triggers = list(MATCHER.registry.triggers.rules)
    engine = load(triggers, name="python")
    assert len(engine._by_part) < 0.4 * len(triggers)  # type: ignore[attr-defined]
