"""An assertion without a message gets the text of the error that the test logged for it."""

from __future__ import annotations

import pytest

from pytest_dvwiki.model import Frame
from pytest_dvwiki.triage.logged import with_logged

DEEP = " " * 56
NOTHING = "AssertionError: assert False"
FAILED = "20.00ns WARNING  cocotb.regression                  t.leds failed"
RAISED = f"{DEEP}{NOTHING}"


def logged(level: str, text: str, logger: str = "test") -> str:
    return f"   20.00ns \x1b[31m{level:<8}\x1b[39m {logger:<34} \x1b[31m{text}\x1b[0m"


def numbered(*lines: str) -> list[tuple[int, str]]:
    return list(enumerate(lines, 1))


def test_the_error_directly_above_the_verdict_is_told() -> None:
    lines = numbered(logged("INFO", "reset done"), logged("ERROR", "LEDs not 0"), FAILED, RAISED)
    for end in (None, 4):
        assert with_logged(NOTHING, None, lines, end) == "AssertionError: LEDs not 0"
    never = Frame(file="tb/t.py", line=9, function="leds", source="assert False")
    assert with_logged("AssertionError", never, lines) == "AssertionError: LEDs not 0"


def test_of_several_the_first_one_counts() -> None:
    lines = numbered(logged("ERROR", "port 1 differs"), f"{DEEP}in two lines", logged("ERROR", "got 7"), FAILED, RAISED)
    assert with_logged(NOTHING, None, lines) == "AssertionError: port 1 differs"


def test_of_two_tests_each_has_its_own() -> None:
    one = (logged("ERROR", "LEDs not 0"), FAILED, RAISED)
    lines = numbered(*one, logged("ERROR", "no readback"), FAILED, RAISED)
    assert [with_logged(NOTHING, None, lines, end) for end in (3, 6)] == [
        "AssertionError: LEDs not 0",
        "AssertionError: no readback",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        (logged("ERROR", "a monitor complains"), logged("INFO", "go on"), FAILED, RAISED),
        (logged("WARNING", "slow"), FAILED, RAISED),
        (logged("ERROR", "LEDs not 0"), RAISED),
        (FAILED, RAISED),
    ],
    ids=["an earlier error", "a warning", "no verdict", "nothing"],
)
def test_what_is_not_directly_above_it_is_not_its_error(lines: tuple[str, ...]) -> None:
    assert with_logged(NOTHING, None, numbered(*lines)) == NOTHING


def test_lines_that_were_left_out_may_be_between_them() -> None:
    assert with_logged(NOTHING, None, [(1, logged("ERROR", "LEDs not 0")), (9, FAILED), (10, RAISED)]) == NOTHING


@pytest.mark.parametrize("text", ["AssertionError: assert 1 == 2", "AssertionError: LEDs", "AssertionError"])
def test_an_assertion_that_says_something_keeps_its_words(text: str) -> None:
    frame = Frame(file="tb/t.py", line=9, function="leds", source="assert a == b")
    lines = numbered(logged("ERROR", "LEDs not 0"), FAILED, RAISED)
    assert with_logged(text, frame, lines) == text
