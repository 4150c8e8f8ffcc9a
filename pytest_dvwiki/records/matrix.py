"""Find matrix axes, such as simulator or Python version, whose value decides whether a cause occurs.

Two values are compared only between runs that agree on all other axes. A value with both failures and passes of a test
rules out its axis.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_dvwiki.records import tables
from pytest_dvwiki.records.kinds import UNKNOWN_SEED
from pytest_dvwiki.records.passes import SuiteOfRun
from pytest_dvwiki.records.targets import ANY, Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.records.archive import Archive

_MOST_RUNS = 50
_MOST_TESTS = 20
_AXES = {"simulator": "", "python": "Python ", "cocotb": "cocotb ", "os": ""}
"""The axes, each with the prefix of its values."""


class Split(NamedTuple):
    """A matrix axis that separates the failures of a cause from passes of the same tests."""

    axis: str
    failed: tuple[str, ...]
    passed: tuple[str, ...]
    commit: str
    seeds: Literal["same", "other", "unknown"]
    """Whether a pass had the seed of a failure; `unknown` if the seeds are not on record."""


class _Result(NamedTuple):
    nodeid: str
    seed: str | None
    values: tuple[str, ...]
    """The value on each of `_AXES`; an empty string for a value that is not on record."""


def splits(archive: Archive, fingerprints: Sequence[str], commit: str) -> tuple[Split, ...]:
    """Return the axes that separate failures of a cause from passes of its tests at the same commit.

    Args:
        archive: The records.
        fingerprints: The current names of the cause.
        commit: The commit of the cause's newest occurrence.
    """
    runs = archive.db.execute(
        "SELECT id, simulators, axes FROM runs WHERE vcs_commit = ? AND NOT dirty ORDER BY moment DESC LIMIT ?",
        (commit, _MOST_RUNS),
    ).fetchall()
    if len(runs) < 2:  # noqa: PLR2004
        return ()
    failed = [each for run in runs for each in _failed(archive, fingerprints, *run)][:_MOST_TESTS]
    passed = [each for run in runs for each in _passed(archive, {result.nodeid for result in failed}, *run)]
    return tuple(filter(None, (_split(place, failed, passed, commit) for place in range(len(_AXES)))))


def _failed(archive: Archive, fingerprints: Sequence[str], run: int, simulators: str, axes: str) -> Iterator[_Result]:
    rows = archive.db.execute(
        "SELECT nodeid, seed, simulator FROM failed WHERE run = ? AND fingerprint IN (SELECT value FROM json_each(?))",
        (run, tables.json_list(fingerprints)),
    )
    for nodeid, seed, simulator in rows.fetchall():
        if simulator != ANY:
            yield _Result(nodeid, seed or None, _values(simulator, simulators, axes))


def _passed(archive: Archive, tests: set[str], run: int, simulators: str, axes: str) -> Iterator[_Result]:
    rows = archive.db.execute("SELECT suite, simulator, config, seed FROM suites WHERE run = ?", (run,))
    for suite, simulator, config, seed in rows.fetchall():
        for nodeid in sorted(tests):
            if archive.passes.passed(SuiteOfRun(run, suite, simulator, config), Target(nodeid, simulator, config)):
                yield _Result(nodeid, seed, _values(simulator, simulators, axes))


def _values(simulator: str, simulators: str, axes: str) -> tuple[str, ...]:
    """Return a value for each axis. The simulator includes its version, unless the run used several versions of it."""
    versions = [each for each in simulators.split(", ") if each == simulator or each.startswith(f"{simulator} ")]
    found = json.loads(axes) | {"simulator": versions[0] if simulator and len(versions) == 1 else simulator}
    return tuple(f"{name}{found[axis]}" if found.get(axis) else "" for axis, name in _AXES.items())


def _split(place: int, failed: Sequence[_Result], passed: Sequence[_Result], commit: str) -> Split | None:
    """Return how one axis separates failures from passes; None if it does not."""

    def rest(result: _Result) -> tuple[str, ...]:
        return result.nodeid, *result.values[:place], *result.values[place + 1 :]

    where = {rest(each) for each in failed}
    comparable = [each for each in passed if rest(each) in where]
    bad, good = ({each.values[place] for each in results} for results in (failed, comparable))
    if not good or "" in bad | good or bad & good:
        return None
    seeds = {each.seed for each in failed}
    with_seeds = {each.seed for each in comparable}
    kind: Literal["same", "other", "unknown"] = "other"
    if seeds & with_seeds or seeds == {None}:  # a failure without a seed has only one stimulus
        kind = "same"
    elif {None, UNKNOWN_SEED} & (seeds | with_seeds):
        kind = "unknown"
    return Split(list(_AXES)[place], tuple(sorted(bad)), tuple(sorted(good)), commit, kind)
