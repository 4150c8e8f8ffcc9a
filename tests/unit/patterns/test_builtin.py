"""The built-in registry: every pattern holds what it promises, and none takes another's messages."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry, load_subtypes
from pytest_dvwiki.patterns.schema import CLASSES, UNKNOWN, Pattern

REGISTRY = load_registry()
MATCHER = Matcher(REGISTRY)
RAISED = "\n%Error: Exiting due to 1 warning(s)\n"
"""What a raised warning needs beside itself."""
FAILURES = [pattern for pattern in REGISTRY if pattern.tier != "benign"]
BENIGN = [pattern for pattern in REGISTRY if pattern.tier == "benign"]


def label(pattern: Pattern) -> tuple[str, str]:
    return pattern.error_class, pattern.failure_subtype


@pytest.mark.parametrize("pattern", FAILURES, ids=lambda pattern: pattern.id)
def test_each_example_is_won_by_its_pattern_or_by_one_of_the_same_label(pattern: Pattern) -> None:
    assert pattern.examples
    for example in pattern.examples:
        hits = MATCHER.hits(example + (RAISED if pattern.together_with else "\n"))
        assert hits, example
        assert label(hits[0].pattern) == label(pattern), f"{hits[0].pattern.id} takes {example!r}"
        assert pattern.id in [hit.pattern.id for hit in MATCHER.matches(hits[0].text)], example


@pytest.mark.parametrize("pattern", REGISTRY.patterns, ids=lambda pattern: pattern.id)
def test_no_counterexample_is_matched(pattern: Pattern) -> None:
    for counterexample in pattern.counterexamples:
        assert pattern.id not in [hit.pattern.id for hit in MATCHER.matches(counterexample.strip())]


@pytest.mark.parametrize("pattern", BENIGN, ids=lambda pattern: pattern.id)
def test_no_benign_example_is_called_a_failure(pattern: Pattern) -> None:
    assert pattern.examples
    for example in pattern.examples:
        assert not MATCHER.hits(example + "\n")
        assert pattern.id in [hit.pattern.id for hit in MATCHER.matches(example)]


@pytest.mark.parametrize("pattern", REGISTRY.patterns, ids=lambda pattern: pattern.id)
def test_each_pattern_is_described_and_names_what_to_do(pattern: Pattern) -> None:
    assert pattern.description.endswith((".", "."))
    if pattern.tier != "benign":
        assert pattern.fix.endswith((".", ")"))


def test_the_registry_is_broad() -> None:
    assert len(FAILURES) >= 300
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
    # These three come from circumstances or from a project's own patterns.
    assert set(subtypes) - given <= {"assertion_error", "timing_offset", "illegal_construct"}
    assert {pattern.error_class for pattern in FAILURES} == set(CLASSES)


def test_a_scan_looks_for_few_literals() -> None:
    """Each literal costs one pass over the text."""
    assert len(MATCHER._triggers) <= 125
