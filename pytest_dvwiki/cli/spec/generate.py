"""`dvwiki spec generate`: has a model write specifications of checks, and makes draft checks from them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, settings_of, shown
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "items",
        nargs="*",
        type=Path,
        metavar="ITEM",
        help="YAML file that describes what to check: as the file of a check, but without items",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="number of items processed in parallel (default: 1)"
    )
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder for the output (default: the item's folder)")
    parser.add_argument(
        "--debug",
        type=Path,
        metavar="DIR",
        help="folder for the prompts, answers and results of the rounds (default: a hidden folder in the output"
        " folder)",
    )
    parser.add_argument(
        "--clean",
        type=float,
        metavar="DAYS",
        help="first remove the folders of rounds in which nothing was written for this many days",
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Make the specifications.

    Returns:
        0 if all are done, 1 if any needs review, 2 for wrong input, 3 if no model could be reached. With several
        specifications, the highest status.
    """
    from pytest_dvwiki.specs.generate import SpecGenerator  # noqa: PLC0415
    from pytest_dvwiki.specs.rounds import CACHE, clean  # noqa: PLC0415

    generator = SpecGenerator.of(settings_of(args).layout, activity=print, debug=args.debug)
    if args.jobs < 1:
        raise UsageError(f"--jobs {args.jobs}: expected a number, at least 1")
    if args.clean is not None and args.clean < 0:
        raise UsageError(f"--clean {args.clean:g}: expected a number of days, at least 0")
    if args.clean is not None:
        homes = [args.output] if args.output else [item.parent for item in args.items] or [Path()]
        for parent in dict.fromkeys([args.debug] if args.debug else [home / CACHE for home in homes]):
            print(f"removed {count(len(clean(parent, args.clean)), 'round folder')} from {parent}")
    elif not args.items:
        raise UsageError("no ITEM given; give the file of an item, or --clean DAYS")
    results = generator.generate_all(args.items, args.output, jobs=args.jobs)
    for result in results:
        path = result.artifacts.get("itemspec_path")
        print(f"{result.result}{f': {shown(Path(path))}' if path else ''}")
        for problem in result.errors:
            print(f"dvwiki spec: {problem}", file=sys.stderr)
    return max((result.exit_status for result in results), default=0)
