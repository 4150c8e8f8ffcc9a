"""What a terminal or a mail broke at its width is whole again; other texts stay as they are."""

from __future__ import annotations

import textwrap

import pytest

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.classify import Classifier
from pytest_dvwiki.triage.unwrap import unwrapped

LINES = [
    "make: Entering directory '/w/tb'",
    "   250.00ns ERROR    cocotb.scheduler               Failing test at simulator request before test run completion",
    "     0.00ns INFO     cocotb.regression                  running test_fifo.test_overflow_is_told_by_the_flag (1/2)",
    "make: *** [Makefile:9: sim] Error 1",
]


@pytest.mark.parametrize("width", [72, 80, 100])
def test_lines_that_a_terminal_cut_are_whole_again(width: int) -> None:
    cut = [line[at : at + width] for line in LINES for at in range(0, len(line), width)]
    found = unwrapped(cut)
    assert found is not None
    lines, numbers = found
    assert lines == LINES
    assert [cut[number - 1][:20] for number in numbers] == [line[:20] for line in LINES]


def test_sentences_that_a_mail_wrapped_are_whole_again() -> None:
    told = (
        "ERROR: the parser of the tool met a word in that line where only a semicolon may stand according to the "
        "standard, and then gave up on the whole of the file and on all that need it"
    )
    lines = ["Dear all,", "", *textwrap.wrap(told, 72), "", "What is this?"]
    found = unwrapped(lines)
    assert found is not None
    assert found[0][2] == told


@pytest.mark.parametrize(
    "lines",
    [
        LINES,
        [
            "ghdl:error: bound check failure at /home/user/projects/fifo/rtl/fifo.vhd:145",
            "ghdl:error: simulation failed",
        ],
        ["*" * 80, "** TESTS=2 PASS=2 FAIL=0 SKIP=0" + " " * 47 + "**", "*" * 80, "done"],
        [],
    ],
)
def test_lines_that_nothing_broke_stay_as_they_are(lines: list[str]) -> None:
    assert unwrapped(lines) is None


def test_a_verdict_names_the_line_of_the_broken_text() -> None:
    text = "\n".join(line[at : at + 80] for line in LINES for at in range(0, len(line), 80))
    verdict = Classifier(load_registry()).classify_text(text)
    assert verdict is not None
    assert (verdict.failure_subtype, verdict.line) == ("simulation_ended_early", 2)
