"""`dvwiki rerun`: prints the commands that rerun the shortest failing test of each cause, for a job scheduler."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from pytest_dvwiki import runs
from pytest_dvwiki.causes.again import as_data, reruns_of
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.causes import cause_called
from pytest_dvwiki.cli.place import add_place, layout_of, require_content
from pytest_dvwiki.cli.report import add_since, since_of
from pytest_dvwiki.records.command import masked_note

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.causes.cause import Cause


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("cause", nargs="?", metavar="PAGE", help="name or path of a page, or the fingerprint of a cause")
    what.add_argument("--new", action="store_true", help="all new causes")
    what.add_argument("--regressed", action="store_true", help="all regressed causes")
    parser.add_argument(
        "--per-cause", type=int, default=1, metavar="N", help="number of tests for each cause (default: 1)"
    )
    parser.add_argument("--format", choices=("lines", "json"), default="lines", help="one command per line, or JSON")
    add_since(parser)
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Print the commands; causes without a command are reported on standard error.

    Returns:
        1 if a cause has no command that can be run as recorded.
    """
    from pytest_dvwiki.report.attention import ProjectData  # noqa: PLC0415  # the wiki loads with it

    if args.per_cause < 1:
        raise UsageError(f"--per-cause {args.per_cause}: give 1 or more")
    if args.cause and args.since:
        raise UsageError("--since is for --new and --regressed; a single cause is rerun as it last failed")
    layout = require_content(layout_of(args))
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
            tests = reruns_of(cause, sources.history.archive, since)[: args.per_cause]
            usable = [each for each in tests if not masked_note(each.command)]
            if not usable:
                missing += 1
                why = next((masked_note(each.command) for each in tests), cause.occurrence.unreproducible)
                print(f"{_name(cause)}: no command: {why or 'none is on record'}", file=sys.stderr)
            rows += [as_data(cause, each) for each in usable]
    if args.format == "json":
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(row["line"])
    return 1 if missing else 0


def _name(cause: Cause) -> str:
    return cause.page.path if cause.page is not None else cause.name
