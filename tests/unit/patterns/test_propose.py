"""A proposal matches all texts of its cause and none of another, or says why there is none."""

from __future__ import annotations

import re

import pytest

from pytest_dvwiki.patterns import expression
from pytest_dvwiki.patterns.check import Checker
from pytest_dvwiki.patterns.propose import Cluster, NoPattern, message_of, propose
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.patterns.schema import Pattern

LANES = ("link: lane 3 lost its lock at 0x1f", "link: lane 12 lost its lock at 0x20")


def cluster(*texts: str, **fields: object) -> Cluster:
    return Cluster(occurrences=tuple((text, text) for text in texts), **fields)  # type: ignore[arg-type]


def proposed(*texts: str, others: tuple[str, ...] = (), taken: tuple[str, ...] = ()) -> Pattern:
    made = propose(cluster(*texts), others, taken=taken)
    assert isinstance(made, Pattern), made
    return made


def test_values_are_left_open_and_words_are_kept() -> None:
    assert proposed(*LANES).match == (r"link: lane \S+ lost its lock at",)


@pytest.mark.parametrize(
    "text",
    [
        *LANES,
        "odd (text) with [special] characters: a+b*c? {x} ^$ | \\d",
        "  many   blanks   between   words",
        "word " * 100,
        "top.core.fifo: credit 5 of 16 not returned after 1250 ns",
        "0x10 12 credits were never returned 13 0x11",
    ],
)
def test_the_expression_obeys_the_contract_and_finds_its_example(text: str) -> None:
    made = proposed(text)
    expression.check(made.match[0])
    assert all(re.search(made.match[0], example, re.ASCII) for example in made.examples)


def test_the_pattern_holds_against_the_whole_registry() -> None:
    registry = load_registry()
    others = tuple(example for pattern in registry for example in pattern.examples)
    made = proposed(*LANES, others=others)
    checker = Checker(load_registry([made]))
    assert [str(problem) for problem in checker.problems()] == []


def test_near_failures_become_counterexamples() -> None:
    near = "link: lane 3 lost its mind at 0x1f"
    made = proposed(*LANES, others=("nothing alike", near))
    assert made.counterexamples == (near,)
    assert not re.search(made.match[0], near)


def test_examples_of_other_patterns_are_kept_clear_of_and_not_shown() -> None:
    made = propose(cluster("opcode 0x13 retired twice"), (), foreign=("opcode 0x14 retired twice",))
    assert isinstance(made, Pattern)
    assert (made.match, made.counterexamples) == (("opcode 0x13 retired twice",), ())


def test_values_are_kept_where_only_they_tell_two_failures_apart() -> None:
    made = proposed("opcode 0x13 retired twice", others=("opcode 0x14 retired twice",))
    assert made.match == ("opcode 0x13 retired twice",)


def test_no_pattern_where_nothing_tells_two_failures_apart() -> None:
    made = propose(cluster(*LANES), ["link: lane 9 lost its lock at 0x9"])
    assert isinstance(made, NoPattern)
    assert "no expression distinguishes this message from 'link: lane 9 lost its lock at 0x9'" in made.reason


def test_no_pattern_of_values_alone() -> None:
    for made in (propose(cluster("0x13 12 17.5"), ()), propose(cluster("0x13 12", "0x14 13"), ())):
        assert isinstance(made, NoPattern)
        assert "no words" in made.reason


def test_the_example_is_the_message_as_the_log_has_it() -> None:
    excerpt = "before\nlink:  lane 3   lost its lock\nafter"
    assert (
        message_of("link: lane 3 lost its lock in tb.py:check: assert ok", excerpt) == "link:  lane 3   lost its lock"
    )
    assert message_of("link: lane 3 lost its lock", "something else") == "link: lane 3 lost its lock"
    made = propose(Cluster(occurrences=(("link: lane 3 lost its lock", excerpt),)), ())
    assert isinstance(made, Pattern)
    assert re.search(made.match[0], "link:  lane 3   lost its lock")


def test_ids_do_not_clash_and_a_fix_on_record_is_taken_over() -> None:
    assert proposed(LANES[0]).id == "own.link_lane_lost_lock"
    assert proposed(LANES[0], taken=("own.link_lane_lost_lock",)).id == "own.link_lane_lost_lock_2"
    made = propose(cluster(LANES[0], fix="Lower the lane rate.", in_simulator=True), ())
    assert isinstance(made, Pattern)
    assert (made.fix, made.error_class) == ("Lower the lane rate.", "sim_error")
