"""Takeover of a killed run: its unfinished tests become failures, with evidence from their spools and logs."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import reading
from pytest_dvwiki.capture.processes import tools
from pytest_dvwiki.capture.processes.ending import FROM_OUTSIDE
from pytest_dvwiki.capture.simulations.builds import Setup
from pytest_dvwiki.capture.simulations.simulation import Simulation, SimulationOutcome, collect
from pytest_dvwiki.capture.simulations.unfinished import cut_off
from pytest_dvwiki.logtext.logs import LogText
from pytest_dvwiki.model import Excerpt, Failure, Result, Run
from pytest_dvwiki.runs import utc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.capture.interrupted.journal import Begin
    from pytest_dvwiki.capture.interrupted.orphans import Orphan
    from pytest_dvwiki.model import Interest, Simulator, Source

_MOST_BYTES = 1 << 30
"""Maximum number of bytes read from the spools and logs of a run."""
_MOST_LOGS = 3
"""Maximum number of logs that are read for an item."""
_STREAMS: tuple[Source, ...] = ("stdout", "stderr")


def run_of(orphan: Orphan, *, root: Path, interest: Interest) -> Run:
    """Return a killed run: the failures that it reported, and a failure for each test that was running.

    The results are those of failed tests, and of tests that a log shows to have ended before the kill. No log outside
    `root` is read.
    """
    reported = tuple(_reported(orphan))
    failures = list(reported)
    known = {failure.nodeid for failure in reported}
    results: dict[str, Result] = {}
    for failure in reported:
        results[failure.nodeid] = _worse(results.get(failure.nodeid), _result(failure))
    simulators: dict[Simulator, None] = {}
    texts = _OwnTexts(orphan, root, _MOST_BYTES)
    for begin in orphan.running:
        outcome = _outcome(begin, root, interest, tuple(texts.of(begin)))
        unfinished = next((unfinished for unfinished in orphan.unfinished if unfinished.runner == begin.nodeid), None)
        failed = outcome.failures or (_cut_short(begin),)
        # Of a native runner, only the failure of its unfinished test counts.
        for failure in failed if unfinished is None else (cut_off(failed[-1], unfinished),):
            if failure.nodeid not in known:
                known.add(failure.nodeid)
                failures.append(failure)
            results.setdefault(failure.nodeid, _result(failure))
        for result in outcome.results:
            results.setdefault(result.nodeid, result)
        if outcome.simulator is not None:
            simulators[outcome.simulator] = None
    return Run(
        task_id=orphan.task_id,
        started=utc(orphan.started),
        finished=utc(orphan.ended),
        failures=tuple(failures),
        results=tuple(results.values()),
        simulators=tuple(simulators),
        vcs=orphan.vcs,
    )


def _result(failure: Failure) -> Result:
    """Return the result of a test that failed."""
    return Result(
        nodeid=failure.nodeid,
        outcome=failure.outcome,
        seed=failure.seed,
        simulator=failure.simulator,
        config=failure.config,
    )


def _worse(known: Result | None, other: Result) -> Result:
    """Return the worse of two results of a test."""
    return other if known is None or (known.outcome, other.outcome) == ("failed", "error") else known


def _outcome(begin: Begin, root: Path, interest: Interest, logs: tuple[LogText, ...]) -> SimulationOutcome:
    return collect(
        Simulation(
            nodeid=begin.nodeid,
            root=root,
            logs=logs,
            started=begin.time,
            cut_short=True,
            simulator=tools.simulator_name(begin.program),
            cocotb=tools.cocotb_version(begin.environment),
            modules=tools.modules(begin.environment),
            seed=tools.seed(begin.environment),
            setup=Setup(simulator=begin.simulator, config=begin.config),
            interest=interest,
            call=begin.call,
        )
    )


def _reported(orphan: Orphan) -> Iterator[Failure]:
    """Yield the failures in the journal.

    A native runner's failure becomes the failure of its unfinished test. If no test is unfinished, and the journal has
    failures of the runner's tests, the runner's own failure is dropped.
    """
    by_runner = {unfinished.runner: unfinished for unfinished in orphan.unfinished}
    runners = {failure.nodeid.rpartition("::")[0] for failure in orphan.failures}
    for failure in orphan.failures:
        if failure.nodeid in by_runner:
            yield cut_off(failure, by_runner[failure.nodeid])
        elif failure.nodeid not in runners:
            yield failure


def _cut_short(begin: Begin) -> Failure:
    sentence = f"run was killed while running {begin.nodeid}"
    return Failure(
        nodeid=begin.nodeid,
        outcome="error",
        message=sentence,
        excerpts=(Excerpt(source="run", lines=((1, sentence),)),),
        unreproducible=FROM_OUTSIDE,
    )


class _OwnTexts(Struct):
    """The spools and logs listed in a run's journal.

    A journal can list any file, but only the run's own files are read: regular files beside the journal or below the
    root that belong to the user who started the run. The total number of bytes is limited; of a file that is too long,
    only the end is read.
    """

    orphan: Orphan
    root: Path
    left: int
    """Number of bytes that may still be read."""

    def of(self, begin: Begin) -> Iterator[LogText]:
        """Yield the spools and logs of an item."""
        folder = self.orphan.folder
        for name, source in zip(begin.spool, _STREAMS, strict=False):
            yield from self._text(source, folder / name, folder)
        for name in begin.opened[:_MOST_LOGS]:
            yield from self._text("log", Path(name), self.root, since=begin.time - 1)

    def _text(self, source: Source, path: Path, folder: Path, since: float = 0.0) -> Iterator[LogText]:
        opened = partial(reading.open_below, folder, owner=self.orphan.owner)
        try:
            with opened(path) as stream:
                status = os.fstat(stream.fileno())
        except OSError:
            return  # deleted, or not the run's own file
        start = max(0, status.st_size - self.left)
        if start < status.st_size and status.st_mtime >= since:
            self.left -= status.st_size - start
            lasting = source == "log" and not start
            yield LogText(source=source, path=path, start=start, lasting=lasting, open=opened)
