"""The failures of the tests inside a simulation."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from pytest_dvwiki import simulators
from pytest_dvwiki.capture.simulations import reproduce
from pytest_dvwiki.capture.simulations.simulation_run import excerpts_of
from pytest_dvwiki.logtext.excerpts import Limits
from pytest_dvwiki.logtext.frames import is_library
from pytest_dvwiki.logtext.user_frames import shown_path, user_frame
from pytest_dvwiki.model import Failure, Frame
from pytest_dvwiki.model.sentences import LOGGED
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from pytest_dvwiki.capture.simulations.cocotb_tests import CocotbTest
    from pytest_dvwiki.capture.simulations.noise import ErrorLines
    from pytest_dvwiki.capture.simulations.regression import NumberedLines
    from pytest_dvwiki.capture.simulations.simulation_run import SimulationRun
    from pytest_dvwiki.model import Command

_ENTRY = Limits(chars=16 * 1024, head=40, tail=60)
_BY_THE_DESIGN = r"^UVM_FATAL\b|\$fatal\b"


def failure_of(run: SimulationRun, test: CocotbTest) -> Failure:
    """Return the failure of a test that failed, with excerpts of the results file and of the log."""
    sim, block = run.sim, test.block
    excerpts = [
        *run.run_excerpt(_why_ended(run, test) if test.unfinished else _unbound_component(run)),
        *excerpts_of("results", test.entry, sim.interest, _ENTRY),
        *run.log_excerpt(run.main, block.lines if block is not None else ()),
        *(run.log_excerpt(run.main, _ending_lines(run)) if test.unfinished else ()),
        # The last message of a crashing simulator may be on its error stream, without the name of a test.
        *(run.side_excerpts() if test.unfinished and run.ending.bad_status else ()),
    ]
    return run.failure(
        nodeid=run.nodeid_of(test),
        outcome="error" if test.outcome == "error" else "failed",
        exception=redact(test.exception) if test.exception else None,
        message=test.message,
        frame=_frame_of(run, test),
        excerpts=excerpts,
        started=test.started,
        seed=run.seed_of(test),
        seeded=True,
        sim_time=test.time,
        line=block.line if block is not None else None,
        duration_s=test.duration_s,
        command=_command(run, test),
        unreproducible=run.ending.from_outside if test.unfinished or not test.started else "",
    )


def refused_test(run: SimulationRun, test: CocotbTest, errors: ErrorLines) -> Failure:
    """Return the failure that strict logs report for a passed test, because its part of the log has error lines."""
    return run.failure(
        nodeid=run.nodeid_of(test),
        message=errors.text,
        excerpts=run.log_excerpt(run.main, errors.lines),
        seed=run.seed_of(test),
        seeded=True,
        sim_time=test.time,
        line=errors.first,
        duration_s=test.duration_s,
        command=_command(run, test, strict=True),
    )


def _unbound_component(run: SimulationRun) -> str | None:
    """Describe the first component without an entity that the log reports before the tests; None if it reports none."""
    lines = (line for one in (run.main, *run.sides) for _, line in one.preamble)
    found = next(filter(None, map(_unbound().match, lines)), None)
    return f"{found['place']}: no entity was compiled for component {found['name']}" if found else None


def _command(run: SimulationRun, test: CocotbTest, *, strict: bool = False) -> Command | None:
    if run.sim.call is None:
        return None
    module = test.module if test.name != test.bare else None
    file = test.case.file if test.case is not None else None
    # With cocotb 1.x, pyuvm registers tests under other names than those in the results file. A test cannot be selected
    # then, so the command runs all tests.
    hidden = (run.cocotb or "").startswith("1.") and file is not None and is_library(file)
    return reproduce.again(
        run.sim.call,
        run.sim.nodeid,
        test=test.bare if (strict or _fails_alone(run, test)) and not hidden else None,
        module=module,
        seed=run.seed_of(test),
        cocotb=run.cocotb,
        strict=strict,
        modules=run.modules,
    )


def _fails_alone(run: SimulationRun, test: CocotbTest) -> bool:
    """Return whether a test is likely to fail on its own, too, because no earlier test can have caused its failure.

    An earlier test that failed may have left the design in any state. A hanging test may wait for something that an
    earlier test, even a passed one, has used up.
    """
    before = takewhile(lambda other: other is not test, run.tests)
    is_hang = test.unfinished or test.exception == reproduce.LIMIT
    return test is run.first_failed and not (is_hang and any(other.outcome != "skipped" for other in before))


def _why_ended(run: SimulationRun, test: CocotbTest) -> str | None:
    """Describe what ended the simulation during a test; None if the log shows it better."""
    lines = (*(test.block.lines if test.block is not None else ()), *_ending_lines(run))
    reported_by_design = any(_end_by_the_design().search(line) for _, line in lines)
    if run.cases is not None and not run.ending.abnormal and (reported_by_design or run.ending.bad_status):
        return None
    if sentence := run.sentence(test.name, test.time, finished=False):
        return sentence
    # Without a results file, the time of the end is unknown. Only the last time in the log is known.
    at = ", at " if run.cases is not None else LOGGED
    return f"simulation ended before {test.name} was done" + (f"{at}{test.time}" if test.time else "")


def _ending_lines(run: SimulationRun) -> NumberedLines:
    """Return the lines after all tests if the design's message about the end is among them, as with cocotb 1.9."""
    rest = run.main.rest
    return rest if any(_end_by_the_design().search(line) for _, line in rest) else ()


def _frame_of(run: SimulationRun, test: CocotbTest) -> Frame | None:
    root, case = run.sim.root, test.case
    texts = (case.text if case is not None else "", test.block.traceback if test.block is not None else "")
    frame = next((found for text in texts if (found := user_frame(text, root))), None)
    return frame or _place_of(run, test)


def _place_of(run: SimulationRun, test: CocotbTest) -> Frame | None:
    """Return the source location of a test, for an exception without a frame in the user's code; None if unknown."""
    case, of_limit = test.case, test.exception == reproduce.LIMIT
    # A test's own timeout leaves no traceback, so the place is the function of the test.
    function = redact(test.function) if of_limit else ""
    if case is not None and case.file is not None and not is_library(case.file):
        return Frame(file=redact(shown_path(case.file, run.sim.root)), line=case.line or 0, function=function)
    if of_limit and test.module:
        return Frame(file=redact(f"{test.module.rpartition('.')[2]}.py"), line=0, function=function)
    return None


_end_by_the_design = simulators.expression(lambda tool: tool.fatal, _BY_THE_DESIGN)
"""Returns an expression that matches a message of the design or simulator about why the simulation ended."""
_unbound = simulators.expression(lambda tool: tool.unbound)
