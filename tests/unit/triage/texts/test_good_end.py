"""A message of success overrides weak evidence of a failure, and nothing else."""

from __future__ import annotations

import pytest

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts.reading import TextClassifier

CLASSIFIER = TextClassifier(load_registry())
WORDS = "TIMEOUT ERROR OCCURRED"
LICENCE = "Unable to checkout a license for the code coverage viewer"
GOOD_TEST = "# UVM_ERROR :    0\n# UVM_FATAL :    0"
GOOD_RUN = "# Errors: 0, Warnings: 3"
TESTBENCH = "FAIL: 3 of 16 outputs, expected 5 got 6"
PLACED = "Cadence Innovus(TM) Implementation System.\n*** Begin of detailed routing ***"


def is_failure(*parts: str) -> bool:
    return CLASSIFIER.classify_text("\n".join(parts)) is not None


@pytest.mark.parametrize(
    "end",
    [
        GOOD_TEST,
        "** TEST PASSED **",
        "All 12 tests passed",
        "Simulation PASSED!",
        "==== 12 passed in 3.20s ====",
        "** TESTS=12 PASS=11 FAIL=0 SKIP=1    120.00    0.05    2400.00  **",
    ],
)
def test_words_of_no_tool_are_taken_back_by_a_test_that_passed(end: str) -> None:
    assert is_failure(WORDS)
    assert not is_failure(WORDS, end)


@pytest.mark.parametrize("end", [GOOD_TEST, GOOD_RUN, "Normal exit.", "$finish called from file 'tb.sv', line 9."])
def test_a_licence_that_a_run_did_without_is_no_failure(end: str) -> None:
    assert is_failure(LICENCE)
    assert not is_failure(LICENCE, end)


@pytest.mark.parametrize(
    "parts",
    [
        (GOOD_TEST, WORDS),
        (WORDS, GOOD_RUN),
        (WORDS, "UVM_ERROR :    2"),
        (WORDS, "TEST FAILED", GOOD_TEST),
        (WORDS, "test 3 passed"),
        (WORDS, "** TESTS=12 PASS=0 FAIL=0 SKIP=12    120.00    0.05    2400.00  **"),
        (WORDS, "make: *** [Makefile:66: sim] Error 1", GOOD_TEST),
        (LICENCE, WORDS, GOOD_RUN),
        ("ERROR: expected 3c got 3d", GOOD_TEST),
    ],
    ids=[
        "before",
        "of the tool alone",
        "with errors",
        "failed",
        "one of several",
        "skipped",
        "other cause",
        "both",
        "comparison",
    ],
)
def test_it_stays_a_failure(parts: tuple[str, ...]) -> None:
    assert is_failure(*parts)


def test_no_testbench_speaks_in_the_log_of_a_router() -> None:
    assert is_failure(TESTBENCH)
    assert not is_failure(PLACED, TESTBENCH)
    assert is_failure(PLACED, "**ERROR: (IMPSYT-6000): No Object Selected.")
    assert is_failure(PLACED, "vvp sim.vvp", TESTBENCH)


def test_what_configure_finds_missing_is_an_answer() -> None:
    probes = "This file contains any messages produced by compilers while\nrunning configure, to aid debugging."
    missing = "gcc: error: unrecognized command-line option '-V'\ngcc: fatal error: no input files"
    assert is_failure(missing)
    assert not is_failure(probes, missing)
    assert is_failure("make all", probes, missing)
    assert is_failure(probes, missing, "configure:3521: error: C compiler cannot create executables")


def test_a_licence_in_the_place_of_another_is_enough() -> None:
    denied = "License:\n\tinvs\tImplementation System\t15.2\tDenied"
    assert is_failure(denied)
    assert not is_failure(denied, "\tfexl\tEncounter XL\t15.2\tcheckout succeeded")


def test_ghdl_reports_the_assertion_that_ends_a_good_run() -> None:
    stopped = ("ghdl:error: assertion failed", "in process .tb(sim).stimuli", "ghdl:error: simulation failed")
    assert not is_failure("tb.vhd:88:5:@4us:(assertion failure): Simulation finished", *stopped)
    assert is_failure("tb.vhd:88:5:@4us:(assertion failure): queue not empty", *stopped)
    assert is_failure(*stopped)
    assert is_failure("tb.vhd:88:5:@4us:(assertion failure): Simulation finished", "bound check failure", *stopped)
