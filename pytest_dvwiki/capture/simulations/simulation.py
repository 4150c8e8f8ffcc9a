"""Conversion of one cocotb simulation into a Failure per failing test and a Result per test.

The results file says which tests failed, and with which error. The log shows what led to it, which test was running
when the simulation ended and, if there is no results file, how the tests before it ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki.capture.simulations.failures_of_items import (
    build_failed,
    build_failure,
    is_unexplained,
    item_failure,
    refused_item,
)
from pytest_dvwiki.capture.simulations.failures_of_tests import failure_of, refused_test
from pytest_dvwiki.capture.simulations.noise import NO_ERRORS
from pytest_dvwiki.capture.simulations.simulation_run import SimulationRun
from pytest_dvwiki.model import Axes, Failure, Result, Simulator

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_dvwiki.capture.simulations.builds import Builds, Setup
    from pytest_dvwiki.capture.simulations.cocotb_tests import CocotbTest
    from pytest_dvwiki.capture.simulations.noise import ErrorLines
    from pytest_dvwiki.capture.simulations.regression import Regression
    from pytest_dvwiki.capture.simulations.reproduce import Call
    from pytest_dvwiki.logtext.logs import LogText
    from pytest_dvwiki.model import Interest, Phase


class Simulation(Struct, frozen=True, kw_only=True):
    """One run of a simulator by a pytest item, or the build before it."""

    nodeid: str
    """Node id of the pytest item that ran the simulator."""
    root: Path
    """Folder that paths are shown relative to."""
    results: Path | None = None
    """Results file that the run should write; it may not exist."""
    logs: tuple[LogText, ...] = ()
    """Texts of the run, in any order and however divided: captured streams, a log file, a spool."""
    regression: Regression | None = None
    """This run in a log that the caller has already read; `logs` are then not read."""
    after_others: bool = False
    """Whether the item ran other simulations before this one; the logs begin with their output."""
    status: int | None = None
    """Exit status of the simulator, negative for a signal; if None, it is read from `error`."""
    started: float | None = None
    """Start of the item, seconds since the epoch; an older results file belongs to another run."""
    phase: Phase = "call"
    error: str = ""
    """Exception that ended the item, such as 'SystemExit: 1'; empty if the item passed."""
    longrepr: str = ""
    """pytest's own report of the item's failure."""
    cut_short: bool = False
    """Whether the process that ran the item was killed before the item ended."""
    strict_logs: bool = False
    """Whether error lines in the log make a passed test fail."""
    failed: bool = False
    """Whether the simulation counts as failed although the caller saw neither exit status nor exception."""
    simulator: str | None = None
    """Name of the simulator if the caller knows it: 'icarus', or its program."""
    modules: tuple[str, ...] = ()
    """Names of the test modules, if known (COCOTB_TEST_MODULES)."""
    cocotb: str | None = None
    """Version of cocotb that the run's variables show; the log and the results file may show another version."""
    seed: str | None = None
    setup: Setup | None = None
    """Design that the simulation ran, if the caller saw the calls of the tools; otherwise the log may show one."""
    builds: Builds | None = None
    """Builds before the simulation, for a log that shows only the run."""
    folder: Path | None = None
    """Folder in which the commands that the log shows were started."""
    files: tuple[str, ...] = ()
    """Absolute paths of the files that ran the simulation: the item's own file, or the Makefile."""
    duration_s: float = 0.0
    interest: Interest | None = None
    call: Call | None = None
    """Call that ran the item; if None, the failures have no command."""


class SimulationOutcome(Struct, frozen=True, kw_only=True):
    """The result of one simulation; the `Evidence` for a test joins the outcomes of all its simulations.

    If `failures` is empty, a failure of the item is not due to the simulation.
    """

    failures: tuple[Failure, ...] = ()
    results: tuple[Result, ...] = ()
    """One result for each cocotb test that ended, including failed tests; none for the item itself."""
    simulator: Simulator | None = None
    config: str | None = None
    axes: Axes = field(default_factory=Axes)
    """Versions of Python and cocotb in the simulation's log."""
    reads: tuple[str, ...] = ()
    """Files that the simulation read; empty unless the simulation failed."""
    noise_errors: int = 0
    """Number of error lines of tests that passed; if there are no tests, of the item."""
    refused: tuple[Failure, ...] = ()
    """With strict logs, failures of the tests that passed with error lines; not in `failures`."""
    is_one_of_several: bool = False
    """Whether the simulation's logs also hold tests of other simulations, or a build that failed."""


def collect(sim: Simulation) -> SimulationOutcome:
    """Return the failures of a simulation with their evidence, and the results of its tests.

    Memory does not grow with the size of the log. A log that cannot be opened counts as missing, and a results file
    that cannot be read counts as not written.
    """
    return _outcome(SimulationRun(sim))


def _outcome(run: SimulationRun) -> SimulationOutcome:
    failures = [failure_of(run, test) for test in run.tests if test.failed]
    if build_failed(run):
        failures.append(build_failure(run))
    elif is_unexplained(run):
        failures.append(item_failure(run))
    errors = {} if failures and not run.tests else _errors(run)
    refused = _refused(run, errors) if run.sim.strict_logs else {}
    return SimulationOutcome(
        failures=tuple(failures),
        results=tuple(_result_of(run, test, errors, refused) for test in run.tests),
        simulator=run.simulator,
        config=run.setup.config,
        axes=Axes(python=run.main.python, cocotb=run.main.cocotb),
        reads=run.reads if failures or run.sim.error else (),
        noise_errors=sum(each.count for each in errors.values()),
        refused=tuple(replace(each, by_strict_logs=True) for each in refused.values()),
        is_one_of_several=run.is_one_of_several,
    )


def _result_of(
    run: SimulationRun, test: CocotbTest, errors: Mapping[str, ErrorLines], refused: Mapping[str, Failure]
) -> Result:
    strictly = test.name in refused
    return Result(
        nodeid=run.nodeid_of(test),
        outcome="failed" if strictly else test.outcome,
        duration_s=test.duration_s,
        seed=run.seed_of(test),
        noise_errors=errors[test.name].count if test.name in errors and not strictly else 0,
        simulator=run.simulator.name if run.simulator is not None else None,
        config=run.setup.config,
    )


def _errors(run: SimulationRun) -> dict[str, ErrorLines]:
    """Return a map from each test that passed to its error lines, if any; if there are no tests, the key is empty.

    Error lines outside the tests, as at time 0 or from a final block, count for the last test that passed.
    """
    outside = next((one.errors for one in (run.main, *run.sides) if one.errors.count), NO_ERRORS)
    passed = [test for test in run.tests if test.outcome == "passed"]
    errors = {test.name: test.block.errors if test.block is not None else NO_ERRORS for test in passed}
    last = passed[-1].name if passed else ""
    if passed or not run.tests:
        errors[last] = errors.get(last, NO_ERRORS) + outside
    return {name: found for name, found in errors.items() if found.count}


def _refused(run: SimulationRun, errors: Mapping[str, ErrorLines]) -> dict[str, Failure]:
    tests = {test.name: test for test in run.tests if test.block is None or not test.block.expected_to_fail}
    if not run.tests:
        return {name: refused_item(run, found) for name, found in errors.items()}
    return {name: refused_test(run, tests[name], found) for name, found in errors.items() if name in tests}
