"""Tests under cocotb's own pytest plugin that were running when the simulation ended.

These tests report only that they began; the process that ran the simulator knows how they ended.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki.capture.processes.ending import timeout_in
from pytest_dvwiki.model import Command, Excerpt  # needed at run time: msgspec reads the annotations
from pytest_dvwiki.model.sentences import LOGGED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.model import Failure

_PROGRESS = re.compile(
    r"^[.FEsxXRu]{1,200}(?=(?:ERROR|FATAL|WARNING|INFO): |%(?:Error|Warning)| +-?[\d.-]+[munpf]?s |UVM_)"
)
_NO_RESULTS = "no results file was written"
"""Start of the plugin's sentence about a simulation that ended early without an error."""


class UnfinishedTest(Struct, frozen=True):
    """A test that began inside a simulator."""

    nodeid: str
    runner: str
    """Node id of the item that runs the simulator."""
    seed: str | None = None
    sim_time: str | None = None
    """Simulation time at the start of the test."""
    first_line: int | None = None
    """Number of the output line at the start of the test."""
    command: Command | None = None

    @property
    def name(self) -> str:
        """Return the last part of the node id: the test's function with its parameters."""
        return self.nodeid.rpartition("::")[2]


def cut_off(failure: Failure, unfinished: UnfinishedTest) -> Failure:
    """Return the failure of a test that was running when the simulation ended, given the failure of the simulation."""
    excerpts = tuple(one for excerpt in failure.excerpts if (one := _excerpt_of_test(excerpt, unfinished)).lines)
    if timeout := timeout_in(failure.message):
        # pytest-timeout names the runner, but the test hung.
        timed_out = Excerpt(source="run", lines=((1, _with_test(timeout, unfinished)),))
        excerpts = (timed_out, *(excerpt for excerpt in excerpts if excerpt.source not in {"report", "run"}))
    return replace(
        failure,
        nodeid=unfinished.nodeid,
        excerpts=excerpts,
        in_simulator=True,
        started=True,
        seed=unfinished.seed or failure.seed,
        seeded=True,
        sim_time=failure.sim_time or unfinished.sim_time,
        command=None if failure.unreproducible else unfinished.command or failure.command,
    )


def _excerpt_of_test(excerpt: Excerpt, unfinished: UnfinishedTest) -> Excerpt:
    if excerpt.source == "run":
        return replace(excerpt, lines=tuple((number, _with_test(line, unfinished)) for number, line in excerpt.lines))
    if excerpt.source in {"log", "stdout"} and unfinished.first_line is not None:
        first = unfinished.first_line
        return replace(excerpt, lines=without_progress([line for line in excerpt.lines if line[0] >= first]))
    return excerpt


def without_progress(lines: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Return lines of a simulator's output without the progress characters that the inner pytest prints first."""
    return tuple((number, _PROGRESS.sub("", line)) for number, line in lines)


def _with_test(sentence: str, unfinished: UnfinishedTest) -> str:
    """Add the test and a time to a sentence about the end of a simulation, unless the sentence names a test."""
    began = f", which began at {unfinished.sim_time}" if unfinished.sim_time else ""
    if sentence.startswith(_NO_RESULTS):
        return f"simulation ended before {unfinished.name} was done{began}"
    if " while running " in sentence:
        return sentence
    head, separator, time = sentence.partition(LOGGED)
    return f"{head} while running {unfinished.name}{separator + time if time else began}"
