"""Tests that the checks of the table can fail: each names the error in a record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from .harness import Cause, FailedTest, Record
from .outcomes import Cell, cells

ITEM = "test_runner.py::test_fatal"


def failed(name: str, phase: str = "call") -> FailedTest:
    return FailedTest(
        nodeid=f"{ITEM}{name}", phase=phase, outcome="failed", seed="1", sim_time="57 ns", simulator="icarus"
    )


def cause(**changes: object) -> Cause:
    values = {
        "fingerprint": "9b1f03c2a7d4",
        "label": "sim_error/assertion_fail",
        "primary": "FATAL: rtl/dut.sv:22: FIFO overflow detected, fill 1",
        "tests": (failed("::in_flight"), failed("::not_started")),
        "excerpt": "",
        "command": None,
        "unreproducible": "",
    }
    return Cause(**(values | changes))  # type: ignore[arg-type]  # values of the fields above


def record(*causes: Cause) -> Record:
    return Record(path=Path("record.yaml"), task_id="", finished="", suites=(), totals={}, causes=causes, text="")


@pytest.fixture
def fatal() -> Cell:
    """Return the row of $fatal in the runner's session."""
    return next(cell for cell in cells() if (cell.row, cell.session.name) == ("fatal", "runner"))


def test_what_the_contract_says_passes(fatal: Cell) -> None:
    assert fatal.complaints(record(cause())) == []


@pytest.mark.parametrize(
    ("causes", "complaint"),
    [
        ((), "0 causes, not 1"),
        ((cause(), cause(fingerprint="77aa01d4c0de")), "2 causes, not 1"),
        ((cause(label="sim_error/timeout"),), "label sim_error/timeout, not"),
        ((cause(primary="SystemExit: 1"),), "first cause 'SystemExit: 1', without"),
        ((cause(tests=(failed("::in_flight"), failed("::before"))),), "tests of other causes"),
        ((cause(tests=(failed("::in_flight"), failed(""))),), "tests of other causes"),
        ((cause(tests=(failed("::in_flight"),) * 2),), "a test is counted twice"),
        ((cause(tests=(failed("::not_started"),)),), "0 causes, not 1"),
    ],
)
def test_what_is_wrong_is_named(fatal: Cell, causes: tuple[Cause, ...], complaint: str) -> None:
    complaints = fatal.complaints(record(*causes))
    assert len(complaints) == 1
    assert complaint in complaints[0]


def test_a_test_that_is_lost_from_a_shared_cause_is_named() -> None:
    row = next(cell for cell in cells() if (cell.row, cell.session.name) == ("missing_timescale", "runner"))
    item = "test_runner.py::test_untimed"
    one = replace(failed(""), nodeid=f"{item}::waits_again")
    found = cause(label="sim_error/missing_timescale", primary="Unable to accurately represent", tests=(one,))
    assert row.complaints(record(found)) == [f"tests lost: [('{item}', 'waits_for_ten')]"]


def test_a_phase_that_is_wrong_is_named() -> None:
    row = next(cell for cell in cells() if (cell.row, cell.session.name) == ("fixture_setup", "runner"))
    one = replace(failed(""), nodeid="test_runner.py::test_fixture_setup")
    found = cause(label="python_error/fixture_error", primary="OSError: vectors.hex cannot be read", tests=(one,))
    assert row.complaints(record(found)) == ["phase {'call'}, not setup"]
