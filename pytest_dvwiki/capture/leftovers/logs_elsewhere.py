"""Logs that are not in the folder of their run's results file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files.results import ResultsError, read_results
from pytest_dvwiki.capture.leftovers.lone_logs import is_same
from pytest_dvwiki.capture.leftovers.names import without_module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.files.groups import Group
    from pytest_dvwiki.capture.files.results import Case

_SEED = re.compile(r"Seeding Python random module with (?:supplied seed )?(\d+)$", re.MULTILINE)
_RUNNING = re.compile(r"\brunning (\S+) \(\d+/\d+\)$", re.MULTILINE)
_HEAD = 1 << 18


def with_logs_elsewhere(groups: Sequence[Group]) -> list[Group]:
    """Move each log in a folder without results to the run of the results file that it fits, and return the runs.

    A log fits a results file if it shows one simulation with the same seed and tests. It is moved only if exactly one
    file fits; otherwise it remains a run of its own.
    """
    joined = list(groups)
    waiting = {number: cases for number, group in enumerate(groups) if (cases := _cases(group))}
    if not waiting:
        return joined
    for number, group in enumerate(groups):
        if any(artefact.kind != "log" for artefact in group.artefacts):
            continue
        left = []
        for log in group.artefacts:
            fitting = [each for each, cases in waiting.items() if _fits(log, cases)]
            if len(fitting) == 1:
                target = joined[fitting[0]]
                joined[fitting[0]] = replace(target, logs=(*target.logs, log))
            else:
                left.append(log)
        joined[number] = replace(group, artefacts=tuple(left))
    return [group for group in joined if group.artefacts]


def _cases(group: Group) -> Sequence[Case]:
    """Return the tests of a folder whose only file is a results file; none if any test has no seed.

    Files of other runners are left out.
    """
    if [artefact.kind for artefact in group.artefacts] != ["results"] or group.artefacts[0].runner is not None:
        return ()
    try:
        cases = read_results(group.artefacts[0].path).cases
    except ResultsError:
        return ()
    return cases if all(case.seed is not None for case in cases) else ()


def _fits(log: Artefact, cases: Sequence[Case]) -> bool:
    head = reading.start_of(log.path, _HEAD)
    seeds, names = _SEED.findall(head), _RUNNING.findall(head)
    return (
        len(seeds) == 1
        and bool(names)
        and all(
            any(without_module(name) == case.name and is_same(name, seeds[0], case) for case in cases) for name in names
        )
    )
