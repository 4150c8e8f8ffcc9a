"""Tracebacks: which exception of a chain counts, and which frame is the user's."""

from __future__ import annotations

import pytest

from pytest_dvwiki.logtext.tracebacks import chains, cut_off

SITE = "/v/lib/python3.11/site-packages"


def trace(*frames: tuple[str, str, str], exception: str, indent: int = 0) -> str:
    lines = ["Traceback (most recent call last):"]
    for file, function, source in frames:
        lines += [f'  File "{file}", line 7, in {function}', f"    {source}", "    ~~~~^^^^"]
    return "\n".join(" " * indent + line for line in [*lines, exception])


@pytest.mark.parametrize("indent", [0, 56])
def test_the_innermost_frame_outside_of_libraries_is_the_users(indent: int) -> None:
    text = trace(
        ("/w/test_a.py", "test_a", "await drive(dut)"),
        ("/w/tb/driver.py", "drive", "check(dut.q)"),
        (f"{SITE}/cocotb/handle.py", "value", "raise ValueError()"),
        exception="cocotb.result.TestFailure: no",
        indent=indent,
    )
    (chain,) = chains(text.split("\n"))
    frame = chain.cause.frame
    assert frame is not None
    assert (frame.file, frame.function, frame.line, frame.source) == ("/w/tb/driver.py", "drive", 7, "check(dut.q)")
    assert (chain.cause.type, chain.cause.text) == ("TestFailure", "no")


def test_the_named_cause_counts_and_else_the_last() -> None:
    first = trace(("/w/a.py", "f", "g()"), exception="KeyError: 'k'")
    second = trace(("/w/a.py", "f", "h()"), exception="RuntimeError: r")
    direct = "\n\nThe above exception was the direct cause of the following exception:\n\n"
    during = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    assert [c.cause.type for c in chains((first + direct + second).split("\n"))] == ["KeyError"]
    assert [c.cause.type for c in chains((first + during + second).split("\n"))] == ["RuntimeError"]
    assert [c.cause.type for c in chains((first + "\nlog\n" + second).split("\n"))] == ["KeyError", "RuntimeError"]
    third = trace(("/w/a.py", "f", "i()"), exception="OSError: o")
    assert [c.cause.type for c in chains((first + during + second + direct + third).split("\n"))] == ["RuntimeError"]


@pytest.mark.parametrize("indent", [0, 56])
def test_a_traceback_without_its_beginning_still_names_its_exception(indent: int) -> None:
    whole = trace(
        ("/w/tb.py", "read", "return int(bits)"),
        ("/w/bits.py", "__int__", 'raise ValueError("no number: %s" % bits)'),
        exception="ValueError: no number: zz1",
        indent=indent,
    )
    lines = whole.split("\n")[2:]
    (chain,) = chains(lines)
    assert (chain.cause.text, chain.cause.head, chain.cause.line) == ("no number: zz1", 2, 5)


@pytest.mark.parametrize(
    "text", ["Traceback (most recent call last):", 'Traceback (most recent call last):\n  File "a.py", line 1, in f']
)
def test_a_traceback_that_was_cut_off_is_left_out(text: str) -> None:
    assert chains(text.split("\n")) == []


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("assert q == model(a), 'wrap'", "AssertionError: assert q == model(a), 'wrap'"),
        ("raise ValueError('no such mode')", "ValueError: no such mode"),
        ('raise bus.BusError(f"{self} is busy', "BusError: {self} is busy"),
        ("raise StopSimulation", "StopSimulation: raise StopSimulation"),
        ("await run(dut)", None),
    ],
)
def test_the_statement_of_its_last_frame_tells_what_a_cut_off_traceback_raised(
    statement: str, told: str | None
) -> None:
    text = f'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    {statement}'
    assert cut_off(text.split("\n"), 0) == told
