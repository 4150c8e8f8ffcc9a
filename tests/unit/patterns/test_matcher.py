"""Finding messages in text: joined lines, prefixes of transports, huge texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.patterns.kinds import ENOUGH
from pytest_dvwiki.patterns.matcher import MOST_TOGETHER, Matcher
from pytest_dvwiki.patterns.registry import load_registry

from ..effort import takes_at_most

if TYPE_CHECKING:
    from collections.abc import Callable

MATCHER = Matcher(load_registry())
PART = 1 << 18
SYNTAX = "dut.sv:16: syntax error"
DEEP = " " * 56


def ids(text: str) -> list[str]:
    return [hit.pattern.id for hit in MATCHER.hits(text)]


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "# ",
        "> ",
        ">> ",
        "2026-11-21T20:27:30.123Z ",
        "[2026-11-21T20:27:30Z] ",
        "12:01:02 ",
        "\x1b[31m",
        "#12 3.456 ",
        "ERROR    cocotb:simulator.py:270 ",
        "ERROR cocotb: ",
        "[gw1] ",
        "2026-11-21T20:27:30Z > # ",
    ],
)
def test_what_a_transport_puts_in_front_is_taken_off(prefix: str) -> None:
    (hit,) = MATCHER.hits(f"{prefix}{SYNTAX}\r\n")
    assert hit.text == SYNTAX


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "FATAL: dut.sv:20: overflow\n       Time: 55000 Scope: dut\n",
            "FATAL: dut.sv:20: overflow Time: 55000 Scope: dut",
        ),
        (
            "Error-[IND] Identifier not declared\ndut.sv, 9\n  Identifier 'q' has not been declared yet.\n\n",
            "Error-[IND] Identifier not declared dut.sv, 9 Identifier 'q' has not been declared yet.",
        ),
        (
            "# ** Error: Assertion error.\n#    Time: 5 ns Started: 5 ns  Scope: tb.a\n",
            "** Error: Assertion error. Time: 5 ns Started: 5 ns Scope: tb.a",
        ),
        (
            "UVM_ERROR sb.sv(2) @ 5: top.sb [SB] mismatch\n  expected 3\n  got 4\nnext\n",
            "UVM_ERROR sb.sv(2) @ 5: top.sb [SB] mismatch expected 3 got 4",
        ),
        (
            "E       AssertionError: wrong\nE       assert 3 == 4\nE        +  where 3 = f()\n",
            "AssertionError: wrong assert 3 == 4",
        ),
        (
            (
                "   1.00ns WARNING  cocotb.regression                  m.t failed\n"
                f"{DEEP}AssertionError: mismatch\n{DEEP}  expected 3\n"
            ),
            "AssertionError: mismatch expected 3",
        ),
    ],
)
def test_a_message_over_several_lines_is_one(text: str, message: str) -> None:
    assert message in [hit.text for hit in MATCHER.hits(text)]


def test_a_traceback_under_a_line_that_passed_is_no_failure() -> None:
    block = "\n".join(
        " " * 56 + line
        for line in ["Traceback (most recent call last):", *["  frame"] * 50, "AssertionError: expected 1 got 2"]
    )
    head = "  90.00ns INFO     cocotb.regression         m.t passed: failed as expected (result was AssertionError)"
    assert ids(f"{head}\n{block}\n") == []
    assert "python.assert_compared" in ids(f"{head.replace('passed: failed as expected', 'failed')}\n{block}\n")


def test_a_warning_counts_only_where_the_tool_raised_it() -> None:
    warning = "%Warning-WIDTHTRUNC: dut.sv:15:12: Operator ASSIGN expects 4 bits\n"
    assert ids(warning) == []
    assert ids(f"{warning}%Error: Exiting due to 1 warning(s)\n")[0] == "verilator.raised_width"


def test_offsets_are_those_of_the_lines_in_ascending_order() -> None:
    text = f"İ quiet\nfirst\n{SYNTAX}\n\n{'x' * PART}\nFATAL: dut.sv:1: a\n       Time: 1 Scope: d\nend"
    found = list(MATCHER.find(text))
    assert [text[offset:].split("\n", maxsplit=1)[0] for offset, _ in found] == [SYNTAX, "FATAL: dut.sv:1: a"]
    assert [tier for _, tier in found] == ["cause", "cause"]


def test_the_same_lines_are_found_wherever_a_text_is_cut_into_parts() -> None:
    for shift in range(0, 60, 7):
        text = "q" * (PART - shift) + f"\n{SYNTAX}\n" + "ok line\n" * 10
        assert len(list(MATCHER.find(text))) == 1


def test_time_grows_with_the_text_alone() -> None:
    """Bounds are generous: only quadratic time fails the test."""

    def reading(text: str) -> Callable[[], object]:
        return lambda: list(MATCHER.find(text))

    line = "UVM_INFO drv.sv(3) @ 100: uvm_test_top.env.drv [DRV] sent packet 12 of 40 \n"
    small, large = line * 5_000, line * 20_000
    assert takes_at_most(12, reading(small), reading(large))
    assert takes_at_most(12, reading(large), reading(large.replace("\n", " ")))
    assert takes_at_most(12, reading("error " * 25_000), reading("error " * 100_000))


FLOODS: dict[str, Callable[[int], str]] = {
    "identical": lambda _: "UVM_INFO drv.sv(3) @ 100: uvm_test_top.env.drv [DRV] error response is ignored",
    "counting": lambda n: f"UVM_INFO drv.sv(3) @ {n}: uvm_test_top.env.drv [DRV] error injection {n} read",
    "comparing": lambda n: f"READ  addr=0x{n:x} exp=0x{n % 251:x} act=0x{n % 251:x}",
}


@pytest.mark.parametrize("line", FLOODS.values(), ids=FLOODS)
def test_a_flood_of_lines_that_come_to_nothing_hides_no_failure(line: Callable[[int], str]) -> None:
    lines = [line(number) for number in range(1, 3000)]
    lines[2000:2000] = ["READ  addr=0x7d0 exp=0x5 act=0x6", "UVM_ERROR sb.sv(2) @ 9: top.sb [SB] expected 3 got 4"]
    text = "\n".join(lines)
    found = [text.count("\n", 0, offset) for offset, _ in Matcher(MATCHER.registry).find(text)]
    assert found == [2000, 2001]


@pytest.mark.parametrize("line", FLOODS.values(), ids=FLOODS)
def test_lines_with_common_words_are_not_decided_again_and_again(line: Callable[[int], str]) -> None:
    """Measures a ratio: deciding on each line would take some fifty times a line without such words."""

    flood = "\n".join(line(number) for number in range(1, 20_000))
    first = "\n".join(line(number) for number in range(1, 2 * MOST_TOGETHER))
    matcher = Matcher(MATCHER.registry)
    assert takes_at_most(20, lambda: list(matcher.find(first)), lambda: list(matcher.find(flood)))


def test_of_a_flood_of_failures_a_search_gives_some_and_a_reading_all() -> None:
    text = "".join(f"dut.sv:{number}: syntax error\n" for number in range(1, 1000))
    assert ENOUGH <= len(list(MATCHER.find(text))) < 300
    assert len(MATCHER.hits(text)) == 999


def test_candidates_that_stand_close_are_found_once_each() -> None:
    lines = [SYNTAX, "FATAL: dut.sv:1: a", "       Time: 1 Scope: d"] * MOST_TOGETHER
    hits = MATCHER.hits("\n".join(lines))
    assert [hit.line for hit in hits] == [n for n in range(1, len(lines) + 1) if n % 3]


def test_a_text_that_begins_in_the_middle_of_an_explanation_is_read() -> None:
    assert ids("E        +  where 3 = error()\nE        +  and 4 = f()") == []
