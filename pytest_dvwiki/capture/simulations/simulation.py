"""Conversion of one cocotb simulation into a Failure per failing test and a Result per test.

The results file says which tests failed, and with which error. The log shows what led to it, which test was running
when the simulation ended and, if there is no results file, how the tests before it ended.
"""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pytest_dvwiki import simulators
from pytest_dvwiki.capture.files.results import Case, ResultsError, read_results
from pytest_dvwiki.capture.processes.ending import read_ending, sentence, status_in
from pytest_dvwiki.capture.simulations import reproduce
from pytest_dvwiki.capture.simulations.builds import UNKNOWN, setup_of_log
from pytest_dvwiki.capture.simulations.cocotb_tests import CocotbTest, is_silent, join_tests
from pytest_dvwiki.capture.simulations.noise import NO_ERRORS
from pytest_dvwiki.capture.simulations.regression import Regression, read_regressions, simulator_name
from pytest_dvwiki.logtext.excerpts import ExcerptBuilder, Limits
from pytest_dvwiki.logtext.frames import is_library
from pytest_dvwiki.logtext.user_frames import last_trace, shown_path, user_frame
from pytest_dvwiki.model import Axes, Excerpt, Failure, Frame, LogReference, Result, Simulator
from pytest_dvwiki.model.sentences import LOGGED
from pytest_dvwiki.redact import clean, redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.simulations.builds import Builds, Setup
    from pytest_dvwiki.capture.simulations.noise import ErrorLines
    from pytest_dvwiki.capture.simulations.regression import NumberedLines
    from pytest_dvwiki.capture.simulations.reproduce import Call
    from pytest_dvwiki.logtext.logs import LogText
    from pytest_dvwiki.logtext.user_frames import Trace
    from pytest_dvwiki.model import Command, Interest, Phase, Source

_CLOCK_TOLERANCE = 1.0
"""Seconds by which a file system's clock may be behind."""
_MESSAGE_LIMIT = 4096
_ENTRY = Limits(chars=16 * 1024, head=40, tail=60)
_REPORT = Limits(chars=6 * 1024, head=20, tail=40)
_SIDE_CHARS = 8 * 1024
"""Maximum number of characters of all streams other than the one with the tests."""

_TIMEOUT = "SimTimeoutError"
_EXIT = re.compile(r"SystemExit(?:: -?\d+)?$|\w*ParseError\b")
"""Exceptions by which cocotb's runner and cocotb-test end an item without results."""
_BY_THE_DESIGN = r"^UVM_FATAL\b|\$fatal\b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """One run of a simulator by a pytest item, or the build before it."""

    nodeid: str
    """Node id of the pytest item that ran the simulator."""
    root: Path
    """Folder that paths are shown relative to."""
    results: Path | None = None
    """Results file that the run should write; it may not exist."""
    logs: tuple[LogText, ...] = ()
    """Texts of the run, in any order and division: captured streams, a log file, a spool."""
    regression: Regression | None = None
    """This run in a log that the caller has already read; `logs` are then not read."""
    after_others: bool = False
    """Whether the item ran other simulations before this one; the logs begin with their output."""
    status: int | None = None
    """Exit status of the simulator, negative for a signal; if None, it is read from `error`."""
    started: float | None = None
    """Start of the item, seconds since the epoch; an older results file is another run's."""
    phase: Phase = "call"
    error: str = ""
    """Exception that ended the item: 'SystemExit: 1', 'RuntimeError: … return code: -9'; empty if it passed."""
    longrepr: str = ""
    """pytest's own text of the item's failure."""
    cut_short: bool = False
    """Whether the process that ran the item was killed before the item ended."""
    strict_logs: bool = False
    """Whether error lines in the log make a passed test fail."""
    failed: bool = False
    """Whether it counts as failed although the caller saw neither exit status nor exception."""
    simulator: str | None = None
    """Name of the simulator if the caller knows it: 'icarus', or its program."""
    modules: tuple[str, ...] = ()
    """Names of the test modules, if known (COCOTB_TEST_MODULES)."""
    seed: str | None = None
    setup: Setup | None = None
    """Design that it ran, if the caller saw the calls of the tools; otherwise the log may show it."""
    builds: Builds | None = None
    """Builds before it, for a log that shows only the run."""
    folder: Path | None = None
    """Folder in which the commands of its log started."""
    files: tuple[str, ...] = ()
    """Absolute paths of the files that ran it: the item's own, or its Makefile."""
    duration_s: float = 0.0
    interest: Interest | None = None
    call: Call | None = None
    """Call that ran the item; without it there is no command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOutcome:
    """The result of `collect`. Without `failures`, a failure of the item is the item's own."""

    failures: tuple[Failure, ...] = ()
    results: tuple[Result, ...] = ()
    """One for each cocotb test that ended, including failed ones; none for the item itself."""
    simulator: Simulator | None = None
    config: str | None = None
    axes: Axes = field(default_factory=Axes)
    """Versions of Python and cocotb in its log."""
    reads: tuple[str, ...] = ()
    """Files that the simulation read; only for one that failed."""
    build_failed: bool = False
    """Whether the simulation never began: compiler, elaborator or missing tool."""
    noise_errors: int = 0
    """Number of error lines of tests that passed; without tests, of the item."""
    refused: tuple[Failure, ...] = ()
    """With strict logs, failures of the tests that passed with error lines; not in `failures`."""


def collect(sim: Simulation) -> SimulationOutcome:
    """Return the failures of a simulation with their evidence, and the results of its tests.

    Memory does not grow with the size of the log. A log that cannot be opened counts as missing, a results file that
    cannot be read as not written.
    """
    return _Collector(sim).outcome()


class _Collector:
    """Collects the evidence of one simulation."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._cases, self._problem = _fresh_results(sim)
        self._main, self._sides = (sim.regression, ()) if sim.regression else _regressions(sim, self._cases)
        status = status_in(_last_lines((self._main, *self._sides))) if sim.status is None else sim.status
        self._ending = read_ending(status=status, error=sim.error, longrepr=sim.longrepr, cut_short=sim.cut_short)
        self._setup = self._find_setup()
        self._simulator = self._simulator_of_run()
        seeds = (one.seed for one in (self._main, *self._sides))
        self._seed = next(filter(None, seeds), sim.seed)
        self._tests = join_tests(self._cases, self._main.blocks, modules=sim.modules, root=sim.root)
        if self._ending.interrupted:
            self._tests = [test for test in self._tests if _ended_by_itself(test)]
        old = any(is_silent(case) for case in self._cases or ())
        self._cocotb = self._main.cocotb or ("1.9" if old else None)

    def outcome(self) -> SimulationOutcome:
        failures = [self._failure_of(test) for test in self._tests if test.failed]
        building = self._build_failed()
        if building:
            failures.append(self._build_failure())
        elif self._unexplained():
            failures.append(self._item_failure())
        errors = {} if failures and not self._tests else self._errors()
        refused = self._refused(errors) if self._sim.strict_logs else {}
        return SimulationOutcome(
            failures=tuple(failures),
            results=tuple(self._result_of(test, errors, refused) for test in self._tests),
            simulator=self._simulator,
            config=self._setup.config,
            axes=Axes(python=self._main.python, cocotb=self._main.cocotb),
            reads=self._reads if failures or self._sim.error else (),
            build_failed=building,
            noise_errors=sum(each.count for each in errors.values()),
            refused=tuple(replace(each, by_strict_logs=True) for each in refused.values()),
        )

    def _simulator_of_run(self) -> Simulator | None:
        known = [one.simulator for one in (self._main, *self._sides) if one.simulator is not None]
        if known:
            return next((one for one in known if one.version is not None), known[0])
        name = self._sim.simulator or self._setup.simulator
        return Simulator(name=simulator_name(name)) if name else None

    def _find_setup(self) -> Setup:
        """Return the design that the simulation ran: from the calls that the caller saw, else from those in the log."""
        sim = self._sim
        seen = sim.setup or UNKNOWN
        shown = next((one.commands for one in (self._main, *self._sides) if one.commands), ())
        if seen.config is not None or sim.builds is None or not shown:
            return seen
        printed = setup_of_log(shown, str(sim.folder or sim.root), sim.builds)
        return printed if printed.config is not None else seen

    @functools.cached_property
    def _reads(self) -> tuple[str, ...]:
        """Return the project files that the simulation read."""
        from pytest_dvwiki.capture.simulations.reads import files_read  # noqa: PLC0415  # loaded only for failures

        sim = self._sim
        files_of_cases = (
            test.case.file for test in self._tests if test.case is not None and test.case.file is not None
        )
        folder = sim.folder or sim.root
        files = dict.fromkeys(os.path.normpath(folder / path) for path in (*files_of_cases, *sim.files))
        modules = dict.fromkeys((*sim.modules, *(test.module for test in self._tests if test.module)))
        return files_read(self._setup, files=files, modules=modules, folder=str(folder), root=sim.root)

    def _result_of(self, test: CocotbTest, errors: Mapping[str, ErrorLines], refused: Mapping[str, Failure]) -> Result:
        strictly = test.name in refused
        return Result(
            nodeid=self._nodeid(test),
            outcome="failed" if strictly else test.outcome,
            duration_s=test.duration_s,
            seed=self._seed_of(test),
            noise_errors=errors[test.name].count if test.name in errors and not strictly else 0,
            simulator=self._simulator.name if self._simulator is not None else None,
            config=self._setup.config,
        )

    # Error lines of tests that passed

    def _errors(self) -> dict[str, ErrorLines]:
        """Return the error lines by the test that passed with them; those of an item without tests under an empty name.

        Error lines outside the tests, as at time 0 or from a final block, count for the last test that passed.
        """
        outside = next((one.errors for one in (self._main, *self._sides) if one.errors.count), NO_ERRORS)
        passed = [test for test in self._tests if test.outcome == "passed"]
        errors = {test.name: test.block.errors if test.block is not None else NO_ERRORS for test in passed}
        last = passed[-1].name if passed else ""
        if passed or not self._tests:
            errors[last] = errors.get(last, NO_ERRORS) + outside
        return {name: found for name, found in errors.items() if found.count}

    def _refused(self, errors: Mapping[str, ErrorLines]) -> dict[str, Failure]:
        tests = {test.name: test for test in self._tests if test.block is None or not test.block.expected_to_fail}
        if not self._tests:
            return {name: self._refused_item(found) for name, found in errors.items()}
        return {name: self._refused_test(tests[name], found) for name, found in errors.items() if name in tests}

    def _refused_test(self, test: CocotbTest, errors: ErrorLines) -> Failure:
        return self._failure(
            nodeid=self._nodeid(test),
            message=errors.text,
            excerpts=self._log_excerpt(self._main, errors.lines),
            seed=self._seed_of(test),
            seeded=True,
            sim_time=test.time,
            line=errors.first,
            duration_s=test.duration_s,
            command=self._command(test, strict=True),
        )

    def _refused_item(self, errors: ErrorLines) -> Failure:
        one = next((one for one in (self._main, *self._sides) if one.errors.count), self._main)
        return self._failure(
            nodeid=self._sim.nodeid,
            message=errors.text,
            excerpts=self._log_excerpt(one, errors.lines),
            seed=self._seed,
            line=errors.first,
            duration_s=self._sim.duration_s,
            command=self._item_command(self._seed, strict=True),
        )

    def _nodeid(self, test: CocotbTest) -> str:
        return f"{self._sim.nodeid}::{clean(test.name)}"

    def _seed_of(self, test: CocotbTest) -> str | None:
        return redact((test.case.seed if test.case is not None else None) or self._seed or "") or None

    # A failing test

    def _failure_of(self, test: CocotbTest) -> Failure:
        sim, block = self._sim, test.block
        excerpts = [
            *self._run_excerpt(self._why_ended(test) if test.unfinished else self._unbound()),
            *_excerpts("results", test.entry, sim.interest, _ENTRY),
            *self._log_excerpt(self._main, block.lines if block is not None else ()),
            *(self._log_excerpt(self._main, self._ending_lines()) if test.unfinished else ()),
            # The last words of a crashing simulator may be on its error stream, without the name of a test.
            *(self._side_excerpts() if test.unfinished and self._ending.bad_status else ()),
        ]
        return self._failure(
            nodeid=self._nodeid(test),
            outcome="error" if test.outcome == "error" else "failed",
            exception=redact(test.exception) if test.exception else None,
            message=test.message,
            frame=self._frame_of(test),
            excerpts=excerpts,
            started=test.started,
            seed=self._seed_of(test),
            seeded=True,
            sim_time=test.time,
            line=block.line if block is not None else None,
            duration_s=test.duration_s,
            command=self._command(test),
            unreproducible=self._ending.from_outside if test.unfinished or not test.started else "",
        )

    def _unbound(self) -> str | None:
        """Return a sentence on the first component without an entity, which the log reports before all tests."""
        lines = (line for one in (self._main, *self._sides) for _, line in one.preamble)
        found = next(filter(None, map(_unbound().match, lines)), None)
        return f"{found['place']}: no entity was compiled for component {found['name']}" if found else None

    def _command(self, test: CocotbTest, *, strict: bool = False) -> Command | None:
        if self._sim.call is None:
            return None
        module = test.module if test.name != test.bare else None
        file = test.case.file if test.case is not None else None
        # With cocotb 1.x, pyuvm registers its tests under names that differ from the reported ones: then all are run.
        hidden = (self._cocotb or "").startswith("1.") and file is not None and is_library(file)
        # An earlier failed test may have left the design in a state that made this one fail.
        is_first = strict or test is self._first_failed
        return reproduce.again(
            self._sim.call,
            self._sim.nodeid,
            test=test.bare if is_first and not hidden else None,
            module=module,
            seed=self._seed_of(test),
            cocotb=self._cocotb,
            strict=strict,
        )

    @functools.cached_property
    def _first_failed(self) -> CocotbTest | None:
        return next((test for test in self._tests if test.failed), None)

    def _item_command(self, seed: str | None, *, strict: bool = False) -> Command | None:
        if self._sim.call is None:
            return None
        return reproduce.again(self._sim.call, self._sim.nodeid, seed=seed, cocotb=self._cocotb, strict=strict)

    def _why_ended(self, test: CocotbTest) -> str | None:
        """Return a sentence on what ended the simulation during a test; None if the log shows it better."""
        lines = (*(test.block.lines if test.block is not None else ()), *self._ending_lines())
        reported_by_design = any(_said_by_the_design().search(line) for _, line in lines)
        if self._cases is not None and not self._ending.abnormal and (reported_by_design or self._ending.bad_status):
            return None
        if sentence := self._sentence(test.name, test.time, finished=False):
            return sentence
        # Without results the end is unknown: the last time in the log is all there is.
        at = ", at " if self._cases is not None else LOGGED
        return f"simulation ended before {test.name} was done" + (f"{at}{test.time}" if test.time else "")

    def _ending_lines(self) -> NumberedLines:
        """Return the design's message that ended the simulation, if it comes after all tests, as with cocotb 1.9."""
        rest = self._main.rest
        return rest if any(_said_by_the_design().search(line) for _, line in rest) else ()

    def _frame_of(self, test: CocotbTest) -> Frame | None:
        root, case = self._sim.root, test.case
        texts = (case.text if case is not None else "", test.block.traceback if test.block is not None else "")
        frame = next((found for text in texts if (found := user_frame(text, root))), None)
        return frame or self._place_of(test)

    def _place_of(self, test: CocotbTest) -> Frame | None:
        """Return the place of a test whose exception has none of the user's frames."""
        case, of_limit = test.case, test.exception == _TIMEOUT
        # A test's own timeout leaves no traceback, and concerns this test only: the whole test was waiting.
        function = redact(test.function) if of_limit else ""
        if case is not None and case.file is not None and not is_library(case.file):
            return Frame(file=redact(shown_path(case.file, self._sim.root)), line=case.line or 0, function=function)
        if of_limit and test.module:
            return Frame(file=redact(f"{test.module.rpartition('.')[2]}.py"), line=0, function=function)
        return None

    # A failure of the item itself: a build, an import, a simulation that ended outside any test

    def _build_failed(self) -> bool:
        ending = self._ending
        if not self._item_failed() or self._cases is not None:
            return False
        if ending.building:
            return True
        if self._began() or ending.cut_short or ending.timeout:
            return False
        # GHDL elaborates at the start of a run, and any simulator may fail to load then.
        return (ending.bad_status or self._sim.failed) and (self._sim.phase == "setup" or bool(self._texts()))

    def _began(self) -> bool:
        return bool(self._tests) or any(one.started for one in (self._main, *self._sides))

    def _item_failed(self) -> bool:
        sim, ending = self._sim, self._ending
        if ending.interrupted:
            return False
        if sim.failed or ending.abnormal or ending.bad_status:
            return True
        # Any other exception, raised before anything ran, is not a simulation's.
        own = bool(sim.error) and not _EXIT.match(sim.error) and not self._began() and not self._texts()
        return bool(sim.error or sim.longrepr) and not own

    def _unexplained(self) -> bool:
        """Tell whether something failed that no failure of a test covers."""
        if self._ending.interrupted:
            return False
        failed = any(test.failed for test in self._tests)
        forced = self._ending.abnormal or self._ending.bad_status
        if self._cases is not None or self._main.finished:
            return forced and not failed
        if any(test.unfinished for test in self._tests):
            return False
        return forced if failed else self._item_failed()

    def _build_failure(self) -> Failure:
        texts = self._texts()
        sentence = self._sentence(None, None, finished=False)
        return self._own_failure(sentence if self._ending.abnormal or not texts else None, None, in_simulator=False)

    def _item_failure(self) -> Failure:
        finished = self._cases is not None or self._main.finished
        trace = None if self._main.blocks else self._import_trace()
        sentence = None
        if trace is None or self._ending.abnormal:
            time = self._main.time if self._main.blocks else None
            sentence = self._sentence(None, time, finished=finished) or self._no_results()
        return self._own_failure(sentence, trace, in_simulator=True)

    def _import_trace(self) -> Trace | None:
        """Return the exception with which cocotb gave up before the first test; None if there is none."""
        texts = ("\n".join(line for _, line in one.preamble) for one in (self._main, *self._sides))
        traces = (last_trace(text, self._sim.root) for text in texts if "Traceback (" in text)
        return next(filter(None, traces), None)

    def _no_results(self) -> str:
        if self._problem is not None:
            name = shown_path(str(self._problem.path), self._sim.root)
            return f"results file {name} cannot be read: {self._problem.reason}"
        return "no results file was written"

    def _own_failure(self, sentence: str | None, trace: Trace | None, *, in_simulator: bool) -> Failure:
        sim = self._sim
        # The result of a compilation or an import does not depend on a seed.
        seed = self._seed if in_simulator and trace is None else None
        excerpts = [
            *self._run_excerpt(sentence),
            *self._texts(),
            *_excerpts("report", sim.longrepr, sim.interest, _REPORT),
        ]
        return self._failure(
            nodeid=sim.nodeid,
            phase=sim.phase,
            outcome="failed" if sim.phase == "call" else "error",
            exception=redact(trace.exception) if trace is not None else None,
            message=trace.message if trace is not None else sentence or "",
            frame=trace.frame if trace is not None else None,
            excerpts=excerpts,
            in_simulator=in_simulator,
            seed=redact(seed) if seed else None,
            # For artefacts, the call of the simulator is unknown.
            seeded=in_simulator and trace is None and (self._began() or sim.started is None),
            sim_time=self._main.time if self._main.blocks and in_simulator else None,
            duration_s=sim.duration_s,
            command=self._item_command(seed),
            unreproducible=self._ending.from_outside,
        )

    # Common parts of failures

    def _failure(
        self,
        *,
        nodeid: str,
        message: str,
        excerpts: Sequence[Excerpt],
        seed: str | None,
        duration_s: float,
        command: Command | None,
        unreproducible: str = "",
        phase: Phase = "call",
        outcome: Literal["failed", "error"] = "failed",
        exception: str | None = None,
        frame: Frame | None = None,
        sim_time: str | None = None,
        started: bool = True,
        seeded: bool = False,
        in_simulator: bool = True,
        line: int | None = None,
    ) -> Failure:
        return Failure(
            nodeid=nodeid,
            phase=phase,
            outcome=outcome,
            exception=exception,
            message=redact(message)[:_MESSAGE_LIMIT],
            frame=frame,
            excerpts=tuple(excerpts),
            in_simulator=in_simulator,
            started=started,
            seed=seed,
            seeded=seeded,
            sim_time=sim_time,
            simulator=self._simulator.name if self._simulator is not None else None,
            log=self._reference(self._main, line),
            duration_s=duration_s,
            config=self._setup.config,
            reads=self._reads,
            command=None if unreproducible else command,
            unreproducible=unreproducible,
        )

    def _sentence(self, test: str | None, time: str | None, *, finished: bool) -> str | None:
        name = self._simulator.name if self._simulator is not None else None
        return sentence(self._ending, simulator=name, test=test, time=time, finished=finished)

    def _run_excerpt(self, sentence: str | None) -> list[Excerpt]:
        return [Excerpt(source="run", lines=((1, redact(sentence)),))] if sentence else []

    def _texts(self) -> list[Excerpt]:
        """Return excerpts of the logs outside the tests."""
        main = self._main.rest if self._main.blocks else self._main.preamble
        return [*self._log_excerpt(self._main, main), *self._side_excerpts()]

    def _side_excerpts(self) -> list[Excerpt]:
        """Return excerpts of the other streams of the run."""
        share = _SIDE_CHARS // max(1, len(self._sides))
        excerpts = [self._log_excerpt(one, _fitting(one.preamble, share)) for one in self._sides]
        return [excerpt for found in excerpts for excerpt in found]

    def _log_excerpt(self, one: Regression, lines: NumberedLines) -> list[Excerpt]:
        if self._ending.signal is not None:
            # The sentence on the simulator describes the signal better than make's line.
            lines = tuple((number, line) for number, line in lines if status_in((line,)) is None)
        if not any(line.strip() for _, line in lines):
            return []
        reference = self._reference(one, None)
        path, sha256 = (reference.path, reference.sha256) if reference is not None else (None, None)
        return [Excerpt(source="log", lines=lines, path=path, sha256=sha256)]

    def _reference(self, one: Regression, line: int | None) -> LogReference | None:
        log = one.log
        if log is None or log.path is None or not log.lasting:
            return None
        return LogReference(path=redact(shown_path(str(log.path), self._sim.root)), line=line, sha256=one.sha256)


def _ended_by_itself(test: CocotbTest) -> bool:
    """Tell whether a test ended before a person interrupted its simulation; the interrupt may reach its Python."""
    return test.started and not test.unfinished and test.exception != "KeyboardInterrupt"


def _fresh_results(sim: Simulation) -> tuple[tuple[Case, ...] | None, ResultsError | None]:
    """Return the tests of the results file, or None, with the error if the file cannot be used."""
    if sim.results is None:
        return None, None
    try:
        if sim.started is not None and sim.results.stat().st_mtime < sim.started - _CLOCK_TOLERANCE:
            return None, None
        return read_results(sim.results).cases, None
    except ResultsError as error:
        return None, error
    except OSError:
        return None, None


def _regressions(sim: Simulation, cases: Sequence[Case] | None) -> tuple[Regression, tuple[Regression, ...]]:
    """Return the part of the logs with the tests of this simulation, and the last part of each other log."""
    names = {name for case in cases or () for name in (case.fullname, case.name)}
    failing = {
        name for case in cases or () if case.status in {"failed", "error"} for name in (case.fullname, case.name)
    }
    seeds = {case.seed for case in cases or ()}
    best: Regression | None = None
    others: list[Regression] = []
    for log in sim.logs:
        try:
            parts = read_regressions(log, sim.interest, names=names, failing=failing if cases is not None else None)
        except OSError:
            continue  # a log that cannot be opened
        part = max(reversed(parts), key=lambda one: (_overlap(one, names), one.seed in seeds))
        if best is None or _weight(part, names) > _weight(best, names):
            others += [best] if best is not None else []
            best = part
        else:
            others.append(part)
    if best is not None and best.finished and cases is None and sim.after_others:
        # The finished regression is that of the simulation before, which has its results; the rest is this one's.
        best = Regression(preamble=best.rest, simulator=best.simulator, log=best.log, sha256=best.sha256)
    # A second copy of the tests (a log file and a spool) adds nothing; only texts without tests do.
    sides = tuple(one for one in others if not one.blocks)
    return best or Regression(), sides


def _overlap(one: Regression, names: set[str]) -> int:
    return sum(1 for block in one.blocks if block.name in names)


def _weight(one: Regression, names: set[str]) -> tuple[int, int, bool, bool]:
    lasting = one.log is not None and one.log.path is not None and one.log.lasting
    return _overlap(one, names), len(one.blocks), one.started, lasting


def _last_lines(logs: Iterable[Regression]) -> Iterator[str]:
    """Yield the lines of logs in which make may report how its command ended."""
    for one in logs:
        yield from (line for _, line in (*one.rest, *(one.blocks[-1].lines if one.blocks else one.preamble)))


def _excerpts(source: Source, text: str, interest: Interest | None, limits: Limits) -> list[Excerpt]:
    """Return the excerpt of a text in memory, in a list; empty for a blank text."""
    if not text.strip():
        return []
    builder = ExcerptBuilder(interest, limits)
    builder.feed(1, text.rstrip("\n") + "\n")
    return [Excerpt(source=source, lines=builder.lines())]


def _fitting(lines: NumberedLines, chars: int) -> NumberedLines:
    """Return as many of the last lines as fit."""
    fitting: list[tuple[int, str]] = []
    for number, line in reversed(lines):
        chars -= len(line) + 1
        if chars < 0:
            break
        fitting.append((number, line))
    return tuple(reversed(fitting))


@functools.cache
def _said_by_the_design() -> re.Pattern[str]:
    """Return an expression for a line in which the design, or its simulator, says why the simulation ended."""
    return re.compile(simulators.either(lambda tool: tool.fatal, _BY_THE_DESIGN))


@functools.cache
def _unbound() -> re.Pattern[str]:
    return re.compile(simulators.either(lambda tool: tool.unbound))
