"""The failure of a pytest item itself: of a build, an import, or a simulation that ended outside its tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.simulations.simulation_run import excerpts_of
from pytest_dvwiki.logtext.excerpts import Limits
from pytest_dvwiki.logtext.user_frames import last_trace, shown_path
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from pytest_dvwiki.capture.simulations.noise import ErrorLines
    from pytest_dvwiki.capture.simulations.simulation_run import SimulationRun
    from pytest_dvwiki.logtext.user_frames import Trace
    from pytest_dvwiki.model import Failure

_REPORT = Limits(chars=6 * 1024, head=20, tail=40)
_EXIT = re.compile(r"SystemExit(?:: -?\d+)?$|\w*ParseError\b")
"""Matches the exceptions that cocotb's runner and cocotb-test raise if a simulation leaves no results."""


def build_failed(run: SimulationRun) -> bool:
    """Return whether the simulation never began: the compiler or elaborator failed, or a tool is missing."""
    ending = run.ending
    if not _item_failed(run) or run.cases is not None:
        return False
    if ending.building:
        return True
    if run.began() or ending.cut_short or ending.timeout:
        return False
    # GHDL elaborates at the start of a run, and any simulator may fail to load then.
    return (ending.bad_status or run.sim.failed) and (run.sim.phase == "setup" or bool(run.texts()))


def _item_failed(run: SimulationRun) -> bool:
    sim, ending = run.sim, run.ending
    if ending.interrupted:
        return False
    if sim.failed or ending.abnormal or ending.bad_status:
        return True
    # Any other exception that was raised before anything ran does not come from a simulation.
    own = bool(sim.error) and not _EXIT.match(sim.error) and not run.began() and not run.texts()
    return bool(sim.error or sim.longrepr) and not own


def is_unexplained(run: SimulationRun) -> bool:
    """Return whether the item failed for a reason other than failed tests."""
    if run.ending.interrupted:
        return False
    failed = any(test.failed for test in run.tests)
    forced = run.ending.abnormal or run.ending.bad_status
    if run.cases is not None or run.main.finished:
        return forced and not failed
    if any(test.unfinished for test in run.tests):
        return False
    return forced if failed else _item_failed(run)


def build_failure(run: SimulationRun) -> Failure:
    """Return the failure of a build, for a run with `build_failed`."""
    texts = run.texts()
    sentence = run.sentence(None, None, finished=False)
    return _own_failure(run, sentence if run.ending.abnormal or not texts else None, None, in_simulator=False)


def item_failure(run: SimulationRun) -> Failure:
    """Return the failure of the item itself, for a run with `is_unexplained`."""
    finished = run.cases is not None or run.main.finished
    trace = None if run.main.blocks else _import_trace(run)
    sentence = None
    if trace is None or run.ending.abnormal:
        time = run.main.time if run.main.blocks else None
        sentence = run.sentence(None, time, finished=finished) or _no_results(run)
    return _own_failure(run, sentence, trace, in_simulator=True)


def _import_trace(run: SimulationRun) -> Trace | None:
    """Return the exception that made cocotb give up before the first test; None if the log shows no such exception."""
    texts = ("\n".join(line for _, line in one.preamble) for one in (run.main, *run.sides))
    traces = (last_trace(text, run.sim.root) for text in texts if "Traceback (" in text)
    return next(filter(None, traces), None)


def _no_results(run: SimulationRun) -> str:
    if run.problem is not None:
        name = shown_path(str(run.problem.path), run.sim.root)
        return f"results file {name} cannot be read: {run.problem.reason}"
    return "no results file was written"


def _ended_unseeded(run: SimulationRun) -> bool:
    """Return whether a simulation loaded cocotb but ended before it drew a seed, so that no seed caused the failure."""
    parts = (run.main, *run.sides)
    return any(one.started for one in parts) and not any(one.seed or one.cocotb or one.blocks for one in parts)


def _own_failure(run: SimulationRun, sentence: str | None, trace: Trace | None, *, in_simulator: bool) -> Failure:
    sim = run.sim
    # The result of a compilation or an import does not depend on a seed.
    seed = run.seed if in_simulator and trace is None else None
    excerpts = [*run.run_excerpt(sentence), *run.texts(), *excerpts_of("report", sim.longrepr, sim.interest, _REPORT)]
    return run.failure(
        nodeid=sim.nodeid,
        phase=sim.phase,
        outcome="failed" if sim.phase == "call" else "error",
        exception=redact(trace.exception) if trace is not None else None,
        message=trace.message if trace is not None else sentence or "",
        frame=trace.frame if trace is not None else None,
        excerpts=excerpts,
        in_simulator=in_simulator,
        seed=redact(seed) if seed else None,
        # Artefacts (without `started`) do not show whether the simulator was called; it is assumed that it was.
        seeded=in_simulator and trace is None and (run.began() or sim.started is None) and not _ended_unseeded(run),
        sim_time=run.main.time if run.main.blocks and in_simulator else None,
        duration_s=sim.duration_s,
        command=run.item_command(seed, rebuild=not in_simulator),
        unreproducible=run.ending.from_outside,
    )


def refused_item(run: SimulationRun, errors: ErrorLines) -> Failure:
    """Return the failure that strict logs report for a passed item without tests, because its log has error lines."""
    one = next((one for one in (run.main, *run.sides) if one.errors.count), run.main)
    return run.failure(
        nodeid=run.sim.nodeid,
        message=errors.text,
        excerpts=run.log_excerpt(one, errors.lines),
        seed=run.seed,
        line=errors.first,
        duration_s=run.sim.duration_s,
        command=run.item_command(run.seed, strict=True),
    )
