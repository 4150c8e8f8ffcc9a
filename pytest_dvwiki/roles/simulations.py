"""From what a test started and printed to the evidence that its report carries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.files.artefacts import sha256_of
from pytest_dvwiki.capture.processes import tools
from pytest_dvwiki.capture.simulations.cocotb_tests import unique_name
from pytest_dvwiki.capture.simulations.flight import without_progress
from pytest_dvwiki.capture.simulations.simulation import Simulation, collect
from pytest_dvwiki.capture.texts.frames import shown_path
from pytest_dvwiki.capture.texts.logs import LogText
from pytest_dvwiki.roles import strict
from pytest_dvwiki.roles.reports import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pytest

    from pytest_dvwiki.capture.processes.children import Child, Children
    from pytest_dvwiki.capture.simulations.simulation import SimulationOutcome
    from pytest_dvwiki.model import Interest


@dataclass(frozen=True, slots=True)
class Observed:
    """What the process that ran a test saw of it."""

    nodeid: str
    started: float
    children: Children
    streams: tuple[LogText, ...]
    native: bool
    """Whether its cocotb tests report by themselves, as with cocotb's own pytest plugin."""
    error: str = ""
    """The exception that ended it."""
    longrepr: str = ""
    """The text of its failure."""
    strict_logs: bool = False
    """Whether its tests are to fail by error lines in their log."""


def is_native_runner(item: pytest.Item) -> bool:
    """Whether a test is a runner of cocotb's own pytest plugin."""
    return item.get_closest_marker("cocotb_runner") is not None and item.config.pluginmanager.hasplugin(
        "cocotb_controller"
    )


def evidence_of(
    seen: Observed,
    report: pytest.TestReport,
    *,
    root: Path,
    interest: Interest,
) -> Evidence | None:
    """Reads what a test's simulations left behind; None where it ran no tool of hardware design."""
    children = seen.children.children
    simulations = [child for child in children if tools.is_simulation(child) or _has_run_a_simulation(child, seen)]
    if not simulations and not any(tools.is_tool(child) for child in children):
        return None
    by_results: dict[Path | None, Child] = {}
    for child in simulations:
        results = tools.results_file(child)
        by_results.pop(results, None)  # the order is that of the last runs
        by_results[results] = child
    if seen.native or not by_results:
        by_results = {None: (simulations or children)[-1]}
    told = [
        _simulation(seen, report, child, results, root=root, interest=interest) for results, child in by_results.items()
    ]
    # What ended the item ended its last simulation; those before it had come to an end of their own.
    told = [*(replace(sim, error="", longrepr="") for sim in told[:-1]), replace(told[-1], after_others=len(told) > 1)]
    outcomes = tuple(_with_distinct_names(map(collect, told)))
    if seen.native:
        outcomes = tuple(_without_progress(outcome) for outcome in outcomes)
    failures = tuple(failure for outcome in outcomes for failure in outcome.failures) if report.failed else ()
    refused = tuple(failure for outcome in outcomes for failure in outcome.refused)
    if refused:
        strict.refuse(report, refused)
    return Evidence(
        failures=(*failures, *refused),
        results=() if seen.native else tuple(result for outcome in outcomes for result in outcome.results),
        simulator=next((outcome.simulator for outcome in outcomes if outcome.simulator), None),
        noise_errors=sum(outcome.noise_errors for outcome in outcomes),
        native_runner=seen.native,
        sources=tuple(_sources(seen, simulations, root)),
    )


def _sources(seen: Observed, simulations: Iterable[Child], root: Path) -> Iterator[tuple[str, str]]:
    """The files by which whoever comes upon them later knows that the simulations are archived.

    These are the results files, and where none was written the logs, of which there are few then.
    """
    results = [path for path in dict.fromkeys(map(tools.results_file, simulations)) if path is not None]
    found = [(path, digest) for path in results if (digest := sha256_of(path, since=seen.started - 1))]
    if not found:
        logs = (log.path for log in _log_files(seen) if log.path is not None)
        found = [(path, digest) for path in logs if (digest := sha256_of(path, since=seen.started - 1))]
    for path, digest in found:
        yield shown_path(str(path), root), digest


def _without_progress(outcome: SimulationOutcome) -> SimulationOutcome:
    return replace(
        outcome,
        failures=tuple(
            replace(
                failure,
                excerpts=tuple(replace(each, lines=without_progress(each.lines)) for each in failure.excerpts),
            )
            for failure in outcome.failures
        ),
    )


def _has_run_a_simulation(child: Child, seen: Observed) -> bool:
    """Whether a make ran cocotb's Makefile: it leaves results. Verilator's builds are makes as well, and leave none."""
    results = tools.results_file(child) if tools.is_make(child) else None
    try:
        return results is not None and results.stat().st_mtime >= seen.started - 1
    except OSError:
        return False


def _with_distinct_names(outcomes: Iterable[SimulationOutcome]) -> Iterator[SimulationOutcome]:
    """The outcomes of an item's simulations, the tests numbered that ran in several of them."""
    taken: set[str] = set()
    for outcome in outcomes:
        failures = (*outcome.failures, *outcome.refused)
        told = (*(result.nodeid for result in outcome.results), *(failure.nodeid for failure in failures))
        names = {nodeid: unique_name(nodeid, taken) for nodeid in dict.fromkeys(told)}
        yield replace(
            outcome,
            failures=tuple(replace(failure, nodeid=names[failure.nodeid]) for failure in outcome.failures),
            refused=tuple(replace(failure, nodeid=names[failure.nodeid]) for failure in outcome.refused),
            results=tuple(replace(result, nodeid=names[result.nodeid]) for result in outcome.results),
        )


def _simulation(
    seen: Observed,
    report: pytest.TestReport,
    child: Child,
    results: Path | None,
    *,
    root: Path,
    interest: Interest,
) -> Simulation:
    return Simulation(
        nodeid=seen.nodeid,
        root=root,
        results=results,
        logs=(*_log_files(seen), *seen.streams),
        started=seen.started,
        phase=report.when,
        error=seen.error,
        longrepr=seen.longrepr,
        simulator=tools.simulator_name(child.program),
        modules=tools.modules(child.environment),
        seed=tools.seed(child.environment),
        duration_s=round(report.duration, 3),
        strict_logs=seen.strict_logs and not seen.native,
        interest=interest,
    )


def _log_files(seen: Observed) -> Iterable[LogText]:
    """Files that the test opened for its children's output, as `log_file=` of a runner does."""
    for path in seen.children.opened:
        try:
            status = path.stat()
        except OSError:
            continue
        if path.is_file() and status.st_size and status.st_mtime >= seen.started - 1:
            yield LogText(source="log", path=path)
