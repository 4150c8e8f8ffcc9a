"""`dvwiki compact`: rolls up old records."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, layout_of, require_content
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_place(parser)
    parser.add_argument(
        "--older-than",
        type=int,
        default=90,
        metavar="DAYS",
        help="roll up months that ended more than this many days ago (default: 90); counts stay the same",
    )


def run(args: argparse.Namespace) -> int:
    """Roll up old records, and print what was done.

    Returns:
        1 if a file was left unchanged.
    """
    from pytest_dvwiki.upkeep.compact import compact  # noqa: PLC0415 (YAML loads with it)

    if args.older_than < 0:
        raise UsageError(f"--older-than {args.older_than}: a number of days cannot be negative")
    layout = require_content(layout_of(args))
    done = compact(layout, older_than_days=args.older_than)
    for month, records in done.months.items():
        print(f"tasks/{month}.yaml: {count(records, 'record')} rolled up")
    for reason in done.left:
        print(f"left unchanged: {reason}", file=sys.stderr)
    if not (done.months or done.left):
        print(f"nothing to roll up: no separate records from months that ended more than {args.older_than} days ago")
    return 1 if done.left else 0
