"""`dvwiki check`: runs log checks without pytest."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import EXIT_USAGE

if TYPE_CHECKING:
    import argparse

EXIT_VIOLATED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="checks: *.check.yaml")
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text, or json: one JSON object for each FILE, each on a line of its own",
    )


def run(args: argparse.Namespace) -> int:
    """Run the checks, and print their results.

    Returns:
        0 if all checks pass, 1 if any check fails, 2 if any check cannot be run.
    """
    from pytest_dvwiki.checks import text  # noqa: PLC0415
    from pytest_dvwiki.checks.evaluate import check  # noqa: PLC0415
    from pytest_dvwiki.checks.schema import CheckError  # noqa: PLC0415

    status = 0
    for file in args.files:
        try:
            result = check(file.absolute(), root=Path.cwd(), environment=os.environ)
        except CheckError as error:
            print(f"dvwiki check: {error}", file=sys.stderr)
            status = EXIT_USAGE
            continue
        shown = f"{result.status} {result.file}"
        print(json.dumps(result.as_json()) if args.format == "json" else "\n".join((shown, *text.lines(result))))
        status = max(status, 0 if result.is_right else EXIT_VIOLATED)
    return status
