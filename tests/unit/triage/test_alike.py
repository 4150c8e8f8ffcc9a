"""Failures that differ only in irrelevant values share a verdict."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pytest_dvwiki.model import Excerpt, Failure, Verdict
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.alike import Likeness
from pytest_dvwiki.triage.classify import Classifier

if TYPE_CHECKING:
    from pathlib import Path

_STANDING_ALONE = re.compile(r"(?<=[ =])(?:0x[0-9a-f]{2,}|[1-9][0-9]+)(?![^\s,;)])")
_MANY = 60


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    return Classifier(load_registry())


@pytest.fixture(scope="module")
def likeness(classifier: Classifier) -> Likeness:
    return Likeness(classifier.registry.entries)


def failing(text: str, number: int = 1) -> Failure:
    lines = tuple(enumerate(text.split("\n"), start=1))
    return Failure(
        nodeid=f"tests/test_dut.py::test_add[{number}]",
        exception="AssertionError",
        message=text,
        excerpts=(Excerpt(source="report", lines=lines),),
    )


def identity(verdict: Verdict) -> tuple[object, ...]:
    """Return the identity of the cause, without the words of one failure."""
    return (
        verdict.fingerprint,
        verdict.fingerprint_v1,
        verdict.error_class,
        verdict.failure_subtype,
        verdict.pattern,
        verdict.line,
        verdict.rule,
        verdict.clues,
        verdict.place,
        [other.pattern for other in verdict.runners_up],
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("E   AssertionError: word: got 0x1a, expected 0x1b", "E   AssertionError: word: got 0x2f, expected 0x30"),
        ("E   assert 234 == 235", "E   assert 897 == 898"),
        ("E   TimeoutError: no answer after 2500 cycles", "E   TimeoutError: no answer after 7500 cycles"),
    ],
)
def test_other_values_of_the_same_length_are_alike(likeness: Likeness, one: str, other: str) -> None:
    assert likeness.key(failing(one)) == likeness.key(failing(other)) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("E   assert 234 == 235", "E   assert 234 == 234"),  # the values agree
        ("E   assert 999 == 998", "E   assert 1000 == 998"),  # another length, which an alignment may show
        ("E   assert 1010 == 1011", "E   assert 2010 == 1011"),  # no longer bits
        ("E   found 10 errors", "E   found 0 errors"),
        ("simulator exited with code 137", "simulator exited with code 138"),  # a signal that patterns know
        ("E   RuntimeError: signal 15 received", "E   RuntimeError: signal 25 received"),
        ("E   assert a7 == 235", "E   assert a8 == 235"),  # names
        ("E   KeyError: 'k17'", "E   KeyError: 'k18'"),
        ("E   Error in tb.sv:17: x", "E   Error in tb.sv:18: x"),
        ("E   assert 0x0f == 0x1f", "E   assert 0x0e == 0x1f"),
        ("E   [17] stopped", "E   [18] stopped"),
    ],
)
def test_what_may_decide_is_compared(likeness: Likeness, one: str, other: str) -> None:
    assert likeness.key(failing(one)) != likeness.key(failing(other))


def test_place_phase_and_lines_are_compared(likeness: Likeness) -> None:
    one = failing("E   assert 234 == 235")
    for change in ({"phase": "setup"}, {"exception": "ValueError"}, {"reads": ("a.sv",)}, {"sim_time": "5 ns"}):
        assert likeness.key(one) != likeness.key(replace(one, **change))
    moved = replace(one, excerpts=(replace(one.excerpts[0], lines=((7, "E   assert 234 == 235"),)),))
    assert likeness.key(one) != likeness.key(moved)
    assert likeness.key(replace(one, in_simulator=True)) is None
    assert likeness.key(replace(one, started=False)) is None


def test_alike_failures_get_the_same_identity(classifier: Classifier, likeness: Likeness) -> None:
    """Tests all examples of the built-in patterns with other values."""
    chance = random.Random(7)
    alike = 0
    for pattern in classifier.registry.patterns:
        for example in pattern.examples:
            found = _STANDING_ALONE.findall(example)
            if not found:
                continue
            other = _STANDING_ALONE.sub(lambda value: _another(value[0], chance), example)
            one, two = failing(example), failing(other)
            if likeness.key(one) == likeness.key(two):
                alike += 1
                assert identity(classifier.classify(one)) == identity(classifier.classify(two)), (example, other)
    assert alike > _MANY


def _another(value: str, chance: random.Random) -> str:
    if value.startswith("0x"):
        return "0x" + chance.choice("123456789abcdef") + "".join(chance.choices("0123456789abcdef", k=len(value) - 3))
    return chance.choice("123456789") + "".join(chance.choices("0123456789", k=len(value) - 1))


def test_a_verdict_in_full_has_the_failures_own_texts() -> None:
    classifier = Classifier(load_registry())
    failures = [
        failing(f"E   AssertionError: word of channel: got 0x{n:x}, expected 0x{n + 1:x}", n) for n in range(300, 400)
    ]
    verdicts = classifier.classify_all(failures)
    alone = [Classifier(classifier.registry).classify(failure) for failure in failures[:3] + failures[-3:]]
    assert len({id(verdict) for verdict in verdicts}) < len(failures) // 4
    assert {verdict.fingerprint for verdict in verdicts} == {alone[0].fingerprint}
    full = [classifier.in_full(failures[at], verdicts[at]) for at in (0, 1, 2, 97, 98, 99)]
    assert full == alone
    assert "got 0x18f, expected 0x190" in full[-1].primary


def test_hooks_see_each_failure_once() -> None:
    seen: list[str] = []
    classifier = Classifier(load_registry(), hooks=[lambda failure: seen.append(failure.nodeid)])
    failures = [failing(f"E   assert {n} == {n + 1}", n) for n in range(300, 400)]
    verdicts = classifier.classify_all(failures)
    for failure, verdict in zip(failures, verdicts, strict=True):
        classifier.in_full(failure, verdict)
    assert seen == [failure.nodeid for failure in failures]


def test_a_pattern_of_the_project_that_wants_a_digit_ends_the_comparison(tmp_path: Path) -> None:
    pattern = """
- id: ours.code
  tools: [hdl]
  tier: cause
  error_class: sim_error
  failure_subtype: runtime_error
  match: ['\\bour code {number}\\b']
  description: A code of ours.
  fix: Ask us.
  examples: [our code 42 was read]
"""
    (tmp_path / "ours.yaml").write_text(pattern.format(number="4[25]"), encoding="utf-8")
    problems: list[str] = []
    likeness = Likeness(load_registry([tmp_path], problem=lambda error: problems.append(str(error))).entries)
    assert not problems
    assert likeness.key(failing("E   assert 234 == 235")) is None
    (tmp_path / "ours.yaml").write_text(pattern.format(number="\\d+"), encoding="utf-8")
    likeness = Likeness(load_registry([tmp_path]).entries)
    assert likeness.key(failing("E   assert 234 == 235")) is not None
