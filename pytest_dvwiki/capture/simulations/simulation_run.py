"""The results, logs and end of one simulation, and the parts that all its failures share."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.capture.files.results import Case, ResultsError, read_results
from pytest_dvwiki.capture.make.folders import STOPPED
from pytest_dvwiki.capture.processes.ending import read_ending, sentence, status_in, was_killed
from pytest_dvwiki.capture.simulations import reproduce
from pytest_dvwiki.capture.simulations.builds import UNKNOWN, setup_of_log
from pytest_dvwiki.capture.simulations.cocotb_tests import CocotbTest, is_silent, join_tests
from pytest_dvwiki.capture.simulations.regression import Regression, read_regressions, simulator_name
from pytest_dvwiki.logtext.excerpts import ExcerptBuilder, Limits
from pytest_dvwiki.logtext.user_frames import shown_path
from pytest_dvwiki.model import Excerpt, Failure, LogReference, Simulator
from pytest_dvwiki.records.command import workspace
from pytest_dvwiki.redact import clean, redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.capture.simulations.builds import Setup
    from pytest_dvwiki.capture.simulations.regression import NumberedLines
    from pytest_dvwiki.capture.simulations.simulation import Simulation
    from pytest_dvwiki.model import Command, Interest, Source

_CLOCK_TOLERANCE = 1.0
"""Maximum number of seconds that a file system's clock may lag behind the clock of this machine."""
_MESSAGE_LIMIT = 4096
_SIDE_CHARS = 8 * 1024
"""Maximum number of characters from all streams other than the stream with the tests."""


class SimulationRun:
    """The results, logs and end of one simulation."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.cases, self.problem = _fresh_results(sim)
        self.main, self.sides, self.is_one_of_several = (
            (sim.regression, (), False) if sim.regression else _regressions(sim, self.cases)
        )
        last = tuple(_last_lines((self.main, *self.sides))) if sim.status is None else ()
        status = status_in(last) if sim.status is None else sim.status
        cut_short = sim.cut_short or (status is None and was_killed(last))
        self.ending = read_ending(status=status, error=sim.error, longrepr=sim.longrepr, cut_short=cut_short)
        self.setup = self._find_setup()
        self.simulator = self._simulator_of_run()
        seeds = (one.seed for one in (self.main, *self.sides))
        self.seed = next(filter(None, seeds), sim.seed)
        self.tests = join_tests(self.cases, self.main.blocks, modules=sim.modules, root=sim.root)
        if self.ending.interrupted:
            self.tests = [test for test in self.tests if _ended_by_itself(test)]
        old = any(is_silent(case) for case in self.cases or ())
        self.cocotb = self.main.cocotb or ("1.9" if old else sim.cocotb)

    @property
    def modules(self) -> tuple[str, ...]:
        """Return the names of the test modules: those that the caller knows, then those of the tests."""
        return tuple(dict.fromkeys((*self.sim.modules, *(test.module for test in self.tests if test.module))))

    @functools.cached_property
    def reads(self) -> tuple[str, ...]:
        """Return the project files that the simulation read; empty if they are unknown."""
        from pytest_dvwiki.capture.simulations.reads import files_read  # noqa: PLC0415  # loaded only for failures

        sim = self.sim
        files_of_cases = (test.case.file for test in self.tests if test.case is not None and test.case.file is not None)
        folder = sim.folder or sim.root
        files = dict.fromkeys(os.path.normpath(folder / path) for path in (*files_of_cases, *sim.files))
        return files_read(
            self.setup, files=files, modules=self.modules, folder=str(folder), root=sim.root, modules_in=sim.modules_in
        )

    @functools.cached_property
    def unseeded(self) -> str:
        """Return the file that draws stimulus without cocotb's seed; empty if none is known."""
        from pytest_dvwiki.capture.simulations.unseeded import draws_unseeded  # noqa: PLC0415  # only for failures

        return draws_unseeded(self.reads, workspace(self.sim.root)[0])

    @functools.cached_property
    def directed(self) -> bool:
        """Return whether the simulation is known not to use the seed for any random number."""
        from pytest_dvwiki.capture.simulations.directed import draws_nothing  # noqa: PLC0415  # only for failures

        sim = self.sim
        return draws_nothing(
            self.reads, self.setup.sources, self.modules, workspace(sim.root)[0], sim.folder or sim.root
        )

    def nodeid_of(self, test: CocotbTest) -> str:
        """Return the node id of a cocotb test: that of the pytest item, then the test's name."""
        return f"{self.sim.nodeid}::{clean(test.name)}"

    def seed_of(self, test: CocotbTest) -> str | None:
        """Return the seed of a test or, if the test has none of its own, of the simulation; None if unknown."""
        return redact((test.case.seed if test.case is not None else None) or self.seed or "") or None

    def item_command(self, seed: str | None, *, strict: bool = False, rebuild: bool = False) -> Command | None:
        """Return the command that reruns the item; with `rebuild`, make does not reuse what a failed build left."""
        if self.sim.call is None:
            return None
        return reproduce.again(
            self.sim.call,
            self.sim.nodeid,
            seed=seed,
            cocotb=self.cocotb,
            strict=strict,
            # Verilator writes a Makefile even if warnings make it fail, and make would build with that Makefile.
            rebuild=rebuild and self.simulator is not None and self.simulator.name == "verilator",
            modules=self.modules,
        )

    def failure(
        self,
        *,
        message: str,
        excerpts: Sequence[Excerpt],
        command: Command | None,
        unreproducible: str = "",
        seeded: bool = False,
        in_simulator: bool = True,
        line: int | None = None,
        **parts: Any,
    ) -> Failure:
        """Return a failure with the parts that all failures of the simulation share; `parts` are its other fields."""
        if self.sim.call is not None:
            unreproducible = unreproducible or self.sim.call.unknown
        return Failure(
            message=redact(message)[:_MESSAGE_LIMIT],
            excerpts=tuple(excerpts),
            in_simulator=in_simulator,
            seeded=seeded,
            directed=seeded and self.directed,
            simulator=self.simulator.name if self.simulator is not None else None,
            log=self._reference(self.main, line),
            config=self.setup.config,
            reads=self.reads,
            unseeded=self.unseeded if seeded else "",
            command=None if unreproducible else command,
            unreproducible=unreproducible,
            **parts,
        )

    def sentence(self, test: str | None, time: str | None, *, finished: bool) -> str | None:
        """Return a sentence about how the simulation ended; None if nothing shows an abnormal end."""
        name = self.simulator.name if self.simulator is not None else None
        return sentence(self.ending, simulator=name, test=test, time=time, finished=finished)

    def run_excerpt(self, sentence: str | None) -> list[Excerpt]:
        """Return a list with an excerpt for the plugin's sentence about a simulation; empty without a sentence."""
        return [Excerpt(source="run", lines=((1, redact(sentence)),))] if sentence else []

    def texts(self) -> list[Excerpt]:
        """Return excerpts of the logs outside the tests."""
        main = self.main.rest if self.main.blocks else self.main.preamble
        return [*self.log_excerpt(self.main, main), *self.side_excerpts()]

    def side_excerpts(self) -> list[Excerpt]:
        """Return excerpts of the run's streams other than the one with the tests."""
        share = _SIDE_CHARS // max(1, len(self.sides))
        return [excerpt for one in self.sides for excerpt in self.log_excerpt(one, _fitting(one.preamble, share))]

    def log_excerpt(self, part: Regression, lines: NumberedLines) -> list[Excerpt]:
        """Return a list with an excerpt of the given lines of a log; empty if they are blank."""
        if self.ending.signal is not None:
            # The sentence about the simulator describes the signal better than make's line.
            lines = tuple((number, line) for number, line in lines if status_in((line,)) is None)
        if not any(line.strip() for _, line in lines):
            return []
        reference = self._reference(part, None)
        path, sha256 = (reference.path, reference.sha256) if reference is not None else (None, None)
        return [Excerpt(source="log", lines=lines, path=path, sha256=sha256)]

    def _reference(self, part: Regression, line: int | None) -> LogReference | None:
        log = part.log
        if log is None or log.path is None or not log.lasting:
            return None
        return LogReference(path=redact(shown_path(str(log.path), self.sim.root)), line=line, sha256=part.sha256)

    def began(self) -> bool:
        """Return whether a test or a simulation began."""
        return bool(self.tests) or any(one.started for one in (self.main, *self.sides))

    @functools.cached_property
    def first_failed(self) -> CocotbTest | None:
        """Return the first test that failed; None if none failed."""
        return next((test for test in self.tests if test.failed), None)

    def _find_setup(self) -> Setup:
        """Return the design that the simulation ran, from observed tool calls, else from commands in the log."""
        sim = self.sim
        seen = sim.setup or UNKNOWN
        shown = next((one for one in (self.main, *self.sides) if one.commands), None)
        if seen.config is not None or sim.builds is None or shown is None:
            return seen
        printed = setup_of_log(shown.commands, str(sim.folder or sim.root), sim.builds, shown.failed)
        return printed if printed.config is not None else seen

    def _simulator_of_run(self) -> Simulator | None:
        known = [one.simulator for one in (self.main, *self.sides) if one.simulator is not None]
        if known:
            return next((one for one in known if one.version is not None), known[0])
        name = self.sim.simulator or self.setup.simulator
        return Simulator(name=simulator_name(name)) if name else None


def _ended_by_itself(test: CocotbTest) -> bool:
    """Return whether a test ended before the user interrupted the simulation, and not by the interrupt itself."""
    return test.started and not test.unfinished and test.exception != "KeyboardInterrupt"


def _fresh_results(sim: Simulation) -> tuple[tuple[Case, ...] | None, ResultsError | None]:
    """Return the tests of the results file (None if missing or outdated), and the error if the file cannot be used."""
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


def _regressions(sim: Simulation, cases: Sequence[Case] | None) -> tuple[Regression, tuple[Regression, ...], bool]:
    """Return the regression with this simulation's tests, and the regressions in other logs.

    The third value is whether one of the logs holds several simulations, or a failed build.
    """
    names = {name for case in cases or () for name in (case.fullname, case.name)}
    failing = {
        name for case in cases or () if case.status in {"failed", "error"} for name in (case.fullname, case.name)
    }
    seeds = {case.seed for case in cases or ()}
    best: Regression | None = None
    others: list[Regression] = []
    is_one_of_several = False
    for log in sim.logs:
        try:
            parts = read_regressions(log, sim.interest, names=names, failing=failing if cases is not None else None)
        except OSError:
            continue  # a log that cannot be opened
        is_one_of_several |= sum(bool(one.blocks) or one.seed is not None for one in parts) > 1 or any(
            STOPPED.match(line) for one in parts for _, line in (*one.preamble, *one.rest)
        )
        part = max(reversed(parts), key=lambda one: (_overlap(one, names), one.seed in seeds))
        if best is None or _weight(part, names) > _weight(best, names):
            others += [best] if best is not None else []
            best = part
        else:
            others.append(part)
    if best is not None and best.finished and cases is None and sim.after_others:
        # The finished regression and its results belong to the previous simulation, the rest of the log to this one.
        best = Regression(preamble=best.rest, simulator=best.simulator, log=best.log, sha256=best.sha256)
    # A second copy of the tests (a log file beside a spool) adds nothing, so only logs without tests are kept.
    sides = tuple(one for one in others if not one.blocks)
    return best or Regression(), sides, is_one_of_several


def _overlap(part: Regression, names: set[str]) -> int:
    return sum(1 for block in part.blocks if block.name in names)


def _weight(part: Regression, names: set[str]) -> tuple[int, int, bool, bool]:
    lasting = part.log is not None and part.log.path is not None and part.log.lasting
    return _overlap(part, names), len(part.blocks), part.started, lasting


def _last_lines(logs: Iterable[Regression]) -> Iterator[str]:
    """Yield the lines of logs that may be make's report about a failed command."""
    for one in logs:
        yield from (line for _, line in (*one.rest, *(one.blocks[-1].lines if one.blocks else one.preamble)))


def _fitting(lines: NumberedLines, chars: int) -> NumberedLines:
    """Return as many of the last lines as fit into a number of characters."""
    fitting: list[tuple[int, str]] = []
    for number, line in reversed(lines):
        chars -= len(line) + 1
        if chars < 0:
            break
        fitting.append((number, line))
    return tuple(reversed(fitting))


def excerpts_of(source: Source, text: str, interest: Interest | None, limits: Limits) -> list[Excerpt]:
    """Return a list with an excerpt of a string; empty for a blank string."""
    if not text.strip():
        return []
    builder = ExcerptBuilder(interest, limits)
    builder.feed(1, text.rstrip("\n") + "\n")
    return [Excerpt(source=source, lines=builder.lines())]
