"""`dvwiki build`: makes all that is derived from the records again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pytest_dvwiki.cli.place import add_place, layout_of, writing

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.wiki.build import BuildResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    add_place(parser)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; list what differs and exit 1 where something does"
    )
    parser.add_argument("--restore", action="store_true", help="make pages again that were deleted")


def run(args: argparse.Namespace) -> int:
    """Builds, or checks.

    Returns:
        1 where `--check` found a difference, or a page could not be edited.
    """
    from pytest_dvwiki.wiki.build import build  # noqa: PLC0415 (YAML and the caches load with it)

    layout = layout_of(args)
    with writing():
        result = build(
            layout, check=args.check, restore=args.restore, progress=_progress if sys.stderr.isatty() else None
        )
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    _report(result, check=args.check)
    return 1 if result.refused or (args.check and result.changed) else 0


def _progress(count: int) -> None:
    print(f"\r{count} records read", end="", file=sys.stderr, flush=True)


def _report(result: BuildResult, *, check: bool) -> None:
    for path in result.changed:
        print(f"{'differs' if check else 'made again'}: {path}")
    for path, reason in result.refused:
        print(f"left alone: {path}: {reason}", file=sys.stderr)
    for problem in result.problems:
        print(f"not counted: {problem}", file=sys.stderr)
    if not result.changed:
        print("the wiki is as its records say")
