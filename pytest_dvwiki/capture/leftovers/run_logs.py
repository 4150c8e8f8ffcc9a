"""The logs of one run, matched with its results files."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.capture.files.artefacts import log_at, may_be_log
from pytest_dvwiki.capture.leftovers.names import is_named_after_folder, without_module
from pytest_dvwiki.capture.simulations.regression import read_regressions
from pytest_dvwiki.logtext.logs import LogText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.files.results import ResultsFile
    from pytest_dvwiki.capture.simulations.regression import Regression
    from pytest_dvwiki.model import Interest

_NO_HARDWARE_YET = frozenset({"compile_error", "elaboration_error"})
_NO_TEST_YET = _NO_HARDWARE_YET | {"python_error"}


class RunLogs:
    """The logs of one run, matched with its results files.

    `found` are the logs among the run's files, and `given` the logs for results files without one of their own.
    `classes` returns the error classes of the failures in a part of a log, None for a failure without one.
    """

    def __init__(
        self,
        found: Sequence[Artefact],
        given: Sequence[Artefact],
        *,
        root: Path,
        interest: Interest,
        classes: Callable[[Artefact, Regression], set[str | None]],
    ) -> None:
        self.found = found
        self.given = given
        self._root = root
        self._interest = interest
        self._classes = classes
        self._at = {log.path: log for log in found}
        self._in_folder: defaultdict[str, list[Artefact]] = defaultdict(list)
        for log in found:
            self._in_folder[log.folder].append(log)
        self.claimed = {log.path: log for log in given}
        """Logs that were given for results files, or have been matched with one."""
        self._joined: set[Path] = set()
        """Logs read together with a results file."""
        self._refused: set[Path] = set()
        """Given logs that did not fit a results file."""
        self._earlier: list[tuple[Artefact, Artefact]] = []
        """Pairs of a results file and the log of a later run that ended before its first test."""
        self._logs_in: dict[Path, int] = {}
        """Maps a folder to its number of logs, after they have been counted."""
        self._parts_of: dict[Path, list[Regression]] = {}
        """Maps a log to its regressions, which are cached until the log has been matched with a results file."""
        self._shown: dict[Path, tuple[set[str | None], set[str]]] = {}
        """Maps a log to the seeds and the tests that it shows."""
        self._alike: dict[tuple[str | None, str], str] = {}
        """Maps a folder (None for any) and the extension of a log to the extension of its results file.

        An extension begins at the first dot of a name.
        """

    def parts(self, log: Artefact) -> list[Regression]:
        """Return the regressions in a log, one for each start of a simulator.

        Raises:
            OSError: The log cannot be read.
        """
        if log.path not in self._parts_of:
            self._parts_of[log.path] = read_regressions(text_of(log), self._interest)
        return self._parts_of[log.path]

    def is_alone(self, log: Artefact) -> bool:
        """Return whether no other file in a log's folder is named like a log."""
        folder = log.path.parent
        if folder not in self._logs_in:
            self._logs_in[folder] = sum(may_be_log(path.name) for path in folder.iterdir())
        return self._logs_in[folder] <= 1

    def forget(self, log: Artefact) -> None:
        """Drop the cached regressions of a log to save memory; the log is read again if a results file needs it."""
        self._parts_of.pop(log.path, None)

    def claim(self, logs: Iterable[Artefact]) -> None:
        """Mark logs as taken, so that no other results file gets them."""
        self.claimed.update({log.path: log for log in logs})

    def own(self, artefact: Artefact, file: ResultsFile | None) -> list[Artefact]:
        """Return the logs listed in a results file, else the logs beside it with the same name up to the first dot."""
        named = {name: None for case in (file.cases if file else ()) for name in case.attachments}
        attached = [log for name in named if (log := self.attached(artefact, name)) is not None]
        if attached or artefact.runner is not None:
            return attached
        alike = [log for log in self._beside(artefact) if _stem(log) == _stem(artefact)]
        if file is not None and any(case.of_cocotb for case in file.cases) and not is_named_after_folder(artefact):
            for folder in (artefact.folder, None):
                self._alike.update({(folder, _end(log)): _end(artefact) for log in alike})
        return alike

    def results_like(self, log: Artefact, *, in_its_folder: bool = False) -> Artefact | None:
        """Return the results file that a log would have if it were named like the log.

        The result is None unless another simulation of the run has a log with the same extension, and a results file
        named like that log. With `in_its_folder`, only simulations with files in the log's folder count.
        """
        end = self._alike.get((log.folder, _end(log))) or (
            None if in_its_folder else self._alike.get((None, _end(log)))
        )
        return replace(log, shown=f"{log.shown.removesuffix(_end(log))}{end}") if end is not None else None

    def attached(self, artefact: Artefact, name: str) -> Artefact | None:
        """Return a log that a results file lists as `name`.

        The result is None if the log is missing, or is outside both the root and the results file's folder.
        """
        path = Path(os.path.abspath(artefact.path.parent / name))  # noqa: PTH100  # links keep their names
        wanted = PurePosixPath(name).name
        beside = (log for log in self._beside(artefact) if PurePosixPath(log.shown).name == wanted)
        if log := self._at.get(path) or next(beside, None):
            return log
        near = path.is_relative_to(self._root) or path.is_relative_to(artefact.path.parent)
        return log_at(path, self._root) if artefact.lasting and near else None

    def join(self, artefact: Artefact, file: ResultsFile | None, own: Sequence[Artefact]) -> Sequence[Artefact]:
        """Return the logs to read with a results file: its own logs, else logs that may be from the same run."""
        logs = own or self._shared(artefact, file)
        if file is not None and not own:
            logs = self._without_later(artefact, file, logs)
        self.claim(logs)
        self._joined.update(log.path for log in logs)
        return logs

    def later(self) -> list[tuple[Artefact, Artefact]]:
        """Return pairs of a results file and a log of a later run, if no other results file was read with the log."""
        return [(artefact, log) for artefact, log in self._earlier if log.path not in self._joined]

    def unfit(self) -> list[Artefact]:
        """Return the given logs that fit no results file."""
        return [log for log in self.given if log.path in self._refused and log.path not in self._joined]

    def is_followed(self, artefact: Artefact) -> bool:
        """Return whether one of the logs is from a later run than a results file."""
        return any(earlier is artefact for earlier, _ in self._earlier)

    def _shared(self, artefact: Artefact, file: ResultsFile | None) -> list[Artefact]:
        """Return the logs given for results files, else the newest unclaimed log beside the results file."""
        if given := [log for log in self.given if file is None or self._may_belong(log, file)]:
            return given
        self._refused.update(log.path for log in self.given)
        free = [log for log in self._beside(artefact) if log.path not in self.claimed]
        newest = sorted(free, key=lambda log: (log.modified, log.shown))[-1:]
        return [log for log in newest if file is None or self._may_belong(log, file)]

    def _without_later(self, artefact: Artefact, file: ResultsFile, logs: Sequence[Artefact]) -> list[Artefact]:
        """Return the logs that may be from the run of a results file, and record all others as logs of a later run."""
        later = [log for log in logs if self._ended_before_its_tests(log, file)]
        self._earlier += ((artefact, log) for log in later)
        own = [log for log in logs if log not in later]
        for log in own:
            self.forget(log)
        return own

    def _may_belong(self, log: Artefact, file: ResultsFile) -> bool:
        """Return whether a log may be from the run of a results file; different seeds or tests rule it out."""
        try:
            logged, names = self._shown_by(log)
        except OSError:
            return False
        seeds = {case.seed for case in file.cases} - {None}
        if seeds and logged and seeds.isdisjoint(logged):
            return False
        return not names or not file.cases or any(case.name in names for case in file.cases)

    def _shown_by(self, log: Artefact) -> tuple[set[str | None], set[str]]:
        """Return the seeds and the tests, without their modules, in a log.

        Raises:
            OSError: The log cannot be read.
        """
        if log.path not in self._shown:
            parts = self.parts(log)
            names = {without_module(block.name) for part in parts for block in part.blocks}
            self._shown[log.path] = {part.seed for part in parts} - {None}, names
        return self._shown[log.path]

    def _ended_before_its_tests(self, log: Artefact, file: ResultsFile) -> bool:
        """Return whether a log is from a run that came after a results file and failed before its tests started.

        If make stops before it deletes the results file, the file of the previous run stays in place. A log may also be
        from the same run and explain the failures in the results file. However, failed tests show that a simulation
        ran, so a log with a compile error is from a later run.
        """
        try:
            parts = self.parts(log)
        except OSError:
            return False
        if any(part.blocks or part.finished for part in parts):
            return False
        classes = set().union(*(self._classes(log, part) for part in parts))
        if any(part.seed is not None for part in parts):
            # cocotb draws its seed before it imports the test modules.
            return not classes.isdisjoint(_NO_TEST_YET)
        if any(case.status in {"failed", "error"} for case in file.cases):
            return not any(part.started for part in parts) and not classes.isdisjoint(_NO_HARDWARE_YET)
        return classes != {None} and bool(classes)

    def _beside(self, artefact: Artefact) -> list[Artefact]:
        return self._in_folder[artefact.folder]


def _stem(artefact: Artefact) -> str:
    return PurePosixPath(artefact.shown).name.partition(".")[0]


def _end(artefact: Artefact) -> str:
    """Return the part of a file's name from the first dot on; empty if there is no dot."""
    return PurePosixPath(artefact.shown).name.removeprefix(_stem(artefact))


def text_of(log: Artefact) -> LogText:
    """Return a log as a `LogText`, ready to be read."""
    return LogText(source="log", path=log.path, lasting=log.lasting)
