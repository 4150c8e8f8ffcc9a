"""Error lines: which lines count, for any tool, and what is kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.capture.simulations.noise import MOST, ErrorLines, error_lines, errors_in
from pytest_dvwiki.logtext.logs import LogText
from pytest_dvwiki.patterns.matcher import Matcher
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.patterns.schema import Pattern

if TYPE_CHECKING:
    from pytest_dvwiki.model import Interest

MATCHER = Matcher(load_registry())


def test_an_excerpt_has_the_same_messages_as_the_whole_log() -> None:
    lines = (
        "     0.00ns INFO     cocotb.regression     running fills (1/2)",
        "# ** Error: q reached 3",
        "#    Time: 25 ns  Scope: tb.dut File: dut.sv Line: 25",
        "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] lost 7 packets",
        "UVM_ERROR sb.sv(210) @ 1300: uvm_test_top.env.sb [SCBD] lost 8 packets",
    )
    log = found("\n".join(lines) + "\n")
    numbered = [(number, line) for number, line in enumerate(lines, 11)]
    messages = list(errors_in(numbered))
    assert [numbers for _, numbers in messages] == [[12, 13], [14], [15]]
    assert tuple(dict.fromkeys(text for text, _ in messages)) == log.masked
    assert len(log.masked) == 2
    assert list(errors_in(numbered[2:3])) == []


def found(text: str, interest: Interest = MATCHER) -> ErrorLines:
    return error_lines(LogText(source="log", text=text), interest)


@pytest.mark.parametrize(
    "line",
    [
        "UVM_ERROR sb.sv(210) @ 1250: uvm_test_top.env.sb [SCBD] lost a packet",
        "# UVM_FATAL @ 0: reporter [NOCFG] no configuration",
        "2026-11-21T20:27:30.123Z UVM_ERROR @ 7: reporter [X] y",
        "   125.00ns ERROR    ..cts/bench/uvm_bench.py(40) [uvm_test_top.env.sb]: lost a packet",
        "    -.--ns CRITICAL cocotb.tb                          lost a packet",
        "ERROR: rtl/dut.sv:25: q reached 3",
        "[50000] %Error: dut.sv:25: Assertion failed in dut: q reached 3",
        "rtl/dff.vhd:5:20:@25ns:(assertion error): q reached 3",
        "# ** Error: q reached 3\n#    Time: 25 ns  Scope: tb.dut File: dut.sv Line: 25",
        "** Error: 25ns+0: Assertion Error: q reached 3",
        'Error: "dut.sv", 25: tb.dut: at time 25 ns\nq reached 3',
        "xmsim: *E,ASRTST (./tb.sv,40): (time 120 NS) Assertion tb.a_ack has failed",
        "# EXECUTION:: ERROR  : q reached 3",
        "Error: q reached 3\nTime: 25 ns  Iteration: 0  Process: /tb/dut  Scope: tb  File: dut.sv Line: 25",
    ],
)
def test_every_tool_s_error_line_is_one(line: str) -> None:
    errors = found(f"before\n{line}\nafter\n")
    assert errors.count == 1
    assert errors.lines[0] == (2, line.partition("\n")[0])
    assert "after" not in errors.text


@pytest.mark.parametrize(
    "line",
    [
        "UVM_ERROR :    0",
        "UVM_FATAL :    0",
        "# UVM_ERROR : 3",  # a count is evident from the lines that it counts
        "# Errors: 0, Warnings: 0",
        "Error: see the manual",
        "    20.00ns INFO     cocotb.dut       no ERROR: here",
        "ERROR    root:test_x.py:12 a log line of pytest",
        "** TESTS=4 PASS=4 FAIL=0 SKIP=0",
        "E   AssertionError: assert 1 == 2",
        "%Warning-WIDTH: dut.sv:3: 8 bits",
        "UVM_INFO sb.sv(2) @ 5: reporter [X] UVM_ERROR is what we wait for",
        "timeout set to 10 us",
    ],
)
def test_what_only_mentions_an_error_is_none(line: str) -> None:
    assert found(f"{line}\n") == ErrorLines()


@pytest.mark.parametrize("line", ["ERROR: rtl/dut.sv:25: q reached 3", "    20.00ns ERROR    tb    q reached 3"])
def test_what_the_pytest_inside_a_simulator_prints_of_its_progress_hides_none(line: str) -> None:
    errors = found(f".xFF{line}\n")
    assert errors.count == 1
    assert errors.lines == ((1, line),)


def test_a_benign_pattern_takes_a_line_for_good() -> None:
    own = Pattern(id="own.soft", tier="benign", match=("q reached",), description="Meant to be there.")
    line = "ERROR: rtl/dut.sv:25: q reached 3\n"
    assert found(line).count == 1
    assert found(line, Matcher(load_registry([own]))).count == 0


def test_the_first_few_are_kept_and_all_are_counted() -> None:
    errors = found("".join(f"ERROR: dut.sv:{n}: q\n" for n in range(1, 101)))
    assert errors.count == 100
    assert [number for number, _ in errors.lines] == [1, 2, 3]
    assert errors.text == "ERROR: dut.sv:1: q"


def test_a_flood_stops_being_counted_and_one_huge_line_is_cut() -> None:
    assert found("ERROR: dut.sv:1: q\n" * (MOST + 10)).count == MOST
    huge = found(f"ERROR: dut.sv:1: {'x' * 1_000_000}\n")
    assert huge.count == 1
    assert sum(len(line) for _, line in huge.lines) + len(huge.text) < 10_000


def test_what_is_kept_is_redacted() -> None:
    errors = found("ERROR: dut.sv:1: fetched https://me:hunter22@example.com/x\n")
    assert "hunter22" not in errors.text + errors.lines[0][1]


def test_nothing_is_asked_of_the_registry_where_no_line_may_be_one() -> None:
    never: Any = object()
    assert found("all is well\n" * 1000, never).count == 0
