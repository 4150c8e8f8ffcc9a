"""The failures and results of one earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from pytest_dvwiki.model import Axes, Failure, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.simulations.simulation import SimulationOutcome
    from pytest_dvwiki.model import Simulator

_ROLLUP = "SystemExit"
"""Exception of a pytest item that fails because its cocotb tests failed."""


class Leftovers(Struct):
    """The failures and results from the artefacts of one run."""

    failures: list[Failure] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    simulators: dict[Simulator, None] = field(default_factory=dict)
    without_tests: int = 0
    """Number of results for logs without a test or failure."""
    axes: Axes = field(default_factory=Axes)
    """Axes (versions of Python and cocotb) from the first log that shows any."""
    times: list[float] = field(default_factory=list)
    """Times of the run's simulations, seconds since the epoch."""
    problems: list[str] = field(default_factory=list)
    """Messages about files that cannot be read, each beginning with the file's name; they make the run incomplete."""
    notes: list[str] = field(default_factory=list)
    """Notes for the user; unlike problems, they do not make the run incomplete."""
    sources: list[Artefact] = field(default_factory=list)
    """The files that contained the failures and results."""
    names: set[str] = field(default_factory=set)
    """Names given to simulations and tests."""

    def add(self, outcome: SimulationOutcome, failures: Sequence[Failure], artefact: Artefact) -> None:
        """Add the results of a simulation, and those of its failures that count.

        Args:
            outcome: The outcome of the simulation.
            failures: The failures to add.
            artefact: The simulation's results file or, if it has none, its log.
        """
        self.failures += failures
        self.results += outcome.results
        named = {result.nodeid for result in outcome.results}
        if outcome.results or artefact.kind == "results":
            # A simulation that failed outside its tests counts as a test itself.
            self.results += (
                Result(
                    nodeid=failure.nodeid, outcome=failure.outcome, simulator=failure.simulator, config=failure.config
                )
                for failure in failures
                if failure.nodeid not in named
            )
        if outcome.simulator is not None:
            self.simulators[outcome.simulator] = None
        if self.axes == Axes():
            self.axes = outcome.axes

    def add_failed_build(self, name: str, outcome: SimulationOutcome) -> None:
        """Record a failed build as a failed test."""
        self.results.append(result_of_log(name, outcome, failed=True))

    def drop_rollups(self) -> None:
        """Remove the items of a pytest report that only sum up the cocotb tests of the same run."""
        if not any(failure.in_simulator for failure in self.failures):
            return
        rollups = {
            failure.nodeid
            for failure in self.failures
            if _ROLLUP in {failure.exception, failure.message.partition(":")[0]}
        }
        self.failures = [failure for failure in self.failures if failure.nodeid not in rollups]
        self.results = [result for result in self.results if result.nodeid not in rollups]

    def drop_unversioned(self) -> None:
        """Remove simulators without a version that are also listed with a version; failed builds show no version."""
        versions = {one.name for one in self.simulators if one.version}
        self.simulators = {one: None for one in self.simulators if one.version or one.name not in versions}


def result_of_log(name: str, outcome: SimulationOutcome, *, failed: bool, seed: str | None = None) -> Result:
    """Return the result of the only test that a log without cocotb tests stands for."""
    return Result(
        nodeid=name,
        seed=seed,
        outcome="failed" if failed else "passed",
        simulator=outcome.simulator.name if outcome.simulator is not None else None,
        config=outcome.config,
    )
