"""Conversion of one cocotb simulation into a Failure per failing test and a Result per test.

The results file lists the failed tests and their errors. The log shows what led to an error, and which test was running
when the simulation ended. Without a results file, the log also gives the verdicts of the tests.
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
from pytest_dvwiki.model import Axes, Command, Failure, Result, Simulator

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
    """Displayed paths are relative to this folder."""
    results: Path | None = None
    """Results file that the run should write; it may not exist."""
    logs: tuple[LogText, ...] = ()
    """Output of the run in any order: captured streams, a log file, a spool."""
    regression: Regression | None = None
    """The run as the caller has already read it from a log; `logs` are then not read."""
    after_others: bool = False
    """Whether the item ran other simulations before this one, so that the logs begin with their output."""
    status: int | None = None
    """Exit status of the simulator, negative for a signal; if None, it is read from `error`."""
    started: float | None = None
    """Start of the item, seconds since the epoch; an older results file is from another run."""
    phase: Phase = "call"
    error: str = ""
    """Exception that ended the item, such as 'SystemExit: 1'; empty if the item passed."""
    longrepr: str = ""
    """pytest's own report of the item's failure."""
    item_failed_later: bool = False
    """Whether the item failed after this simulation, even if the simulation itself succeeded."""
    cut_short: bool = False
    """Whether the process that ran the item was killed before the item ended."""
    strict_logs: bool = False
    """Whether error lines in the log make a passed test fail."""
    failed: bool = False
    """Whether the simulation is known to have failed, even without an exit status or exception."""
    simulator: str | None = None
    """Name of the simulator if the caller knows it: 'icarus', or its program."""
    modules: tuple[str, ...] = ()
    """Names of the test modules, if known (COCOTB_TEST_MODULES)."""
    cocotb: str | None = None
    """Version of cocotb according to the run's variables; a version in the log takes precedence."""
    seed: str | None = None
    setup: Setup | None = None
    """Design that the simulation ran, if the calls of the tools were observed; otherwise it is taken from the log."""
    builds: Builds | None = None
    """Builds before the simulation, in case the log shows only the run."""
    folder: Path | None = None
    """Working directory of the commands in the log."""
    modules_in: tuple[str, ...] = ()
    """Absolute paths of the folders where Python looks for modules, in order, as far as they are known."""
    files: tuple[str, ...] = ()
    """Absolute paths of the files that ran the simulation: the item's own file, or the Makefile."""
    duration_s: float = 0.0
    interest: Interest | None = None
    call: Call | None = None
    """Call that ran the item; None if unknown, so that failures have no command to rerun them."""


class SimulationOutcome(Struct, frozen=True, kw_only=True):
    """The failures and results of one simulation; `Evidence` joins them for all simulations of an item.

    If `failures` is empty, the item did not fail because of the simulation.
    """

    failures: tuple[Failure, ...] = ()
    results: tuple[Result, ...] = ()
    """One result for each cocotb test, but none for the item itself.

    If the user interrupted the simulation, tests that had not ended by then are left out.
    """
    simulator: Simulator | None = None
    config: str | None = None
    seed: str | None = None
    """The seed of the whole simulation; None if unknown, or if the tests had several seeds."""
    command: Command | None = None
    """Command that reruns the item with `seed`; None unless the simulation or its item failed."""
    axes: Axes = field(default_factory=Axes)
    """Versions of Python and cocotb in the simulation's log."""
    reads: tuple[str, ...] = ()
    """Files that the simulation read; empty unless it or its item failed."""
    directed: bool = False
    """Whether no random number of the simulation depends on the seed; False if unknown, or if nothing failed."""
    unseeded: str = ""
    """File that draws stimulus without cocotb's seed; empty if none is known, or if nothing failed."""
    noise_errors: int = 0
    """Number of error lines in passed tests or, if there are no tests, in the whole item."""
    refused: tuple[Failure, ...] = ()
    """With strict logs, failures of passed tests with error lines; not in `failures`."""
    is_one_of_several: bool = False
    """Whether the simulation's logs also hold other simulations, or a build that failed."""


def collect(sim: Simulation) -> SimulationOutcome:
    """Return the failures of a simulation with their evidence, and the results of its tests.

    Memory does not grow with the size of the log. A log or results file that cannot be read is treated as missing.
    """
    run = SimulationRun(sim)
    failures = [failure_of(run, test) for test in run.tests if test.failed]
    if build_failed(run):
        failures.append(build_failure(run))
    elif is_unexplained(run):
        failures.append(item_failure(run))
    errors = {} if failures and not run.tests else _errors(run)
    refused = _refused(run, errors) if run.sim.strict_logs else {}
    has_failed = bool(failures or run.sim.error or run.sim.item_failed_later)
    seeds = {run.seed_of(test) for test in run.tests} or {run.seed}
    seed = next(iter(seeds)) if len(seeds) == 1 else None
    return SimulationOutcome(
        failures=tuple(failures),
        results=tuple(_result_of(run, test, errors, refused) for test in run.tests),
        simulator=run.simulator,
        config=run.setup.config,
        seed=seed,
        command=run.item_command(seed) if has_failed else None,
        axes=Axes(python=run.main.python, cocotb=run.main.cocotb),
        reads=run.reads if has_failed else (),
        directed=has_failed and run.directed,
        unseeded=run.unseeded if has_failed else "",
        noise_errors=sum(each.count for each in errors.values()),
        refused=tuple(replace(each, by_strict_logs=True) for each in refused.values()),
        is_one_of_several=run.is_one_of_several,
    )


def _result_of(
    run: SimulationRun, test: CocotbTest, errors: Mapping[str, ErrorLines], refused: Mapping[str, Failure]
) -> Result:
    strictly, found = test.name in refused, errors.get(test.name, NO_ERRORS)
    return Result(
        nodeid=run.nodeid_of(test),
        outcome="failed" if strictly else test.outcome,
        duration_s=test.duration_s,
        seed=run.seed_of(test),
        noise_errors=found.count if not strictly else 0,
        noise=found.masked if not strictly else (),
        simulator=run.simulator.name if run.simulator is not None else None,
        config=run.setup.config,
        module=test.module,
    )


def _errors(run: SimulationRun) -> dict[str, ErrorLines]:
    """Return the error lines of each passed test that logged any, by the name of the test.

    Error lines outside all tests, such as those at time 0 or from a final block, are added to the last passed test. If
    there is no test, the key is an empty string.
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
