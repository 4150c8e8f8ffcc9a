"""Logs without a results file.

A cocotb log gives all its tests, the log of a UVM run gives its test, and any other log gives one test that is named
after the log.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.leftovers.names import undated, without_module
from pytest_dvwiki.capture.leftovers.run_logs import text_of
from pytest_dvwiki.capture.leftovers.totals import result_of_log
from pytest_dvwiki.capture.make.calls import head_of, modules_of
from pytest_dvwiki.capture.make.folders import STOPPED, changes_folder, stopped_in
from pytest_dvwiki.capture.runners import fusesoc
from pytest_dvwiki.capture.simulations.cocotb_tests import unique_name
from pytest_dvwiki.capture.simulations.named_runs import NamedRun, command_of, named_run
from pytest_dvwiki.capture.simulations.regression import Regression, read_regressions
from pytest_dvwiki.model import Excerpt
from pytest_dvwiki.model.sentences import CUT_LOG
from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.files.results import Case
    from pytest_dvwiki.capture.leftovers.failed_builds import FailedBuilds
    from pytest_dvwiki.capture.leftovers.log_names import LogNames
    from pytest_dvwiki.capture.leftovers.log_parts import LogParts
    from pytest_dvwiki.capture.leftovers.run_logs import RunLogs
    from pytest_dvwiki.capture.leftovers.totals import Leftovers
    from pytest_dvwiki.capture.simulations.named_runs import PathTemplate
    from pytest_dvwiki.capture.simulations.simulation import SimulationOutcome
    from pytest_dvwiki.model import Failure, Interest


class ReadLog(Struct, frozen=True):
    """The content of one log, read without other files."""

    parts: list[Regression]
    """The cocotb regressions in the log, one for each start of a simulator."""
    named: NamedRun | None = None
    """The run that the log identifies; None if it identifies none, and unless `is_single`."""
    stopped: tuple[tuple[str, str], ...] = ()
    """Pairs of a folder where make stopped, and make's output in that folder."""

    @property
    def is_single(self) -> bool:
        """Return whether the log is from one run without cocotb."""
        part = self.parts[0]
        return len(self.parts) == 1 and not (part.blocks or part.started or part.cocotb)


def read_log(log: Artefact, interest: Interest, templates: Sequence[PathTemplate]) -> ReadLog:
    """Read a log that has no results file.

    Raises:
        OSError: The log cannot be read.
    """
    return _with_facts(log, read_regressions(text_of(log), interest), templates)


def _with_facts(log: Artefact, parts: list[Regression], templates: Sequence[PathTemplate]) -> ReadLog:
    read = ReadLog(parts, stopped=tuple(stopped_in(log.path)))
    return replace(read, named=named_run(text_of(log), undated(log.shown), templates)) if read.is_single else read


class LoneLogs:
    """Finds the tests in logs without a results file, and adds them to the run."""

    def __init__(
        self,
        run: Leftovers,
        logs: RunLogs,
        parts: LogParts,
        builds: FailedBuilds,
        cases: Iterable[Case],
        *,
        names: LogNames,
        failed_results: Mapping[Path, bool],
    ) -> None:
        self._run = run
        self._logs = logs
        self._parts = parts
        self._builds = builds
        self._names = names
        self._cases = _by_name(cases)
        self._failed_results = failed_results
        """Maps each folder with results files of the run to whether any cocotb test in them failed."""
        self.of_benches: list[str] = []
        """Logs that testbenches wrote beside their results files, and whose errors are left out."""

    def read(self, logs: Sequence[Artefact], templates: Sequence[PathTemplate]) -> Iterator[ReadLog | OSError]:
        """Yield, for each log, the result of `read_log` or the error that it raises."""
        for log in logs:
            try:
                yield _with_facts(log, self._logs.parts(log), templates)
            except OSError as error:
                yield error

    def add(
        self, log: Artefact, read: ReadLog | OSError, *, with_builds: bool = True, results: Artefact | None = None
    ) -> None:
        """Add the runs in a log, except runs with a results file.

        Args:
            log: The log.
            read: The log's content, or the error that reading it raised.
            with_builds: Whether to add the failed builds in a log that also has simulations.
            results: The only results file that was read with the log; None if there are several, or if it does not
                show where make ran.
        """
        if isinstance(read, OSError):
            self._run.problems.append(f"{log.shown}: {reading.reason(read)}")
            return
        self._logs.forget(log)
        has_others = self._builds.add_stopped(log, read.stopped)
        parts = [part for part in read.parts if not self.is_covered(part)]
        several = _in_several_modules(read.parts)
        is_only = results is None and len(read.parts) == 1
        is_one_place = is_only or not changes_folder(log.path)
        # If other simulations ran, `add_designs` separates their builds from the failed builds, for all parts at once.
        together = with_builds and any(part.blocks for part in parts)
        for part in parts:
            named = _named(log, read)
            is_build = named is None and self._parts.is_failed_build(part)
            if is_build and together and _is_stopped(part):
                continue
            if is_build and (has_others or self._builds.add_designs(log, [part], least=2)):
                continue
            if named:
                name = named.test
            elif is_build:
                name = self._names.of_build(log, part, head_of([log]), is_only=is_only)
            elif part.blocks or part.started:
                name = self._names.of_simulation(log, part, results, is_only=is_only, is_one_place=is_one_place)
                name = self._distinct(name, log, part, several)
            else:
                name = self._distinct(undated(log.shown), log, part, several)
            self._add_part(log, part, name, named)
        if together:
            self._builds.add_designs(log, parts)

    def _add_part(self, log: Artefact, part: Regression, name: str, named: NamedRun | None) -> None:
        """Add the failures and results in a part of a log, under the name of its test, folder or file."""
        run = self._run
        outcome = self._parts.outcome(name, part, log)
        if named:
            outcome = self._as_named(outcome, named, log)
        failures = [one for one in outcome.failures if one.nodeid != name or self._parts.has_class(one)]
        if named is None and self._is_of_bench(log, part, outcome, failures):
            self.of_benches.append(log.shown)
            return
        run.add(outcome, failures, log)
        if outcome.results or not (failures or named or not self._failed_results):
            return
        ended = result_of_log(name, outcome, failed=bool(failures), seed=named.seed if named else None)
        # A folder that fails to build counts once, however many logs show it.
        if named or ended not in run.results:
            run.results.append(ended)
            run.without_tests += not (failures or named)

    def _is_of_bench(
        self, log: Artefact, part: Regression, outcome: SimulationOutcome, failures: Sequence[Failure]
    ) -> bool:
        """Return whether a testbench with failed tests wrote a log itself, so that the log is not a tool's output.

        The errors in such a log are those of the failed tests. If all tests passed, the answer is False, because no
        other file shows the errors.
        """
        shows_run = part.blocks or part.started or part.cocotb or part.seed or part.commands or outcome.simulator
        folder = next((each for each in log.path.parents if each in self._failed_results), None)
        if shows_run or not failures or folder is None or not self._failed_results[folder]:
            return False
        return {self._parts.class_of_failure(one) for one in failures} == {"sim_error"}

    def is_covered(self, part: Regression) -> bool:
        """Return whether a results file contains a test from this part of a log."""
        pairs = (
            (block.name, case) for block in part.blocks for case in self._cases.get(without_module(block.name), ())
        )
        return any(is_same(name, part.seed, case) for name, case in pairs)

    def _distinct(self, name: str, log: Artefact, part: Regression, several: Collection[str]) -> str:
        """Return a simulation's name, with its module or a number appended if another simulation has the same tests.

        The other simulation may be one that the Makefile runs at other times.
        """
        modules = {block.name.rpartition(".")[0] for block in part.blocks} - {""} or modules_of(part)
        if len(modules) == 1 and part.blocks:
            (module,) = modules
            is_alike = any(without_module(block.name) in several for block in part.blocks)
            if is_alike or self._parts.has_alike(name, module, self._parts.make.makefile(log, [log], part=part)):
                name = f"{name}::{clean(module)}"
        taken = {result.nodeid for result in self._run.results}
        own = {f"{name}::{each}" for block in part.blocks for each in (block.name, without_module(block.name))}
        if own and name in self._run.names and taken.isdisjoint(own):
            return name
        return unique_name(name, self._run.names)

    def _as_named(self, outcome: SimulationOutcome, named: NamedRun, log: Artefact) -> SimulationOutcome:
        """Return the outcome of a log, with the seed, simulator and command of the run that the log identifies."""
        simulator = named.simulator or outcome.simulator
        command = command_of(named, named.folder or log.path.parent, self._parts.root) if log.lasting else None
        failures = (
            replace(
                failure if self._parts.has_class(failure) or not named.is_cut_short else _cut_short(failure),
                seed=named.seed,
                seeded=True,
                simulator=simulator.name if simulator else None,
                command=command,
            )
            for failure in outcome.failures
        )
        return replace(outcome, failures=tuple(failures), simulator=simulator)


def is_same(name: str, seed: str | None, case: Case) -> bool:
    """Return whether a test in a log may be the test of the same name in a results file.

    They are different tests if their modules or seeds are known to differ.
    """
    if case.seed is not None and seed is not None and case.seed != seed:
        return False
    module = name.rpartition(".")[0].rpartition(".")[2]
    return not module or not (case.of_cocotb or case.seed) or module == case.classname.rpartition(".")[2]


def _named(log: Artefact, read: ReadLog) -> NamedRun | None:
    """Return the run that a log or FuseSoC's files beside the log identify; None if neither identifies one."""
    if not read.is_single:
        return None
    named = read.named
    of_core = fusesoc.run_of(log.path)
    if of_core is None or named is None:
        return of_core or named
    test = f"{of_core.test}::{named.test.rpartition('::')[2]}"
    facts = replace(of_core, test=test, seed=named.seed or of_core.seed, is_cut_short=named.is_cut_short)
    return replace(facts, simulator=named.simulator or of_core.simulator)


def ended_without_tests(part: Regression, parts: Iterable[Regression]) -> bool:
    """Return whether a simulation ended before its first test, and no other one in the log ran the same test modules.

    If another simulation ran these modules, they may have been repaired in between. If make stopped, the answer is
    False, because the part then counts as a failed build.
    """
    if part.blocks or part.finished or part.seed is None or _is_stopped(part):
        return False
    modules = modules_of(part)
    return bool(modules) and all(modules.isdisjoint(modules_of(other)) for other in parts if other.blocks)


def _is_stopped(part: Regression) -> bool:
    """Return whether make stopped outside the tests of a simulation."""
    return any(STOPPED.match(line) for _, line in (*part.preamble, *part.rest))


def _in_several_modules(parts: Iterable[Regression]) -> frozenset[str]:
    """Return the names of tests (without their modules) that occur in several modules."""
    counts = Counter(map(without_module, {block.name for part in parts for block in part.blocks}))
    return frozenset(name for name, count in counts.items() if count > 1)


def _by_name(cases: Iterable[Case]) -> Mapping[str, Sequence[Case]]:
    """Map the names of tests, without their modules, to their cases in results files."""
    found: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        found[without_module(case.name)].append(case)
    return found


def _cut_short(failure: Failure) -> Failure:
    """Return a failure whose message says that its log was cut off."""
    return replace(failure, message=CUT_LOG, excerpts=(Excerpt(source="run", lines=((1, CUT_LOG),)), *failure.excerpts))
