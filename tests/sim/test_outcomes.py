"""Every kind of failure has the specified result, in every flow and capture mode that can show it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from .harness import Archive, missing
from .outcomes import Cell, Session, cells, run_once, sessions, table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from _pytest.mark.structures import ParameterSet

    from .harness import Call, Record

pytestmark = pytest.mark.sim


LEFT_OUT = (
    "ghdl_",
    "verilator",
    "cocotb_test_",
    *(f"runner_{name}" for name in ("crash", "interrupted", "killed", "reruns", "thread", "timeout")),
)
"""Slow sessions with the same results as others on Icarus; only `make outcomes` runs them."""
NOT_COMPARED = ("verilator", "ghdl", "cocotb_test", "native_timeout", "runner_timeout")
"""Slow sessions that are not run a second time without the plugin."""
COMPARED = ("native_reruns-", "plain_crash-")
"""Sessions that `make test` runs a second time without the plugin; `make outcomes` runs others, too."""


def marks(session: Session, mode: str) -> list[pytest.MarkDecorator]:
    """Return the marks that leave slow sessions, and all modes but the first of a session, to `make outcomes`."""
    is_left_out = session.name.startswith(LEFT_OUT) or mode != session.modes[0]
    return [pytest.mark.further_mode] if is_left_out else []


RUNS = [
    pytest.param(session, mode, id=f"{session.name}-{mode}", marks=marks(session, mode))
    for session in sessions().values()
    for mode in session.modes
]


def is_run_again(run: ParameterSet) -> bool:
    """Return whether `make test` checks the exit status; if not, that takes a second run of a slow session."""
    session = run.values[0]
    assert isinstance(session, Session)
    alone = session.status is not None or bool(session.then) or not session.is_pytest
    return alone or str(run.id).startswith(COMPARED)


CELLS = [
    pytest.param(cell, mode, id=f"{cell.session.name}-{mode}-{cell.row}", marks=marks(cell.session, mode))
    for cell in cells()
    for mode in cell.session.modes
]
DETAILED = ("runner", "runner_timeout", "native", "cocotb_test", "make", "verilator", "ghdl")
"""Sessions whose pytest saw the results of its cocotb tests."""
SIM_TIME = re.compile(r"^\d+(\.\d+)? (fs|ps|ns|us|ms|s|sec|step)$")


def ran(shared: Path, session: Session, mode: str, *, plugin: bool = True) -> Call:
    """Return the session's call; skip the test if the simulator is missing."""
    reason = missing(session.simulator)
    if reason:
        pytest.skip(reason)
    if session.flow == "C":
        pytest.importorskip("cocotb_test")
    return run_once(shared, session, mode, plugin=plugin)


def record_of(call: Call) -> Record:
    archive = Archive(call.folder / ".agent")
    assert len(archive.records) == 1, f"{len(archive.records)} records after\n{call.output}"
    return archive.record


@pytest.mark.parametrize(("cell", "mode"), CELLS)
def test_cell(shared: Path, cell: Cell, mode: str) -> None:
    record = record_of(ran(shared, cell.session, mode))
    complaints = cell.complaints(record)
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(("session", "mode"), RUNS)
def test_no_cause_without_a_row(shared: Path, session: Session, mode: str) -> None:
    record = record_of(ran(shared, session, mode))
    own = [cell for cell in cells() if cell.session == session]
    stray = [
        (cause.label, cause.primary, [test.nodeid for test in cause.tests])
        for cause in record.causes
        if not any(cause in cell.causes_in(record) for cell in own)
    ]
    assert not stray


@pytest.mark.parametrize(("session", "mode"), RUNS)
def test_totals(shared: Path, session: Session, mode: str) -> None:
    record = record_of(ran(shared, session, mode))
    failing = {test.nodeid for cause in record.causes for test in cause.tests}
    assert record.totals["failed"] + record.totals["errors"] == len(failing)
    assert record.totals["noise_errors"] >= session.noise
    assert record.totals["flaky"] == session.flaky
    if session.passed is not None:
        assert record.totals["passed"] == session.passed


@pytest.mark.parametrize(
    ("session", "mode"),
    [
        pytest.param(*run.values, id=run.id, marks=run.marks if is_run_again(run) else [pytest.mark.further_mode])
        for run in RUNS
        if not str(run.id).startswith(NOT_COMPARED)
    ],
)
def test_exit_status_is_that_of_the_tests(shared: Path, session: Session, mode: str) -> None:
    call = ran(shared, session, mode)
    if session.status is not None or session.then or not session.is_pytest:
        assert call.status == (session.status or 0)
        return
    without = ran(shared, session, mode if session.without_each else session.modes[0], plugin=False)
    assert (call.status, call.tally) == (without.status, without.tally)


@pytest.mark.parametrize(("session", "mode"), RUNS)
def test_all_modes_give_the_same_causes(shared: Path, session: Session, mode: str) -> None:
    first = record_of(ran(shared, session, session.modes[0]))
    other = record_of(ran(shared, session, mode))
    assert other.identities == first.identities


@pytest.mark.parametrize(
    ("session", "mode"),
    [run for run in RUNS if run.id in {f"{name}-default" for name in DETAILED}],
)
def test_a_cocotb_test_is_told_with_seed_time_and_simulator(shared: Path, session: Session, mode: str) -> None:
    record = record_of(ran(shared, session, mode))
    inside = [
        test
        for cell in cells()
        if cell.session == session and any(name for _, name in cell.tests)
        for cause in cell.causes_in(record)
        for test in cause.tests
        if test.phase == "call" and cell.is_own(test.nodeid)
    ]
    assert inside
    bare = [
        test
        for test in inside
        if not (test.seed and SIM_TIME.match(test.sim_time or "") and test.simulator == session.simulator)
    ]
    assert not bare


PLACES = ("R", "N", "C", "M", "verilator", "ghdl")
"""Return the flows, all on Icarus, and the other simulators."""


def places(row: Mapping[str, Any]) -> set[str]:
    """Return the flows and simulators that cover a row."""
    shown = {sessions()[name] for name in row["shown"]}
    return {session.flow for session in shown if session.simulator == "icarus"} | {
        session.simulator for session in shown if session.simulator
    }


def test_every_row_is_shown_on_every_flow_and_simulator_or_says_why() -> None:
    simulated = [row for row in table()["rows"] if places(row)]
    silent = [
        (row["id"], place)
        for row in simulated
        for place in PLACES
        if (place in places(row)) == (place in row.get("cannot", {}))
    ]
    assert not silent


def test_every_session_runs_in_every_mode_or_says_why() -> None:
    """Icarus covers all modes; the other simulators are tested for their messages, not for the capture."""
    reasons = table()["no_modes"]
    silent = [
        (name, mode)
        for name in ("runner", "native", "cocotb_test", "plain")
        for mode in table()["modes"]
        if (mode in sessions()[name].modes) == (mode in reasons.get(sessions()[name].flow, {}))
    ]
    assert not silent
