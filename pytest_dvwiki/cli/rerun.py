"""`dvwiki rerun`: prints the commands that run the shortest failing test of each cause again, for a job scheduler."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_dvwiki import runs
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.causes import cause_called
from pytest_dvwiki.cli.place import add_place, layout_of, require_content
from pytest_dvwiki.cli.report import add_since, since_of
from pytest_dvwiki.records.command import from_anywhere, masked_note, seed_of, with_seed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.model import Command, FailedTest, Occurrence
    from pytest_dvwiki.records.archive import Archive

_MOST_RUNS = 20
"""Maximum number of newest runs of a cause in which tests are looked for."""


class _Again(NamedTuple):
    """A failing test, and the command that runs it with the seed that failed."""

    test: FailedTest
    command: Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("cause", nargs="?", metavar="PAGE", help="name or path of a page, or the fingerprint of a cause")
    what.add_argument("--new", action="store_true", help="the causes that are new")
    what.add_argument("--regressed", action="store_true", help="the causes that came back")
    parser.add_argument("--per-cause", type=int, default=1, metavar="N", help="number of tests of each cause (1)")
    parser.add_argument(
        "--format", choices=("lines", "json"), default="lines", help="one command on each line, or JSON"
    )
    add_since(parser)
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Print the commands; causes without one are named on the error output.

    Returns:
        1 if a cause has no command that can be run as it stands.
    """
    from pytest_dvwiki.report.attention import ProjectData  # noqa: PLC0415  # the wiki loads with it

    if args.per_cause < 1:
        raise UsageError(f"--per-cause {args.per_cause}: give 1 or more")
    layout = layout_of(args)
    require_content(layout)
    name = cause_called(layout, args.cause)[0] if args.cause else None
    rows: list[dict[str, Any]] = []
    missing = 0
    with ProjectData(layout) as sources:
        if name is not None:
            found = sources.history.cause(name)
            causes, since = ([found] if found is not None else []), ""
        else:
            attention = sources.attention(runs.today(), since_of(args))
            causes = [each.cause for each in attention.of("NEW" if args.new else "REGRESSED")]
            since = attention.since.isoformat()
        for cause in causes:
            tests = sorted(_tests(cause, sources.history.archive, since), key=_order)[: args.per_cause]
            usable = [each for each in tests if not masked_note(each.command)]
            if not usable:
                missing += 1
                why = next((masked_note(each.command) for each in tests), cause.occurrence.unreproducible)
                print(f"{_name(cause)}: no command: {why or 'none is on record'}", file=sys.stderr)
            rows += [_row(cause, each) for each in usable]
    if args.format == "json":
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(row["line"])
    return 1 if missing else 0


def _tests(cause: Cause, archive: Archive, since: str) -> Iterable[_Again]:
    """Return the failing tests of a cause with a command, in its runs since a day, each test and seed once.

    Without a day, the runs of the day on which it failed last count.
    """
    found: dict[tuple[str, str | None, str | None, str | None], _Again] = {}
    rows = cause.history.rows[:_MOST_RUNS] if cause.history is not None else ()
    for row in rows:
        record = archive.record(row.task_id) if row.finished >= (since or rows[0].finished[:10]) else None
        for occurrence in record.occurrences if record is not None else ():
            if archive.called_in(row.task_id, occurrence.fingerprint) == row.fingerprint:
                for each in _commands(occurrence):
                    test = each.test
                    key = (test.nodeid, test.seed, test.simulator, test.config)
                    found[key] = min(each, found.get(key, each), key=_order)
    return found.values()


def _commands(occurrence: Occurrence) -> Iterator[_Again]:
    """Yield the failing tests of which the command is known: a test runs again with each seed that failed."""
    for command in filter(None, (occurrence.quickest, occurrence.command)):
        tests = [test for test in occurrence.tests if test.nodeid == command.test]
        is_one_build = len({(test.simulator, test.config) for test in tests}) == 1
        for test in tests:
            if test.seed in {None, seed_of(command)}:
                yield _Again(test, command)
            elif is_one_build and (other := with_seed(command, test.seed)) is not None:
                yield _Again(test, other)


def _order(each: _Again) -> tuple[bool, float, str, str]:
    """Return the sort key: the shortest test first, tests of unknown duration last."""
    test = each.test
    return test.duration_s <= 0, test.duration_s, test.nodeid, test.seed or ""


def _name(cause: Cause) -> str:
    return cause.page.path if cause.page is not None else cause.name


def _row(cause: Cause, each: _Again) -> dict[str, Any]:
    test, command = each
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
