"""Texts that a mail or a page has wrapped, and logs that only look wrapped."""

from __future__ import annotations

import pytest

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.reading import TextClassifier

MISSING = (
    "> ** Error: /home/me/projects/dv/bench/top_tb.sv(245): Module 'clock_gate'\n"
    "> is not defined.\n"
    "> Does anybody know what I forgot? All sources are in one file list."
)
REGISTER = (
    "I see this in my transcript since I changed the model:\n"
    'UVM_ERROR uvm_reg.svh(2890) @ 230: reporter [RegModel] Register "regs.ctl"\n'
    "value read from DUT (0x0000000000000000) does not match mirrored value\n"
    "(0x0000000000000003)"
)
CUT = (
    "make: Entering directory '/w/tb'",
    "   250.00ns ERROR    cocotb.scheduler               Failing test at simulator request before test run completion",
    "     0.00ns INFO     cocotb.regression                  running test_fifo.test_overflow_is_told_by_the_flag (1/2)",
    "make: *** [Makefile:9: sim] Error 1",
)


@pytest.fixture(scope="module")
def classifier() -> TextClassifier:
    return TextClassifier(load_registry())


@pytest.mark.parametrize(
    ("text", "label", "line"),
    [(MISSING, "elaboration_error/unresolved_reference", 1), (REGISTER, "uvm_error/scoreboard_fail", 2)],
    ids=["a quoted mail", "a page"],
)
def test_a_message_that_says_nothing_in_its_first_line_is_read_to_its_end(
    classifier: TextClassifier, text: str, label: str, line: int
) -> None:
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert f"{verdict.error_class}/{verdict.failure_subtype}" == label
    assert verdict.line == line
    assert "broken at column" in verdict.rule


@pytest.mark.parametrize(
    ("wide", "told"),
    [(91, "packet 7 went astray"), (60, "packet 7 went astray on its way from the sequencer to the monitor")],
    ids=["room for its first word", "a line that no page would hold"],
)
def test_what_stands_below_a_whole_line_is_none_of_it(classifier: TextClassifier, wide: int, told: str) -> None:
    text = f"INFO: x {'y' * wide}\nUVM_ERROR drv.sv(210) @ 1250: uvm_test_top.env.drv [DRV] {told}\nexpected 3, got 4"
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert verdict.primary.endswith(told)


def test_the_rest_of_a_warning_is_no_failure(classifier: TextClassifier) -> None:
    warning = (
        "** Warning: (vsim-PLI-3408) Too few data words read on line 13 of file\n"
        '"instr_hex". Expected 1000, found 12. : bench/init_imem.sv(7)\n'
        "   Time: 0 ps  Iteration: 0  Instance: /top_tb"
    )
    assert classifier.classify_text(warning) is None


@pytest.mark.parametrize(
    "failure",
    [
        "Segmentation fault (core dumped)",
        "./run.sh: line 7: 118 Floating point exception(core dumped) ./sim",
        "Killed",
        "Mismatch: expected 3 got 4",
        "mismatch: expected 3 got 4",
        "FAIL at time 30",
        "TEST FAILED",
        "timeout after 1000 cycles",
        "count found = 3, exp_count = 4",
    ],
)
@pytest.mark.parametrize(
    ("warning", "times"),
    [
        ("Warning: file 'weights.vmh' for memory 'mem' has a gap at addresses 17 to 1023.", 1),
        ("Warning: file 'weights.vmh' for memory 'mem' has a gap at addresses 17 to 1023.", 2),
        ("Warning: the memory 'mem' has a gap in file 'weights.vmh' below the first public", 1),
    ],
    ids=["a sentence", "twice", "as wide as a terminal"],
)
def test_what_stands_below_a_long_warning_is_no_rest_of_it(
    classifier: TextClassifier, failure: str, warning: str, times: int
) -> None:
    alone = classifier.classify_text(failure)
    below = classifier.classify_text("\n".join([warning, failure] * times))
    assert alone is not None
    assert below is not None
    assert (below.failure_subtype, below.line) == (alone.failure_subtype, 2)


def test_a_text_that_names_its_cause_is_left_as_it_stands(classifier: TextClassifier) -> None:
    text = '** Error: (vlog-13069) bench/top_tb.sv(245): near "endmodule": syntax error,\nunexpected endmodule'
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert verdict.failure_subtype == "syntax_error"
    assert "broken" not in verdict.rule


def test_a_text_that_stays_without_a_name_keeps_its_first_line(classifier: TextClassifier) -> None:
    first = "Error: the thing over there did not do what it is ought to do today"
    verdict = classifier.classify_text(f"{first}\nwhich is a nuisance")
    assert verdict is not None
    assert verdict.primary == first


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("width", [72, 80, 100])
def test_lines_that_a_terminal_cut_are_whole_again(classifier: TextClassifier, width: int, end: str) -> None:
    text = end.join(line[at : at + width] for line in CUT for at in range(0, len(line), width))
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert (verdict.failure_subtype, verdict.line) == ("simulation_ended_early", 2)
    assert verdict.rule.endswith(f"cut at column {width} are joined")


@pytest.mark.parametrize(
    "lines",
    [
        ["*" * 80, "** TESTS=2 PASS=1 FAIL=1 SKIP=0" + " " * 47 + "**", "*" * 80, "done"],
        [f"UVM_ERROR sb.sv(210) @ {n}: top.env.sb [SB] expected 0x3 got 0x1{n} in the queue" for n in range(3)],
        ["UVM_ERROR sb.sv(210) @ 1250: env.sb [SCBD] expected 3 got 4, 0 errors so far", "dut.sv:7: error: unknown"],
    ],
    ids=["a frame", "equal messages", "another tool"],
)
def test_lines_of_one_length_are_lines(classifier: TextClassifier, lines: list[str]) -> None:
    verdict = classifier.classify_text("\n".join(lines))
    assert verdict is not None
    assert "column" not in verdict.rule


@pytest.mark.parametrize(
    "failure", ["UVM_ERROR sb.sv(3) @ 10: env.sb [SB] mismatch exp=1 act=2", "syntax error near foo"]
)
def test_a_table_whose_rows_look_cut_hides_no_failure(classifier: TextClassifier, failure: str) -> None:
    registers = {"reg_ctrl": "0x00000001", "reg_status": "0x0000ffff", "fifo_level": "12", "irq_mask": "0x1"}
    table = [f"{name:<40}{value:>24}" for name, value in registers.items()]
    alone, below = classifier.classify_text(failure), classifier.classify_text("\n".join([*table, failure]))
    assert alone is not None
    assert below is not None
    assert (below.pattern, below.primary, below.line) == (alone.pattern, failure, 5)


def test_a_progress_bar_moves_no_line(classifier: TextClassifier) -> None:
    lines = [
        "\rERROR: the thing over there did not do what it is ought to do today",
        "which is a nuisance",
        "ERROR: giving up",
    ]
    verdict = classifier.classify_text("\n".join(lines))
    assert verdict is not None
    assert {verdict.line, *(other.line for other in verdict.runners_up)} == {1, 3}
