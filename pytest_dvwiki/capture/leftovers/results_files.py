"""Results files of an earlier run; one that cocotb wrote is one simulation, and is read together with its log."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files.results import EmptyResultsError, ResultsError, read_results
from pytest_dvwiki.capture.leftovers.names import (
    is_named_after_folder,
    native_runner,
    package_of,
    place_of,
    simulation_name,
)
from pytest_dvwiki.capture.leftovers.run_logs import text_of
from pytest_dvwiki.capture.make.calls import makefiles_read
from pytest_dvwiki.capture.make.makefiles import python_path
from pytest_dvwiki.capture.simulations.cocotb_tests import unique_name
from pytest_dvwiki.capture.simulations.named_runs import NamedRun, command_of
from pytest_dvwiki.capture.simulations.simulation import Simulation, collect
from pytest_dvwiki.capture.simulations.simulation_run import excerpts_of
from pytest_dvwiki.logtext.excerpts import Limits
from pytest_dvwiki.logtext.user_frames import user_frame
from pytest_dvwiki.model import Failure, Result
from pytest_dvwiki.redact import clean, redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.files.results import Case, ResultsFile
    from pytest_dvwiki.capture.leftovers.log_parts import LogParts
    from pytest_dvwiki.capture.leftovers.run_logs import RunLogs
    from pytest_dvwiki.capture.leftovers.totals import Leftovers
    from pytest_dvwiki.model import Command, Source

_OLD_MESSAGE = re.compile(r"Test failed with RANDOM_SEED=")
_SIMULATION_ENDED = "SimFailure"
_ENTRY = Limits(chars=16 * 1024, head=40, tail=60)


class ResultsFiles(Struct, frozen=True):
    """Reads the results files of a run, and adds their tests to the run.

    `archived` and `seen` are the sets `known` and `seen` of `read_leftovers`. If a results file is archived, its logs
    are added to `archived`, too.
    """

    artefacts: Sequence[Artefact]
    run: Leftovers
    logs: RunLogs
    parts: LogParts
    archived: set[Path]
    seen: set[Path]
    shared: dict[Path, tuple[Artefact, list[Artefact | None]]] = field(default_factory=dict)
    """Maps the path of a log to the log and the results files read with it, if the log also has other simulations.

    In the list of files, None stands for a file that does not show where make ran.
    """

    def parsed(self) -> Iterator[tuple[Artefact, ResultsFile | None]]:
        """Yield each readable results file with its content, or with None if it is empty and the run has logs."""
        empty: list[Artefact] = []
        for artefact in self.artefacts:
            try:
                yield artefact, (artefact.runner.read if artefact.runner else read_results)(artefact.path)
            except EmptyResultsError:
                empty.append(artefact)
            except ResultsError as error:
                self.run.problems.append(f"{artefact.shown}: {error.reason}")
        for artefact in empty:
            if self.logs.given or self.logs.found:
                yield artefact, None
            elif len(empty) == len(self.artefacts):
                self.run.problems.append(f"{artefact.shown}: the file is empty; pass the log with --log")
            else:
                self.run.notes.append(f"{artefact.shown}: the file is empty: its simulation wrote no results")

    def add(self, artefact: Artefact, file: ResultsFile | None, own: Sequence[Artefact]) -> None:
        """Add the tests of a results file, unless it is archived.

        `file` is its content, None if it is empty; `own` are the logs of this file alone.
        """
        run = self.run
        # The file of a tool other than cocotb is complete, and a log beside it is from another tool.
        is_whole = file is not None and (artefact.runner is not None or not any(case.of_cocotb for case in file.cases))
        logs = [] if is_whole else self.logs.join(artefact, file, own)
        if artefact.path in self.seen and self.logs.is_followed(artefact):
            self.archived.add(artefact.path)
        # If no results were written, only the logs identify the run.
        identifying = [artefact] if file is not None else logs
        if identifying and all(each.path in self.archived for each in identifying):
            self.archived.update(each.path for each in (artefact, *own, *logs))
            return
        run.times.append(_time(file, artefact))
        cases = file.cases if file is not None else ()
        name = native_runner(cases) or package_of(cases)
        shows_folder = name is None and is_named_after_folder(artefact)
        root, make = self.parts.root, self.parts.make
        makefile = make.makefile(artefact, logs, cases=cases) if not is_whole else None
        if name is None:
            name = self._with_module(simulation_name(artefact), cases, makefile)
        unique = unique_name(name, run.names)
        shows_folder = shows_folder and unique == name
        if file is not None and is_whole:
            self._add_cases(file, artefact)
            return
        if file is not None and not logs and (missing := _only_in_the_log(cases)):
            run.notes.append(f"{artefact.shown}: {missing}; pass the log with --log")
        call = make.call(logs, makefile, frozenset(case.classname for case in cases))
        outcome = collect(
            Simulation(
                nodeid=unique,
                root=root,
                results=artefact.path,
                logs=tuple(map(text_of, logs)),
                failed=file is None,
                interest=self.parts.interest,
                builds=self.parts.builds,
                modules_in=python_path(makefile),
                folder=root / artefact.folder,
                files=makefiles_read(makefile, call),
                call=call,
            )
        )
        for log in logs if outcome.is_one_of_several else ():
            self.shared.setdefault(log.path, (log, []))[1].append(artefact if shows_folder else None)
        run.add(outcome, outcome.failures, artefact)

    def _with_module(self, name: str, cases: Sequence[Case], makefile: Path | None) -> str:
        """Return a simulation's name, with its module appended if another module of the Makefile has the same tests."""
        modules = {case.classname for case in cases}
        module = modules.pop() if len(modules) == 1 else ""
        return f"{name}::{clean(module)}" if self.parts.has_alike(name, module, makefile) else name

    def _add_cases(self, file: ResultsFile, artefact: Artefact) -> None:
        """Add the tests of a results file that a tool other than cocotb wrote."""
        if file.simulator is not None:
            self.run.simulators[file.simulator] = None
        simulator = file.simulator.name if file.simulator is not None else None
        places: dict[tuple[str, str | None], str] = {}
        for case in file.cases:
            where = case.classname, case.file
            if where not in places:
                places[where] = place_of(*where, self.parts.root)
            nodeid = clean("::".join(filter(None, (places[where], case.name))))
            nodeid = nodeid if file.repeats else unique_name(nodeid, self.run.names)
            attempts = enumerate(case.earlier, 1)
            result = Result(
                nodeid=nodeid,
                outcome="flaky" if case.earlier else case.status,
                duration_s=case.duration_s,
                seed=case.seed,
                simulator=simulator,
                earlier=tuple(replace(self._failure_of(each, nodeid), attempts=number) for number, each in attempts),
            )
            self.run.results.append(result)
            if case.status not in {"failed", "error"}:
                continue
            failure = self._failure_of(case, nodeid)
            if artefact.runner is not None:
                failure = self._with_log(failure, case, artefact)
                failure = replace(failure, simulator=simulator, command=self._command(case, nodeid, file, artefact))
            self.run.failures.append(failure)

    def _with_log(self, failure: Failure, case: Case, artefact: Artefact) -> Failure:
        """Return a failure with evidence from the log that its runner lists, if that log shows the cause."""
        log = next((log for name in case.attachments if (log := self.logs.attached(artefact, name)) is not None), None)
        if log is None:
            return failure
        try:
            parts = self.logs.parts(log)
        except OSError as error:
            self.run.notes.append(f"{log.shown}: {reading.reason(error)}")
            return failure
        self.logs.forget(log)
        # If a log has several starts of a simulator, the runner's results do not show which of them failed.
        seen = self.parts.outcome(failure.nodeid, parts[0], log).failures if len(parts) == 1 else ()
        if len(seen) != 1 or not self.parts.has_class(seen[0]):
            return failure
        return replace(
            failure, message=seen[0].message, excerpts=seen[0].excerpts, log=seen[0].log, sim_time=seen[0].sim_time
        )

    def _command(self, case: Case, nodeid: str, file: ResultsFile, artefact: Artefact) -> Command | None:
        if file.folder is None or not artefact.lasting:
            return None
        return command_of(NamedRun(test=nodeid, words=case.command), file.folder, self.parts.root)

    def _failure_of(self, case: Case, nodeid: str) -> Failure:
        # VUnit and others write a word such as `fail` into `type`, not an exception.
        exception = case.type if case.type and case.type[:1].isupper() else None
        first = ": ".join(part for part in (exception or "", case.message) if part)
        entry = "\n".join(part for part in (first, case.text.strip("\n")) if part)
        texts: dict[Source, str] = {"results": entry, "log": case.output}
        interest = self.parts.interest
        return Failure(
            nodeid=nodeid,
            outcome="error" if case.status == "error" else "failed",
            exception=redact(exception) if exception else None,
            message=redact(case.message),
            frame=user_frame(case.text, self.parts.root),
            excerpts=tuple(
                each for source, text in texts.items() for each in excerpts_of(source, text, interest, _ENTRY)
            ),
            seed=case.seed,
            seeded=True,
            duration_s=case.duration_s,
        )


def _only_in_the_log(cases: Sequence[Case]) -> str | None:
    """Return why only the log shows the reason for a failure; None if the results file contains the reason."""
    if any(_OLD_MESSAGE.match(case.message) for case in cases):
        return "cocotb 1.x writes no errors into results files"
    if any(case.type == _SIMULATION_ENDED for case in cases):
        return "the file does not show what ended the simulation"
    return None


def _time(file: ResultsFile | None, artefact: Artefact) -> float:
    """Return the time of a simulation, in seconds since the epoch.

    It is the time in the results file (UTC if it has no zone), or else the time when the file was last modified.
    """
    try:
        moment = datetime.fromisoformat(file.timestamp) if file and file.timestamp else None
    except ValueError:
        moment = None
    if moment is None:
        return artefact.modified
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
