"""`dvwiki import`: imports a wiki with the specification's layout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli.place import add_place, settings_of
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of the other wiki, or of its project")
    parser.add_argument("--dry-run", action="store_true", help="write nothing; list what each page would become")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Import the pages of another wiki, and convert its counters to records.

    Returns:
        1 if a page could not be read or written.
    """
    from pytest_dvwiki.intake import foreign  # noqa: PLC0415
    from pytest_dvwiki.wiki.config import WikiConfig  # noqa: PLC0415

    settings = settings_of(args)
    found, problems = foreign.read_wiki(args.folder, WikiConfig.of(settings))
    for page in found:
        print(f"{page.path}: {page.summary}")
    runs = sum(len(page.records) for page in found)
    outcome = "nothing was written"
    if not args.dry_run:
        new, left_alone = foreign.take_over(found, settings.layout)
        problems += left_alone
        outcome = f"{new} new"
    for problem in problems:
        print(f"dvwiki import: {problem}", file=sys.stderr)
    print(f"{count(len(found), 'page')}, {count(runs, 'run')}: {outcome}")
    return 1 if problems else 0
