"""Convert a test's child processes and output to evidence for its report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.capture.files.artefacts import sha256_of
from pytest_dvwiki.capture.processes import tools
from pytest_dvwiki.capture.simulations.cocotb_tests import unique_name
from pytest_dvwiki.capture.simulations.simulation import Simulation, collect
from pytest_dvwiki.capture.simulations.unfinished import without_progress
from pytest_dvwiki.logtext.logs import LogText
from pytest_dvwiki.logtext.user_frames import shown_path
from pytest_dvwiki.roles import strict
from pytest_dvwiki.roles.reports import Evidence, Simulated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    import pytest

    from pytest_dvwiki.capture.processes.children import Child, Children
    from pytest_dvwiki.capture.simulations.builds import Builds
    from pytest_dvwiki.capture.simulations.reproduce import Call
    from pytest_dvwiki.capture.simulations.simulation import SimulationOutcome
    from pytest_dvwiki.model import Interest


class Observed(Struct, frozen=True):
    """What the process that ran a test has observed of it."""

    nodeid: str
    started: float
    children: Children
    streams: tuple[LogText, ...]
    native: bool
    """Whether the cocotb tests inside the test have their own reports, as with cocotb's own pytest plugin."""
    call: Call
    """Command line of the session."""
    error: str = ""
    """Text of the exception that ended the test."""
    longrepr: str = ""
    """Text of the test's failure, with the traceback."""
    strict_logs: bool = False
    """Whether error lines in the log make a test fail."""


def is_native_runner(item: pytest.Item) -> bool:
    """Return whether a test is a runner of cocotb's own pytest plugin."""
    return item.get_closest_marker("cocotb_runner") is not None and item.config.pluginmanager.hasplugin(
        "cocotb_controller"
    )


def evidence_of(
    observed: Observed, report: pytest.TestReport, *, root: Path, interest: Interest, builds: Builds
) -> Evidence | None:
    """Return the evidence from a test's simulations; None if the test ran no HDL tool."""
    children = observed.children.children
    simulations = [child for child in children if _is_or_ran_a_simulation(child, observed)]
    if not simulations and not any(tools.is_tool(child) for child in children):
        return None
    by_results: dict[Path | None, Child] = {}
    for child in simulations:
        results = tools.results_file(child)
        by_results.pop(results, None)  # inserted again: the order is that of the last simulation with each results file
        by_results[results] = child
    if observed.native or not by_results:
        by_results = {None: (simulations or children)[-1]}
    observed = replace(observed, call=_with_makefiles(observed.call, children))
    parts = [
        _simulation(observed, report, child, results, root=root, interest=interest, builds=builds)
        for results, child in by_results.items()
    ]
    # The item's exception belongs to its last simulation; the earlier simulations had ended without an exception.
    parts = [
        *(replace(sim, error="", longrepr="", item_failed_later=bool(observed.error)) for sim in parts[:-1]),
        replace(parts[-1], after_others=len(parts) > 1),
    ]
    outcomes = tuple(_with_distinct_names(map(collect, parts)))
    if observed.native:
        outcomes = tuple(_without_progress(outcome) for outcome in outcomes)
    failures = tuple(failure for outcome in outcomes for failure in outcome.failures)
    ignored = {sim.results for sim, outcome in zip(parts, outcomes, strict=True) if outcome.failures and report.passed}
    failures = failures if report.failed else ()
    refused = tuple(failure for outcome in outcomes for failure in outcome.refused)
    if refused:
        strict.refuse(report, refused)
    failed_itself = report.failed and report.when == "call" and observed.error and not (failures or refused)
    is_complete = len({(tools.results_file(child), child.program) for child in simulations}) == len(simulations)
    return Evidence(
        failures=(*failures, *refused),
        results=() if observed.native else tuple(result for outcome in outcomes for result in outcome.results),
        simulator=next((outcome.simulator for outcome in outcomes if outcome.simulator), None),
        config=next((outcome.config for outcome in outcomes if outcome.config), None),
        reads=outcomes[-1].reads if observed.native else (),
        directed=observed.native and outcomes[-1].directed,
        unseeded=outcomes[-1].unseeded if observed.native else "",
        simulated=_same_in_all(outcomes, is_complete=is_complete) if failed_itself and simulations else None,
        noise_errors=sum(outcome.noise_errors for outcome in outcomes),
        native_runner=observed.native,
        sources=tuple(_sources(observed, simulations, root, failed=report.failed, ignored=ignored)),
    )


def _same_in_all(outcomes: Sequence[SimulationOutcome], *, is_complete: bool) -> Simulated:
    """Return what the simulations of an item have in common.

    A pass is recorded with one simulator and one configuration. So if the simulations differ in either, both are left
    out, and a pass with any of them counts.

    Args:
        outcomes: The simulations.
        is_complete: Whether `outcomes` has all simulations; one may have overwritten the results of another.
    """
    targets = {(outcome.simulator.name if outcome.simulator else None, outcome.config) for outcome in outcomes}
    seeds = {outcome.seed for outcome in outcomes}
    simulator, config = next(iter(targets)) if len(targets) == 1 else (None, None)
    if not is_complete:
        return Simulated(simulator=simulator, config=config)
    # If the simulations differ, the seed is left out, too: `precedes_simulator` requires neither simulator nor seed.
    seed = next(iter(seeds)) if len(seeds) == len(targets) == 1 else None
    are_read = all(outcome.reads for outcome in outcomes)
    return Simulated(
        simulator=simulator,
        config=config,
        seed=seed,
        command=outcomes[-1].command if seed is not None else None,
        reads=tuple(dict.fromkeys(file for one in outcomes for file in one.reads)) if are_read else (),
        directed=all(outcome.directed for outcome in outcomes),
        unseeded=next((outcome.unseeded for outcome in outcomes if outcome.unseeded), ""),
    )


def _with_makefiles(call: Call, children: Iterable[Child]) -> Call:
    """Add the environment variables used by the test's Makefiles to a call."""
    variables: dict[str, str] = {}
    for child in children:
        if tools.is_make(child):
            from pytest_dvwiki.capture.make import makefiles  # noqa: PLC0415  # loaded only where make was called

            makefile = tools.makefile_of(child)
            names = makefiles.from_outside(makefiles.text_of(makefile)) if makefile is not None else ()
            variables |= {name: os.environ[name] for name in sorted(names) if os.environ.get(name)}
    return call.with_variables(variables)


def _sources(
    observed: Observed, simulations: Iterable[Child], root: Path, *, failed: bool, ignored: Collection[Path | None]
) -> Iterator[tuple[str, str]]:
    """Yield path and hash of the files by which a later ingest recognises that these simulations are archived.

    These are the results files, and the logs if the test failed or there are no results files. Other logs are left out,
    because there can be many.
    """
    results = [path for path in dict.fromkeys(map(tools.results_file, simulations)) if path is not None]
    found = {path: digest for path in results if (digest := sha256_of(path, since=observed.started - 1))}
    if failed or not found:
        logs = [log.path for log in _log_files(observed) if log.path is not None]
        found |= {path: digest for path in logs if (digest := sha256_of(path, since=observed.started - 1))}
    for path, digest in found.items():
        if path in ignored:
            continue
        yield shown_path(str(path), root), digest


def _without_progress(outcome: SimulationOutcome) -> SimulationOutcome:
    return replace(
        outcome,
        failures=tuple(
            replace(
                failure, excerpts=tuple(replace(each, lines=without_progress(each.lines)) for each in failure.excerpts)
            )
            for failure in outcome.failures
        ),
    )


def _is_or_ran_a_simulation(child: Child, observed: Observed) -> bool:
    """Return whether a child is a simulation, or a make that ran one.

    A make that ran cocotb's Makefile writes a results file. Verilator's builds also run make, but write no such file.
    """
    if tools.is_simulation(child):
        return True
    results = tools.results_file(child) if tools.is_make(child) else None
    try:
        return results is not None and results.stat().st_mtime >= observed.started - 1
    except OSError:
        return False


def _with_distinct_names(outcomes: Iterable[SimulationOutcome]) -> Iterator[SimulationOutcome]:
    """Yield the outcomes of an item's simulations; a test that ran in several of them gets numbered names."""
    taken: set[str] = set()
    for outcome in outcomes:
        failures = (*outcome.failures, *outcome.refused)
        nodeids = (*(result.nodeid for result in outcome.results), *(failure.nodeid for failure in failures))
        names = {nodeid: unique_name(nodeid, taken) for nodeid in dict.fromkeys(nodeids)}
        yield replace(
            outcome,
            failures=tuple(replace(failure, nodeid=names[failure.nodeid]) for failure in outcome.failures),
            refused=tuple(replace(failure, nodeid=names[failure.nodeid]) for failure in outcome.refused),
            results=tuple(replace(result, nodeid=names[result.nodeid]) for result in outcome.results),
        )


def _simulation(
    observed: Observed,
    report: pytest.TestReport,
    child: Child,
    results: Path | None,
    *,
    root: Path,
    interest: Interest,
    builds: Builds,
) -> Simulation:
    own = observed.children.setup_of(child)
    if own is None and observed.children.setups and not _is_or_ran_a_simulation(child, observed):
        # Setup of the failed build, or of the build that Verilator's make belongs to.
        own = observed.children.setups[-1][1]
    folder = tools.working_folder(child)
    makefiles = tools.makefiles(folder) if tools.is_make(child) else ()
    return Simulation(
        nodeid=observed.nodeid,
        root=root,
        results=results,
        logs=(*_log_files(observed), *observed.streams),
        started=observed.started,
        phase=report.when,
        error=observed.error,
        longrepr=observed.longrepr,
        simulator=tools.simulator_name(child.program),
        cocotb=tools.cocotb_version(child.environment),
        modules=tools.modules(child.environment),
        seed=tools.seed(child.environment),
        setup=own,
        builds=builds,
        folder=folder,
        files=tuple(map(str, (root / observed.nodeid.partition("::")[0], *makefiles))),
        duration_s=round(report.duration, 3),
        strict_logs=observed.strict_logs and not observed.native,
        interest=interest,
        call=observed.call,
    )


def _log_files(observed: Observed) -> Iterable[LogText]:
    """Yield the files opened by the test for its children's output, such as a runner's `log_file=`."""
    for path in observed.children.opened:
        try:
            status = path.stat()
        except OSError:
            continue
        if path.is_file() and status.st_size and status.st_mtime >= observed.started - 1:
            yield LogText(source="log", path=path)
