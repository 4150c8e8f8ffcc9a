"""Commands that rerun the failing tests of a cause with the failing seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_dvwiki.records.command import from_anywhere, seed_of, with_seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.model import Command, FailedTest, Occurrence
    from pytest_dvwiki.records.archive import Archive

_MOST_RUNS = 20
"""Maximum number of runs of a cause to search for failing tests, newest first."""


class Rerun(NamedTuple):
    """A failing test with its rerun command."""

    test: FailedTest
    command: Command


def reruns_of(cause: Cause, archive: Archive, since: str) -> list[Rerun]:
    """Return the failing tests of a cause that have a rerun command, shortest first.

    There is one entry per test, seed, simulator and configuration.

    Args:
        cause: The cause.
        archive: The records.
        since: A date; earlier failures are ignored. If empty, the date of the last failure is used.
    """
    found: dict[tuple[str, str | None, str | None, str | None], Rerun] = {}
    rows = cause.history.rows[:_MOST_RUNS] if cause.history is not None else ()
    for row in rows:
        record = archive.record(row.task_id) if row.finished >= (since or rows[0].finished[:10]) else None
        for occurrence in record.occurrences if record is not None else ():
            if archive.called_in(row.task_id, occurrence.fingerprint) == row.fingerprint:
                for each in _commands(occurrence):
                    test = each.test
                    key = (test.nodeid, test.seed, test.simulator, test.config)
                    found[key] = min(each, found.get(key, each), key=_order)
    return sorted(found.values(), key=_order)


def _commands(occurrence: Occurrence) -> Iterator[Rerun]:
    """Yield each failing test that has a rerun command, once per failing seed."""
    for command in filter(None, (occurrence.quickest, occurrence.command)):
        tests = [test for test in occurrence.tests if test.nodeid == command.test]
        is_one_build = len({(test.simulator, test.config) for test in tests}) == 1
        for test in tests:
            if test.seed in {None, seed_of(command)}:
                yield Rerun(test, command)
            elif is_one_build and (other := with_seed(command, test.seed)) is not None:
                yield Rerun(test, other)


def _order(rerun: Rerun) -> tuple[bool, float, str, str]:
    """Return the sort key: shortest test first, unknown durations last."""
    test = rerun.test
    return test.duration_s <= 0, test.duration_s, test.nodeid, test.seed or ""


def as_data(cause: Cause, rerun: Rerun) -> dict[str, Any]:
    """Return a failing test and its command as plain data for JSON."""
    test, command = rerun
    return {
        "cause": cause.name,
        "page": cause.page.path if cause.page is not None else None,
        "label": cause.label,
        "test": test.nodeid,
        "seed": test.seed,
        "simulator": test.simulator,
        "duration_s": test.duration_s or None,
        "line": from_anywhere(command),
        "arguments": command.arguments,
        "variables": command.variables,
        "folder": command.folder,
        "in_repository": command.in_repository,
    }
