"""Conversion of the artefacts of an earlier run into failures and results, as live capture would produce them.

Each results file is one simulation, read with the log that belongs to it. A log without a results file is read
alone: a cocotb log yields its tests, the log of a UVM run yields the test that it names, and any other log yields one
test named after the log.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files.artefacts import Artefact
from pytest_dvwiki.capture.files.results import EmptyResultsError, ResultsError, ResultsFile, read_results
from pytest_dvwiki.capture.make_folders import STOPPED, builds_in, failed_sources, folders_of, sources_in, stopped_in
from pytest_dvwiki.capture.run_logs import RunLogs, text_of
from pytest_dvwiki.capture.run_names import native_runner, package_of, place_of, simulation_name, undated
from pytest_dvwiki.capture.runners import fusesoc
from pytest_dvwiki.capture.simulations.builds import NOTHING_KNOWN, Builds
from pytest_dvwiki.capture.simulations.cocotb_tests import unique_name
from pytest_dvwiki.capture.simulations.makefiles import HEAD, make_call, values_in_log
from pytest_dvwiki.capture.simulations.named_runs import NamedRun, command_of, named_run
from pytest_dvwiki.capture.simulations.regression import read_regressions
from pytest_dvwiki.capture.simulations.simulation import Simulation, collect
from pytest_dvwiki.capture.simulations.simulation_run import excerpts_of
from pytest_dvwiki.capture.which_makefile import Makefiles, MakeRun
from pytest_dvwiki.logtext.excerpts import Limits
from pytest_dvwiki.logtext.logs import LogText
from pytest_dvwiki.logtext.user_frames import shown_path, user_frame
from pytest_dvwiki.model import Axes, Excerpt, Failure, Result
from pytest_dvwiki.model.sentences import CUT_LOG
from pytest_dvwiki.redact import clean, redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_dvwiki.capture.files.results import Case
    from pytest_dvwiki.capture.simulations.named_runs import PathTemplate
    from pytest_dvwiki.capture.simulations.regression import Regression
    from pytest_dvwiki.capture.simulations.reproduce import Call
    from pytest_dvwiki.capture.simulations.simulation import SimulationOutcome
    from pytest_dvwiki.model import Command, Interest, Simulator, Source

_OLD_MESSAGE = re.compile(r"Test failed with RANDOM_SEED=")
_BEFORE_THE_RUN = frozenset({"compile_error", "elaboration_error", "python_error", "tool_error"})
"""Error classes of failures that stop make before a simulation has begun."""
_ENTRY = Limits(chars=16 * 1024, head=40, tail=60)
_OF_BUILD = 8
"""Number of digits of a configuration that identify the build."""
_RESULTS = "results.xml"
_SIMULATION_ENDED = "SimFailure"
_ROLLUP = "SystemExit"
"""Exception that ends a pytest item whose cocotb tests failed."""


class Leftovers(Struct):
    """The failures and results from the artefacts of one run."""

    failures: list[Failure] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    simulators: dict[Simulator, None] = field(default_factory=dict)
    without_tests: int = 0
    """Number of results for logs that name no test and show no failure."""
    axes: Axes = field(default_factory=Axes)
    """Axes (versions of Python and cocotb) from the first log that shows any."""
    times: list[float] = field(default_factory=list)
    """Times of the run's simulations, seconds since the epoch."""
    problems: list[str] = field(default_factory=list)
    """One line for each file that cannot be read, beginning with its name; a run with problems is incomplete."""
    notes: list[str] = field(default_factory=list)
    """Notes for the user; unlike problems, they do not make the run incomplete."""
    sources: list[Artefact] = field(default_factory=list)
    """The files from which the failures and results were read."""


class ReadLog(Struct, frozen=True):
    """The content of one log, read without other files."""

    parts: list[Regression]
    """The cocotb regressions in the log, one for each start of a simulator."""
    named: NamedRun | None = None
    """The run that the log names, if `is_single`."""
    stopped: tuple[tuple[str, str], ...] = ()
    """The folders in which make stopped, each with what make logged in that folder."""

    @property
    def is_single(self) -> bool:
        """Tell whether the log is from one run without cocotb."""
        part = self.parts[0]
        return len(self.parts) == 1 and not (part.blocks or part.started or part.cocotb)


def read_log(log: Artefact, interest: Interest, templates: Sequence[PathTemplate]) -> ReadLog:
    """Read a log that has no results file.

    Args:
        log: The log.
        interest: Decides which lines of a long log to keep.
        templates: Templates that find test and seed in the path of a log.

    Raises:
        OSError: The log cannot be read.
    """
    return _read_log(log, read_regressions(text_of(log), interest), templates)


def _read_log(log: Artefact, parts: list[Regression], templates: Sequence[PathTemplate]) -> ReadLog:
    read = ReadLog(parts, stopped=tuple(stopped_in(log.path)))
    return replace(read, named=named_run(text_of(log), undated(log.shown), templates)) if read.is_single else read


def read_leftovers(
    artefacts: Sequence[Artefact],
    *,
    logs: Sequence[Artefact] = (),
    root: Path,
    interest: Interest,
    names: Callable[[str], str | None],
    known: Iterable[Path] = (),
    seen: Iterable[Path] = (),
    builds: Builds | None = None,
    templates: Sequence[PathTemplate] = (),
    read_logs: Callable[[Sequence[Artefact]], Iterator[ReadLog | OSError]] | None = None,
) -> Leftovers:
    """Read the artefacts of one run.

    Args:
        artefacts: The run's files.
        logs: Logs for the results files that have no log of their own.
        root: Folder that paths are shown relative to.
        interest: Decides which lines of a long text to keep.
        names: Returns the class of the failure in a text, None if there is none; used for logs without tests.
        known: Files whose content is archived; they serve only to match results files with their logs.
        seen: Files whose content is on record for an earlier run. A results file among them is skipped if a log shows
            that a later run left it in place.
        builds: The latest build of each place, for a log that shows only the run; None if no earlier builds are known.
        templates: Templates that find test and seed in the path of a log.
        read_logs: Yields for each given log what `read_log` returns or raises; if None, the logs are read here.
    """
    return _RunReader(
        artefacts,
        logs,
        root=root,
        interest=interest,
        names=names,
        known=set(known),
        seen=set(seen),
        builds=builds or Builds(None),
        templates=templates,
        read_logs=read_logs,
    ).read()


class _RunReader:
    """Reads the artefacts of one run.

    This class is long because results files, logs without a results file, and files that runners name all add to the
    same tests, names and notes.
    """

    def __init__(
        self,
        artefacts: Sequence[Artefact],
        logs: Sequence[Artefact],
        *,
        root: Path,
        interest: Interest,
        names: Callable[[str], str | None],
        known: set[Path],
        seen: set[Path],
        builds: Builds,
        templates: Sequence[PathTemplate],
        read_logs: Callable[[Sequence[Artefact]], Iterator[ReadLog | OSError]] | None,
    ) -> None:
        self._results = [artefact for artefact in artefacts if artefact.kind == "results"]
        self._logs = RunLogs(
            [artefact for artefact in artefacts if artefact.kind == "log"],
            logs,
            root=root,
            interest=interest,
            classes=lambda log, part: set(map(self._class, self._collected(log.shown, part, log).failures)),
        )
        self._root = root
        self._interest = interest
        self._class_of = names
        self._archived = known
        self._seen = seen
        self._builds = builds
        self._templates = templates
        self._read_logs = read_logs or self._read_here
        self._names: set[str] = set()
        self._shared: dict[Path, Artefact] = {}
        """Logs that belong to a results file, but also hold tests of other simulations."""
        self._calls: dict[tuple[object, ...], Call | None] = {}
        self._folders_of = functools.cache(folders_of)
        self._which = Makefiles(root)
        self._run = Leftovers()

    def read(self) -> Leftovers:
        run = self._run
        parsed = list(self._parsed())
        own = {artefact.path: self._logs.own(artefact, file) for artefact, file in parsed}
        self._logs.claim(log for found in own.values() for log in found)
        for artefact, file in parsed:
            self._take_results(artefact, file, own[artefact.path])
        cases = _by_name(case for _, file in parsed if file is not None for case in file.cases)
        pairs = self._logs.later()
        run.notes += (
            f"{artefact.shown}: from an earlier run than {log.shown}, which shows no test" for artefact, log in pairs
        )
        later = {log.path: log for _, log in pairs if not log.only_beside}
        free = [
            log
            for log in {log.path: log for log in (*self._logs.found, *later.values())}.values()
            if (log.path in later or (log.path not in self._logs.claimed and not log.only_beside))
            and log.path not in self._archived
            and self._has_content(log)
        ]
        for log in self._logs.given:
            self._take_stopped(log, list(stopped_in(log.path)))
        for log, content in zip(free, self._read_logs(free), strict=True):
            self._take_log(log, content, cases)
        for log in self._shared.values():
            parts = self._logs.parts(log)
            tests = [block.name for part in parts for block in part.blocks]
            if len(tests) == len(set(tests)):  # otherwise some of its simulations may belong to an earlier run
                self._take_log(log, ReadLog([part for part in parts if part.blocks]), cases)
                self._take_failed_builds(log, parts)
        self._drop_rollups()
        # A build that failed names its simulator without the version.
        versions = {one.name for one in run.simulators if one.version}
        run.simulators = {one: None for one in run.simulators if one.version or one.name not in versions}
        logs = [log for log in self._logs.found if not log.only_beside or log.path in self._logs.claimed]
        read = (*self._results, *logs, *self._logs.claimed.values(), *later.values())
        sources = {source.path: source for source in read}
        run.sources = sorted(
            (source for path, source in sources.items() if path not in self._archived), key=lambda source: source.shown
        )
        run.times = run.times or [source.modified for source in run.sources]
        return run

    # Results files

    def _parsed(self) -> Iterator[tuple[Artefact, ResultsFile | None]]:
        """Yield each readable results file with its content; None as content if it is empty and the run has logs."""
        empty: list[Artefact] = []
        for artefact in self._results:
            try:
                yield artefact, (artefact.runner.read if artefact.runner else read_results)(artefact.path)
            except EmptyResultsError:
                empty.append(artefact)
            except ResultsError as error:
                self._run.problems.append(f"{artefact.shown}: {error.reason}")
        for artefact in empty:
            if self._logs.given or self._logs.found:
                yield artefact, None
            elif len(empty) == len(self._results):
                self._run.problems.append(f"{artefact.shown}: the file is empty; give its log with --log")
            else:
                self._run.notes.append(f"{artefact.shown}: the file is empty: its simulation wrote no results")

    def _take_results(self, artefact: Artefact, file: ResultsFile | None, own: Sequence[Artefact]) -> None:
        run = self._run
        # The file of a tool other than cocotb is complete; a log beside it is another tool's.
        is_whole = file is not None and (artefact.runner is not None or not any(case.of_cocotb for case in file.cases))
        logs = [] if is_whole else self._logs.join(artefact, file, own)
        if artefact.path in self._seen and self._logs.is_followed(artefact):
            self._archived.add(artefact.path)
        # If no results were written, only the logs identify the run.
        telling = [artefact] if file is not None else logs
        if telling and all(each.path in self._archived for each in telling):
            self._archived.update(each.path for each in (artefact, *own, *logs))
            return
        run.times.append(_time(file, artefact))
        runner = (native_runner(file.cases) or package_of(file.cases)) if file is not None else None
        name = unique_name(runner or simulation_name(artefact), self._names)
        if file is not None and is_whole:
            self._take_cases(file, artefact)
            return
        if file is not None and not logs and (missing := _only_in_the_log(file.cases)):
            run.notes.append(f"{artefact.shown}: {missing}; give its log with --log")
        makefiles = self._makefiles(artefact, logs, cases=file.cases if file is not None else ())
        outcome = collect(
            Simulation(
                nodeid=name,
                root=self._root,
                results=artefact.path,
                logs=tuple(map(text_of, logs)),
                failed=file is None,
                interest=self._interest,
                builds=self._builds,
                folder=self._root / artefact.folder,
                files=tuple(map(str, makefiles)),
                call=self._call(logs, makefiles, frozenset(case.classname for case in (file.cases if file else ()))),
            )
        )
        self._shared |= {log.path: log for log in logs} if outcome.is_one_of_several else {}
        self._add(outcome, outcome.failures, artefact)

    def _take_cases(self, file: ResultsFile, artefact: Artefact) -> None:
        """Add the tests of a results file that a tool other than cocotb wrote."""
        if file.simulator is not None:
            self._run.simulators[file.simulator] = None
        simulator = file.simulator.name if file.simulator is not None else None
        places: dict[tuple[str, str | None], str] = {}
        for case in file.cases:
            where = case.classname, case.file
            if where not in places:
                places[where] = place_of(*where, self._root)
            nodeid = clean("::".join(filter(None, (places[where], case.name))))
            nodeid = nodeid if file.repeats else unique_name(nodeid, self._names)
            attempts = enumerate(case.earlier, 1)
            result = Result(
                nodeid=nodeid,
                outcome="flaky" if case.earlier else case.status,
                duration_s=case.duration_s,
                seed=case.seed,
                simulator=simulator,
                earlier=tuple(replace(self._failure_of(each, nodeid), attempts=number) for number, each in attempts),
            )
            self._run.results.append(result)
            if case.status not in {"failed", "error"}:
                continue
            failure = self._failure_of(case, nodeid)
            if artefact.runner is not None:
                failure = self._with_log(failure, case, artefact)
                failure = replace(
                    failure,
                    simulator=simulator,
                    command=self._command(case, nodeid, file, artefact),
                )
            self._run.failures.append(failure)

    def _with_log(self, failure: Failure, case: Case, artefact: Artefact) -> Failure:
        """Return a failure with the evidence in the log that its runner names, if that log shows the cause."""
        log = next((log for name in case.attachments if (log := self._logs.attached(artefact, name)) is not None), None)
        if log is None:
            return failure
        try:
            parts = self._logs.parts(log)
        except OSError as error:
            self._run.notes.append(f"{log.shown}: cannot be read: {error.strerror}")
            return failure
        self._logs.forget(log)
        # If a log has several starts of a simulator, the runner does not say which of them failed.
        seen = self._collected(failure.nodeid, parts[0], log).failures if len(parts) == 1 else ()
        if len(seen) != 1 or not self._has_class(seen[0]):
            return failure
        return replace(
            failure, message=seen[0].message, excerpts=seen[0].excerpts, log=seen[0].log, sim_time=seen[0].sim_time
        )

    def _command(self, case: Case, nodeid: str, file: ResultsFile, artefact: Artefact) -> Command | None:
        if file.folder is None or not artefact.lasting:
            return None
        return command_of(NamedRun(test=nodeid, words=case.command), file.folder, self._root)

    def _failure_of(self, case: Case, nodeid: str) -> Failure:
        # VUnit and others write words such as `fail` there instead of an exception.
        exception = case.type if case.type and case.type[:1].isupper() else None
        first = ": ".join(part for part in (exception or "", case.message) if part)
        entry = "\n".join(part for part in (first, case.text.strip("\n")) if part)
        texts: dict[Source, str] = {"results": entry, "log": case.output}
        return Failure(
            nodeid=nodeid,
            outcome="error" if case.status == "error" else "failed",
            exception=redact(exception) if exception else None,
            message=redact(case.message),
            frame=user_frame(case.text, self._root),
            excerpts=tuple(
                each for source, text in texts.items() for each in excerpts_of(source, text, self._interest, _ENTRY)
            ),
            seed=case.seed,
            seeded=True,
            duration_s=case.duration_s,
        )

    # Logs without a results file

    def _has_content(self, log: Artefact) -> bool:
        """Tell whether a log has any bytes, and add a note if it is empty."""
        if log.path.stat().st_size:
            return True
        self._run.notes.append(f"{log.shown}: the log is empty, so nothing is known about its run")
        return False

    def _read_here(self, logs: Sequence[Artefact]) -> Iterator[ReadLog | OSError]:
        for log in logs:
            try:
                yield _read_log(log, self._logs.parts(log), self._templates)
            except OSError as error:
                yield error

    def _take_log(self, log: Artefact, read: ReadLog | OSError, cases: Mapping[str, Sequence[Case]]) -> None:
        """Add the runs in a log without a results file; skip a run that a results file covers."""
        if isinstance(read, OSError):
            self._run.problems.append(f"{log.shown}: cannot be read: {read.strerror}")
            return
        self._logs.forget(log)
        has_others = self._take_stopped(log, read.stopped)
        parts = read.parts
        for part in parts:
            pairs = ((block.name, case) for block in part.blocks for case in cases.get(_test(block.name), ()))
            if any(is_same(name, part.seed, case) for name, case in pairs):
                continue
            named = self._named(log, read)
            unit = None if named else self._unit(log, part)
            if unit and (has_others or self._take_failed_builds(log, [part], least=2)):
                continue
            name = named.test if named else unit or self._name(log, part, is_only=len(parts) == 1)
            outcome = self._collected(name, part, log)
            if named:
                outcome = self._as_named(outcome, named, log)
            failures = [one for one in outcome.failures if one.nodeid != name or self._has_class(one)]
            self._add(outcome, failures, log)
            if not outcome.results and (failures or named or not self._results):
                ended = _of_log(name, outcome, failed=bool(failures), seed=named.seed if named else None)
                # A folder that fails to build counts once, however many logs show it.
                if named or ended not in self._run.results:
                    self._run.results.append(ended)
                    self._run.without_tests += not (failures or named)

    def _name(self, log: Artefact, part: Regression, *, is_only: bool) -> str:
        """Return the name of a simulation without a results file, as its results file would have given it.

        That file would be where make ran or, if that folder is not searched, beside the only log of a folder.

        Args:
            log: The log.
            part: The part of the log that covers this simulation.
            is_only: Whether the log covers no other simulation.
        """
        if not (part.blocks or part.started):
            return unique_name(undated(log.shown), self._names)
        folders = {Path(folder) for folder, _ in part.commands if folder}
        made_in = folders.pop() if len(folders) == 1 else None
        if made_in is not None and made_in.is_relative_to(log.searched or self._root):
            shown = shown_path(str(made_in / _RESULTS), self._root)
        elif is_only and log.lasting and self._logs.is_alone(log):
            shown = f"{log.folder}/{_RESULTS}" if log.folder else _RESULTS
        else:
            return unique_name(undated(log.shown), self._names)
        name = simulation_name(replace(log, shown=shown))
        if name in self._names:
            taken = {result.nodeid for result in self._run.results}
            if taken.isdisjoint(f"{name}::{_test(block.name)}" for block in part.blocks):
                return name
        return unique_name(name, self._names)

    def _take_stopped(self, log: Artefact, stopped: Sequence[tuple[str, str]]) -> bool:
        """Add the builds that a log shows to have failed in other folders, and tell whether there are any.

        A folder that has a results file is left out.
        """
        covered = {log.folder, *(artefact.folder for artefact in self._results)}
        # If the only folder is not searched for results, a later run that passes has its results beside its own log.
        folders = [Path(folder) for folder, _ in stopped]
        if len(folders) == 1 and log.searched is not None and not folders[0].is_relative_to(log.searched):
            return False
        found = False
        for folder, text in stopped:
            if not Path(folder).is_relative_to(self._root):
                continue
            there = self._in_folder(log, Path(folder))
            part = read_regressions(LogText(source="log", text=text), self._interest)[0]
            name = self._unit(there, part)
            if name is None or there.folder in covered:
                continue
            found = True
            outcome = self._collected(name, part, there, [log])
            failures = [failure for failure in outcome.failures if self._has_class(failure)]
            self._add(outcome, failures, there)
            if failures and not outcome.results:
                self._run.results.append(_of_log(name, outcome, failed=True, seed=None))
        return found

    def _in_folder(self, log: Artefact, folder: Path) -> Artefact:
        """Return an artefact for the part of a log about another folder, as if that part were a log in that folder."""
        path = folder / log.path.name
        return Artefact(
            path=path,
            shown=path.relative_to(self._root).as_posix(),
            kind="log",
            modified=log.modified,
            lasting=log.lasting,
        )

    def _take_failed_builds(self, log: Artefact, parts: Sequence[Regression], *, least: int = 1) -> bool:
        """Add the designs of one folder that failed to build, and tell whether there are any.

        A design that another call built is left out: it may have been repaired before that call. A design that its
        commands do not identify counts as failed if no other call compiled its files.

        Args:
            log: The log of the folder.
            parts: The parts of the log.
            least: Minimum number of failed builds in the log; with fewer, nothing is added.
        """
        built = {result.config[:_OF_BUILD] for result in self._run.results if result.config}
        texts = list(builds_in(_outside_tests(parts)))
        if sum(self._class_of(text) is not None for text in texts) < least:
            return False
        failed = [read_regressions(LogText(source="log", text=text), self._interest)[0] for text in texts]
        found = False
        compiled = Counter(command for part in parts for _, command in part.commands)
        compiled -= Counter(command for part in failed for _, command in part.commands)
        seen: set[frozenset[str]] = set()
        for text, part in zip(texts, failed, strict=True):
            makefiles = self._makefiles(log, [log], part=part)
            there = self._in_folder(log, makefiles[0].parent) if makefiles else log
            if (name := self._unit(there, part)) is None:
                continue
            outcome = self._collected(name, part, there, [log], text=text)
            failures = [failure for failure in outcome.failures if self._has_class(failure)]
            if not failures:
                continue
            build = (outcome.config or NOTHING_KNOWN)[:_OF_BUILD]
            # Where the simulator started, the build itself worked, and the simulation ended before its first test.
            if build != NOTHING_KNOWN and not part.started:
                if build in built:
                    continue
                built.add(build)
            elif not part.started:
                sources = failed_sources(text, [command for _, command in part.commands])
                if not sources or sources in seen or any(sources <= sources_in(command) for command in compiled):
                    continue
                seen.add(sources)
            found = True
            self._add(outcome, failures, log)
            self._run.results.append(_of_log(name, outcome, failed=True, seed=None))
        return found

    def _named(self, log: Artefact, read: ReadLog) -> NamedRun | None:
        """Return the test, seed and simulator that a log or the files beside it name."""
        if not read.is_single:
            return None
        named = read.named
        of_core = fusesoc.run_of(log.path)
        if of_core is None or named is None:
            return of_core or named
        test = f"{of_core.test}::{named.test.rpartition('::')[2]}"
        facts = replace(of_core, test=test, seed=named.seed or of_core.seed, is_cut_short=named.is_cut_short)
        return replace(facts, simulator=named.simulator or of_core.simulator)

    def _as_named(self, outcome: SimulationOutcome, named: NamedRun, log: Artefact) -> SimulationOutcome:
        """Return the outcome of a log, with the facts that the log gives about its run."""
        simulator = named.simulator or outcome.simulator
        command = command_of(named, named.folder or log.path.parent, self._root) if log.lasting else None
        failures = (
            replace(
                failure if self._has_class(failure) or not named.is_cut_short else _cut_short(failure),
                seed=named.seed,
                seeded=True,
                simulator=simulator.name if simulator else None,
                command=command,
            )
            for failure in outcome.failures
        )
        return replace(outcome, failures=tuple(failures), simulator=simulator)

    def _collected(
        self,
        name: str,
        part: Regression,
        artefact: Artefact,
        logs: Sequence[Artefact] = (),
        text: str | None = None,
    ) -> SimulationOutcome:
        """Return the outcome from a log without a results file.

        Args:
            name: Name of the simulation.
            part: The part of the log that covers the simulation.
            artefact: The log or, for a part that belongs to another folder, an artefact that stands for this part.
            logs: The log, if `artefact` only stands for a part of it.
            text: The part of the log that shows the simulation's call of make, if the same Makefile was called again.
        """
        logs = logs or [artefact]
        makefiles = self._makefiles(artefact, logs, part=part)
        if text is not None and makefiles:
            call = make_call(makefiles[0], text, self._root)
        else:
            call = self._call(logs, makefiles, _modules_of(part))
        return collect(
            Simulation(
                nodeid=name,
                root=self._root,
                regression=part,
                failed=True,
                interest=self._interest,
                builds=self._builds,
                folder=self._root / artefact.folder,
                files=tuple(map(str, makefiles)),
                modules=tuple(sorted(_modules_of(part))),
                call=call,
            )
        )

    def _unit(self, log: Artefact, part: Regression) -> str | None:
        """Return the folder of a log that shows why no test in the folder could run; None for any other log.

        Once the build works again, the tests have names of their own; the folder links them to this failure.
        """
        lines = [line for _, line in (*part.preamble, *part.rest)]
        is_cocotb = part.started or part.cocotb is not None or any("cocotb" in line for line in lines)
        if part.blocks or part.finished or not (is_cocotb or any(map(STOPPED.match, lines))):
            return None
        error_class = self._class_of("\n".join(lines))
        if error_class is None or not (is_cocotb or error_class in _BEFORE_THE_RUN):
            return None
        return undated(redact(log.folder)) or "."

    def _call(self, logs: Sequence[Artefact], makefiles: Sequence[Path], modules: frozenset[str]) -> Call | None:
        """Return the command of a simulation, from its Makefile; None if there is none.

        Args:
            logs: The logs of the simulation, which may also hold other simulations.
            makefiles: The Makefile of the simulation, in a list; empty if unknown.
            modules: Names of the simulation's test modules, empty if unknown.
        """
        for makefile in makefiles:
            key = makefile, modules, *(log.path for log in logs)  # each log shows the values of its own run
            if key not in self._calls:
                self._calls[key] = make_call(makefile, _head_of(logs), self._root, modules=modules - {""})
            return self._calls[key]
        return None

    def _makefiles(
        self,
        artefact: Artefact,
        logs: Sequence[Artefact],
        *,
        part: Regression | None = None,
        cases: Sequence[Case] = (),
    ) -> list[Path]:
        """Return the Makefile that ran a simulation, in a list; empty if nothing shows which one it was.

        FuseSoC's Makefile only builds, so it is ignored.

        Args:
            artefact: The results file or log of the simulation.
            logs: The logs of the simulation.
            part: The part of the log that covers the simulation, if only this part was read.
            cases: The simulation's tests in the results file.
        """
        if not artefact.lasting or fusesoc.run_in(artefact.path.parent) is not None:
            return []
        log = _head_of(logs)
        commands = part.commands if part is not None else ()
        told = values_in_log("\n".join(command for _, command in commands) or log)
        modules = {*(told.get("COCOTB_TEST_MODULES") or told.get("MODULE") or "").split(",")} - {""}
        top = told.get("COCOTB_TOPLEVEL") or told.get("TOPLEVEL")
        of_cases = {case.classname for case in cases}
        if modules.isdisjoint(of_cases) and of_cases:
            # The log may begin with another simulation.
            modules, top = of_cases, None if modules else top
        of_part = {folder for folder, _ in commands if folder}
        found = self._which.of(
            MakeRun(
                beside=artefact.path.parent,
                modules=frozenset(modules),
                tops=frozenset({top} if top else ()),
                entered=frozenset(of_part or {folder for log in logs for folder in self._folders_of(log.path)}),
                log=log,
            )
        )
        return [found] if found is not None else []

    def _has_class(self, failure: Failure) -> bool:
        return self._class(failure) is not None

    def _class(self, failure: Failure) -> str | None:
        """Return the error class of a failure from its log; None if the log shows no failure."""
        texts = (excerpt.text for excerpt in failure.excerpts if excerpt.source in {"log", "run"})
        return next(filter(None, map(self._class_of, texts)), None)

    # Totals

    def _add(self, outcome: SimulationOutcome, failures: Sequence[Failure], artefact: Artefact) -> None:
        run = self._run
        run.failures += failures
        run.results += outcome.results
        named = {result.nodeid for result in outcome.results}
        if outcome.results or artefact.kind == "results":
            # A simulation that failed outside its tests counts as a test itself.
            run.results += (
                Result(
                    nodeid=failure.nodeid,
                    outcome=failure.outcome,
                    simulator=failure.simulator,
                    config=failure.config,
                )
                for failure in failures
                if failure.nodeid not in named
            )
        if outcome.simulator is not None:
            run.simulators[outcome.simulator] = None
        if run.axes == Axes():
            run.axes = outcome.axes

    def _drop_rollups(self) -> None:
        """Remove the items of a pytest report that only sum up the cocotb tests of the same run."""
        run = self._run
        if not any(failure.in_simulator for failure in run.failures):
            return
        rollups = {
            failure.nodeid
            for failure in run.failures
            if _ROLLUP in {failure.exception, failure.message.partition(":")[0]}
        }
        run.failures = [failure for failure in run.failures if failure.nodeid not in rollups]
        run.results = [result for result in run.results if result.nodeid not in rollups]


def _outside_tests(parts: Iterable[Regression]) -> Iterator[str | None]:
    """Yield the lines of a log that belong to no test, with None after the commands of each simulation with tests."""
    for part in parts:
        yield from (line for _, line in part.preamble)
        if part.blocks:
            yield None
        yield from (line for _, line in part.rest)


def _test(name: str) -> str:
    """Return a cocotb test's own name, without its module."""
    return name.rpartition(".")[2]


def _modules_of(part: Regression) -> frozenset[str]:
    """Return the test modules that a part of a log names; empty if it names none."""
    told = values_in_log("\n".join(command for _, command in part.commands))
    named = (told.get("COCOTB_TEST_MODULES") or told.get("MODULE") or "").split(",")
    return frozenset({*named, *(block.name.rpartition(".")[0] for block in part.blocks)} - {""})


def _head_of(logs: Iterable[Artefact]) -> str:
    """Return the start of each log of a run, joined."""
    return "\n".join(reading.start_of(log.path, HEAD) for log in logs)


def _by_name(cases: Iterable[Case]) -> Mapping[str, Sequence[Case]]:
    """Return the cases of results files by the tests' own names."""
    found: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        found[_test(case.name)].append(case)
    return found


def is_same(name: str, seed: str | None, case: Case) -> bool:
    """Tell whether a test in a log is the test of a results file; it is not if module or seed differ."""
    if case.seed is not None and seed is not None and case.seed != seed:
        return False
    module = name.rpartition(".")[0].rpartition(".")[2]
    return not module or not (case.of_cocotb or case.seed) or module == case.classname.rpartition(".")[2]


def _only_in_the_log(cases: Sequence[Case]) -> str | None:
    """Return why only the log gives the reason for a failure; None if the results file has the reason."""
    if any(_OLD_MESSAGE.match(case.message) for case in cases):
        return "cocotb 1.x writes no errors into results files"
    if any(case.type == _SIMULATION_ENDED for case in cases):
        return "it does not say what ended the simulation"
    return None


def _cut_short(failure: Failure) -> Failure:
    """Return the failure of a run whose log shows neither a cause nor the end of the run."""
    return replace(failure, message=CUT_LOG, excerpts=(Excerpt(source="run", lines=((1, CUT_LOG),)), *failure.excerpts))


def _of_log(name: str, outcome: SimulationOutcome, *, failed: bool, seed: str | None) -> Result:
    """Return the result of a log without cocotb tests, which counts as one test."""
    return Result(
        nodeid=name,
        seed=seed,
        outcome="failed" if failed else "passed",
        simulator=outcome.simulator.name if outcome.simulator is not None else None,
        config=outcome.config,
    )


def _time(file: ResultsFile | None, artefact: Artefact) -> float:
    """Return when a simulation ran; a time without a zone counts as UTC, so that it is the same on every machine."""
    try:
        moment = datetime.fromisoformat(file.timestamp) if file and file.timestamp else None
    except ValueError:
        moment = None
    if moment is None:
        return artefact.modified
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
