"""What a killed run was doing: its unfinished tests become failures with what their spool or log shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.processes import tools
from pytest_dvwiki.capture.processes.ending import FROM_OUTSIDE
from pytest_dvwiki.capture.simulations.builds import Setup
from pytest_dvwiki.capture.simulations.flight import cut_off
from pytest_dvwiki.capture.simulations.simulation import Simulation, SimulationOutcome, collect
from pytest_dvwiki.capture.texts.logs import LogText
from pytest_dvwiki.model import Excerpt, Failure, Result, Simulator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.capture.interrupted.journal import Begin
    from pytest_dvwiki.capture.interrupted.orphans import Orphan
    from pytest_dvwiki.capture.simulations.flight import Flight
    from pytest_dvwiki.model import Interest


@dataclass(frozen=True, slots=True)
class Remains:
    """What is known of a killed run."""

    failures: tuple[Failure, ...]
    results: tuple[Result, ...]
    """Tests that ended before the kill, where a log tells, and those that failed."""
    simulators: tuple[Simulator, ...]


def remains_of(orphan: Orphan, *, root: Path, interest: Interest) -> Remains:
    """Finds the failures that a killed run had reported, and one for each test that was running.

    Args:
        orphan: What the run left behind.
        root: Folder that paths are shown relative to.
        interest: Which lines of a long text to keep.
    """
    failures = {failure.nodeid: failure for failure in _reported(orphan)}
    results = {nodeid: _result(failure) for nodeid, failure in failures.items()}
    simulators: dict[Simulator, None] = {}
    for begin in orphan.running:
        outcome = _outcome(begin, root, interest)
        flight = next((flight for flight in orphan.in_flight if flight.runner == begin.nodeid), None)
        for failure in _told_of(outcome.failures or (_cut_short(begin),), flight):
            failures.setdefault(failure.nodeid, failure)
            results.setdefault(failure.nodeid, _result(failure))
        for result in outcome.results:
            results.setdefault(result.nodeid, result)
        if outcome.simulator is not None:
            simulators[outcome.simulator] = None
    return Remains(tuple(failures.values()), tuple(results.values()), tuple(simulators))


def _result(failure: Failure) -> Result:
    """Return the result of a test that failed."""
    return Result(
        nodeid=failure.nodeid,
        outcome="failed",
        seed=failure.seed,
        simulator=failure.simulator,
        config=failure.config,
    )


def _outcome(begin: Begin, root: Path, interest: Interest) -> SimulationOutcome:
    return collect(
        Simulation(
            nodeid=begin.nodeid,
            root=root,
            logs=tuple(_texts(begin)),
            started=begin.time,
            cut_short=True,
            simulator=tools.simulator_name(begin.program),
            modules=tools.modules(begin.environment),
            seed=tools.seed(begin.environment),
            setup=Setup(simulator=begin.simulator, config=begin.config),
            interest=interest,
            call=begin.call,
        )
    )


def _reported(orphan: Orphan) -> Iterator[Failure]:
    """What was in the journal; a runner of cocotb's own plugin failed by its tests, or by the one that never ended."""
    flights = {flight.runner: flight for flight in orphan.in_flight}
    runners = {failure.nodeid.rpartition("::")[0] for failure in orphan.failures}
    for failure in orphan.failures:
        if failure.nodeid in flights:
            yield cut_off(failure, flights[failure.nodeid])
        elif failure.nodeid not in runners:
            yield failure


def _told_of(failures: tuple[Failure, ...], flight: Flight | None) -> tuple[Failure, ...]:
    """A runner of cocotb's own plugin stands for the test that was running in it; its other tests told themselves."""
    return failures if flight is None else (cut_off(failures[-1], flight),)


def _cut_short(begin: Begin) -> Failure:
    sentence = f"run was killed while running {begin.nodeid}"
    return Failure(
        nodeid=begin.nodeid,
        outcome="error",
        message=sentence,
        excerpts=(Excerpt(source="run", lines=((1, sentence),)),),
        unreproducible=FROM_OUTSIDE,
    )


def _texts(begin: Begin) -> Iterator[LogText]:
    for name, source in zip(begin.spool, ("stdout", "stderr"), strict=False):
        path = Path(name)
        if path.is_file() and path.stat().st_size:
            yield LogText(source="stdout" if source == "stdout" else "stderr", path=path, lasting=False)
    for name in begin.opened:
        path = Path(name)
        if path.is_file() and path.stat().st_mtime >= begin.time - 1:
            yield LogText(source="log", path=path)
