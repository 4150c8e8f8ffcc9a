"""Sentences of the capture are distinguished from the output of tools."""

from __future__ import annotations

import pytest

from pytest_dvwiki.model.sentences import is_own, reported_end

OWN = [
    "the simulator was killed by signal 9 (SIGKILL) while running test_fifo.overflow, last logged time 1250 ns",
    "the simulator was killed by signal 9 (SIGKILL), last logged time 40 ns",
    "no results: simulator vvp ended with status 1 while running t",
    "run was killed while running tests/test_fifo.py::test_fifo, last logged time 3 ns",
    "simulation ended before test_fifo.overflow was done, which began at 0 ns",
    "Timeout (>6.0s) from pytest-timeout while running overflow, last logged time 55 ns",
    "no results file was written",
    "rtl/top.vhd:9:3: no entity was compiled for component ctrl",
]


@pytest.mark.parametrize("sentence", OWN)
def test_a_sentence_of_the_capture_is_its_own(sentence: str) -> None:
    assert is_own(sentence)


@pytest.mark.parametrize(
    "message",
    [
        "Failed: Timeout (>6.0s) from pytest-timeout.",
        "make: *** [Makefile:61: results.xml] Killed",
        "%Error: tb.sv:24: Verilog $stop",
        "AssertionError: run was killed",
    ],
)
def test_what_a_tool_wrote_is_not(message: str) -> None:
    assert not is_own(message)


def test_test_and_time_are_no_part_of_what_happened() -> None:
    ends = {
        reported_end(f"the simulator was killed by signal 9 (SIGKILL){where}")
        for where in ("", " while running a, last logged time 4 ns", ", last logged time 7.5 us", " at 3 ns")
    }
    assert ends == {"the simulator was killed by signal 9 (SIGKILL)"}
