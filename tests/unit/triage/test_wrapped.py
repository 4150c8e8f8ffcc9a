"""Texts that a mail or a page has broken at its width, and logs whose lines only look so."""

from __future__ import annotations

import pytest

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.classify import Classifier

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


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    return Classifier(load_registry())


@pytest.mark.parametrize(
    ("text", "label", "line"),
    [(MISSING, "elaboration_error/unresolved_reference", 1), (REGISTER, "uvm_error/scoreboard_fail", 2)],
    ids=["a quoted mail", "a page"],
)
def test_a_message_that_says_nothing_in_its_first_line_is_read_to_its_end(
    classifier: Classifier, text: str, label: str, line: int
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
def test_what_stands_below_a_whole_line_is_none_of_it(classifier: Classifier, wide: int, told: str) -> None:
    text = f"INFO: x {'y' * wide}\nUVM_ERROR drv.sv(210) @ 1250: uvm_test_top.env.drv [DRV] {told}\nexpected 3, got 4"
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert verdict.primary.endswith(told)


def test_the_rest_of_a_warning_is_no_failure(classifier: Classifier) -> None:
    warning = (
        "** Warning: (vsim-PLI-3408) Too few data words read on line 13 of file\n"
        '"instr_hex". Expected 1000, found 12. : bench/init_imem.sv(7)\n'
        "   Time: 0 ps  Iteration: 0  Instance: /top_tb"
    )
    assert classifier.classify_text(warning) is None


def test_a_text_that_names_its_cause_is_left_as_it_stands(classifier: Classifier) -> None:
    text = '** Error: (vlog-13069) bench/top_tb.sv(245): near "endmodule": syntax error,\nunexpected endmodule'
    verdict = classifier.classify_text(text)
    assert verdict is not None
    assert verdict.failure_subtype == "syntax_error"
    assert "broken" not in verdict.rule


def test_a_text_that_stays_without_a_name_keeps_its_first_line(classifier: Classifier) -> None:
    first = "Error: the thing over there did not do what it is ought to do today"
    verdict = classifier.classify_text(f"{first}\nwhich is a nuisance")
    assert verdict is not None
    assert verdict.primary == first
