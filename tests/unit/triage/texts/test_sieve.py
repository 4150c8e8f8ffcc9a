"""The kept part of a huge log gives the same verdict as the whole log."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.triage.texts import sieve as sieves
from pytest_dvwiki.triage.texts.choosing import choose_in_text
from pytest_dvwiki.triage.texts.reading import TextClassifier

from ...effort import takes_at_most

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.triage.texts.reading import Reading
    from pytest_dvwiki.triage.texts.sieve import Kept

CLASSIFIER = TextClassifier(load_registry())
QUIET = "UVM_INFO drv.sv(3) @ 100: uvm_test_top.env.drv [DRV] sent packet {} of 40"
ERROR = "UVM_ERROR sb.sv(210) @ {}: uvm_test_top.env.sb [SB] expected 0x{:x} got 0x1{:x}"
BLOCK = 1 << 16
RUNNING = "  {}.00ns INFO     cocotb.regression                  running m.{} ({}/9)"
PASSED = "  {}.00ns INFO     cocotb.regression                  m.{} passed"
FAILED = "  {}.00ns WARNING  cocotb.regression                  m.{} failed"
NOISE = "  {}.00ns ERROR    cocotb.tb                          expected 0x{:x} but got 0x1{:x}"


def quiet(count: int) -> list[str]:
    return [QUIET.format(number) for number in range(count)]


def cut(text: str, size: int = BLOCK) -> Iterator[bytes]:
    data = text.encode()
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + size) + 1 or len(data)
        yield data[start:end]
        start = end


def kept(text: str, size: int = BLOCK) -> Kept:
    sieve = CLASSIFIER.sieve()
    for block in cut(text, size):
        sieve.feed(block)
    return sieve.finish()


def read(lines: list[str], size: int = BLOCK) -> Reading:
    return CLASSIFIER.conclude(kept("\n".join(lines) + "\n", size))


def test_a_small_text_is_kept_whole() -> None:
    assert kept("a\nb\n").lines == ((1, "a"), (2, "b"), (3, ""))
    assert kept("a\nb\n").count == 2


def test_a_huge_passing_text_keeps_its_head() -> None:
    lines = quiet(40_000)
    found = kept("\n".join(lines) + "\n")
    assert found.count == 40_000
    assert [number for number, _ in found.lines[:20]] == list(range(1, 21))
    assert len(found.lines) < 60


@pytest.mark.parametrize("size", [1 << 14, BLOCK, 1 << 20, 1 << 23])
def test_a_failure_has_its_line_wherever_blocks_end(size: int) -> None:
    lines = quiet(60_000)
    for place in (1, 20_000, 20_001, 59_999):
        lines[place] = ERROR.format(place, place, place)
    reading = read(lines, size)
    assert reading.verdict is not None
    assert reading.verdict.line == 2
    (cause,) = reading.causes
    assert (cause.hits, cause.failure_subtype) == (4, "scoreboard_fail")


def test_the_verdict_is_that_of_the_whole_text() -> None:
    lines = quiet(30_000)
    lines[9000:9000] = [
        "Traceback (most recent call last):",
        '  File "/work/tb/env.py", line 12, in check',
        "    self.compare(a, b)",
        "ValueError: no golden value",
        "",
        "The above exception was the direct cause of the following exception:",
        "",
        "Traceback (most recent call last):",
        '  File "/work/tb/env.py", line 20, in run',
        "    self.check()",
        "RuntimeError: comparison failed",
    ]
    lines[20_000:20_000] = ["Error-[IND] Identifier not declared", "dut.sv, 9", "  Identifier 'q' is not declared.", ""]
    numbered = list(enumerate(lines, start=1))
    whole = choose_in_text(numbered, CLASSIFIER.matcher)
    reading = read(lines)
    assert whole is not None
    assert reading.verdict is not None
    assert (reading.verdict.line, reading.verdict.pattern) == (whole.candidate.line, whole.candidate.pattern.id)
    assert reading.verdict.primary.startswith("ValueError: no golden value")
    assert [cause.line for cause in reading.causes] == [9004, 20_001]


def test_messages_are_counted_beyond_those_that_are_kept() -> None:
    lines = quiet(20_000)
    for place in range(100, 20_000, 10):
        lines[place] = ERROR.format(place, place % 7, place % 7)
    (cause,) = read(lines).causes
    assert cause.hits == 1990
    assert len(kept("\n".join(lines)).lines) < 2000


def test_what_a_test_logged_that_passed_is_no_failure() -> None:
    lines = [RUNNING.format(1, "one", 1), *quiet(9000), *[NOISE.format(5, n, n) for n in range(50)], *quiet(9000)]
    lines += [PASSED.format(9, "one"), RUNNING.format(9, "two", 2), *quiet(9000)]
    assert read([*lines, PASSED.format(10, "two")]).verdict is None
    reading = read([*lines, NOISE.format(9, 1, 2), *quiet(100), FAILED.format(10, "two")])
    assert reading.verdict is not None
    assert reading.verdict.line == len(lines) + 1
    assert reading.causes[0].hits == 1


def test_a_summary_without_failures_settles_it() -> None:
    lines = [RUNNING.format(1, "one", 1), *quiet(20_000), NOISE.format(5, 1, 2), *quiet(20_000)]
    assert read(lines).verdict is not None
    assert read([*lines, "** TESTS=1 PASS=1 FAIL=0 SKIP=0   9.00   1.2   8.3  **"]).verdict is None


def test_a_good_end_far_below_takes_words_back() -> None:
    lines = [*quiet(20_000), "Timed out waiting for irq", *quiet(20_000)]
    assert read(lines).verdict is not None
    assert read([*lines, "UVM_ERROR :    0", *quiet(20_000)]).verdict is None
    assert read([*lines, "UVM_ERROR :    0", *quiet(20_000), "Timed out waiting for grant"]).verdict is not None


def test_what_a_message_needs_beside_it_may_stand_far_off() -> None:
    lines = ["%Warning-WIDTHTRUNC: dut.sv:15:12: Operator ASSIGN expects 4 bits", *quiet(30_000)]
    assert read(lines).verdict is None
    reading = read([*lines, "%Error: Exiting due to 1 warning(s)"])
    assert reading.verdict is not None
    assert (reading.verdict.line, reading.verdict.pattern) == (1, "verilator.raised_width")


def test_what_does_not_fit_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sieves, "ROOM", 1 << 12)
    names = [f"{a}{b}" for a in "ghijklmnopq" for b in "rstuvwxyz"]
    lines = quiet(20_000) + [ERROR.format(1, 2, 2).replace("[SB]", f"[{name}]") for name in names]
    reading = read(lines)
    assert reading.left_out > 0
    assert reading.left_out + sum(cause.hits for cause in reading.causes) == len(names)


def test_memory_does_not_follow_the_size() -> None:
    block = ("\n".join([*quiet(5000), ERROR.format(1, 2, 2)]) + "\n").encode()
    sieve = CLASSIFIER.sieve()
    for _ in range(5):
        sieve.feed(block)
    tracemalloc.start()
    for _ in range(40):
        sieve.feed(block)
    sieve.finish()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * len(block)


def test_time_grows_with_the_text_alone() -> None:
    """Bounds are generous: only quadratic time fails the test."""

    small, large = quiet(10_000), quiet(40_000)
    assert takes_at_most(12, lambda: read(small), lambda: read(large))
    flood = [ERROR.format(n, n, n) for n in range(10_000)]
    assert takes_at_most(12, lambda: read(flood), lambda: read(flood * 4))


def test_half_a_message_beside_a_gap_is_no_failure() -> None:
    """The twentieth line is kept as part of the head; the next one, which makes it harmless, is not."""
    lines = [*quiet(19), "** Error: (vsim-1) checks ended with:", "  errors: 0", *quiet(20_000)]
    assert len(kept("\n".join(lines)).lines) < 60
    assert read(lines).verdict is None
