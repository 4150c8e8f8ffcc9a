"""Logs that are not in the folder of their run's results files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files.groups import Group
from pytest_dvwiki.capture.files.results import ResultsError, read_results
from pytest_dvwiki.capture.leftovers.lone_logs import is_same
from pytest_dvwiki.capture.leftovers.names import without_module
from pytest_dvwiki.capture.leftovers.run_logs import text_of
from pytest_dvwiki.capture.simulations.regression import read_regressions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.files.results import Case
    from pytest_dvwiki.capture.simulations.regression import Regression

_SEED = re.compile(r"Seeding Python random module with (?:supplied seed )?(\d+)$", re.MULTILINE)
_HEAD = 1 << 18


def with_logs_elsewhere(groups: Iterable[Group], given: Iterable[Artefact] = ()) -> tuple[list[Group], list[Artefact]]:
    """Move each log in a folder without results to the results files that it fits.

    A log fits a results file if it shows a simulation with the same seed and tests. A log with several simulations may
    fit the results files of several folders, for example if a Makefile called make in each folder; these folders are
    then one run. A log is not moved if one of its simulations fits the files of several folders, or if it also shows
    earlier runs of the same tests.

    Args:
        groups: The files of each run: one run per folder, or a single run if a task is given.
        given: Logs that the user passed for results files of any folder.

    Returns:
        The runs, and the given logs that fit no results file.
    """
    runs = [_Run(group) for group in groups]
    files = [artefact for run in runs for artefact in run.group.artefacts]
    with_results = {artefact.folder for artefact in files if artefact.kind == "results"}
    seeds = {case.seed for run in runs for case in run.cases}
    others = [log for log in given if not _move(log, runs, seeds)]
    for log in files:
        if log.kind == "log" and log.folder not in with_results:
            _move(log, runs, seeds)
    return [run.group for run in runs if run.group.artefacts], others


def _move(log: Artefact, runs: Sequence[_Run], seeds: set[str | None]) -> bool:
    """Move a log to the run that it belongs to, and return whether there is one.

    Args:
        log: The log.
        runs: All runs.
        seeds: The seeds in their results files.
    """
    fitting = _fitting(log, runs, seeds)
    if not fitting:
        return False
    for run in runs:
        run.remove(log)
    fitting[0].join(fitting[1:], log)
    return True


class _Run:
    """A run that can take over logs, and the files of other runs."""

    def __init__(self, group: Group) -> None:
        self.group = group
        results = [each for each in group.artefacts if each.kind == "results" and each.runner is None]
        self.folders = {str(each.path.parent) for each in results}
        self.cases = [case for each in results for case in _cases(each)]

    def fits(self, part: Regression) -> bool:
        """Return whether all tests in a part of a log are among the tests of this run."""
        return bool(part.blocks) and all(
            any(without_module(block.name) == case.name and is_same(block.name, part.seed, case) for case in self.cases)
            for block in part.blocks
        )

    def has_folder_of(self, part: Regression) -> bool:
        """Return whether a part of a log shows commands in a folder with results of this run."""
        return not self.folders.isdisjoint(part.folders)

    def remove(self, log: Artefact) -> None:
        """Remove a log from the files of this run."""
        self.group = replace(self.group, artefacts=tuple(each for each in self.group.artefacts if each is not log))

    def join(self, others: Sequence[_Run], log: Artefact) -> None:
        """Add a log to this run, and merge the other runs to which the log belongs into this one."""
        runs = (self, *others)
        self.group = Group(
            log.shown if others else self.group.name,
            tuple(artefact for run in runs for artefact in run.group.artefacts),
            (*(each for run in runs for each in run.group.logs), log),
        )
        self.cases = [case for run in runs for case in run.cases]
        self.folders = {folder for run in runs for folder in run.folders}
        for run in others:
            run.group, run.cases = replace(run.group, artefacts=()), []


def _cases(results: Artefact) -> Sequence[Case]:
    """Return the tests of a results file; none if it cannot be read, or if a test has no seed."""
    try:
        cases = read_results(results.path).cases
    except ResultsError:
        return ()
    return cases if all(case.seed is not None for case in cases) else ()


def _fitting(log: Artefact, runs: Sequence[_Run], seeds: set[str | None]) -> list[_Run]:
    """Return the runs that a log belongs to, in the order of `runs`; empty if it is uncertain which these are."""
    if seeds.isdisjoint(_SEED.findall(reading.start_of(log.path, _HEAD))):
        return []
    try:
        parts = read_regressions(text_of(log))
    except OSError:
        return []
    fitting: list[_Run] = []
    for part in parts:
        of_part = [run for run in runs if run.fits(part)]
        if len(of_part) > 1:
            of_part = [run for run in of_part if run.has_folder_of(part)]
            if len(of_part) != 1:
                return []
        if not of_part and part.repeats(parts):
            return []
        fitting += of_part
    return [run for run in runs if run in fitting]
