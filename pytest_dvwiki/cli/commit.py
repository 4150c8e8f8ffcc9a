"""`dvwiki commit`: replaces a page or part of a page, or creates a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli.store import ADDRESS, add_store, answer, store_of, text_of

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("address", help=ADDRESS)
    parser.add_argument(
        "file", nargs="?", default="-", help="file with the complete new content (default: standard input)"
    )
    parser.add_argument(
        "--version",
        default="",
        metavar="VERSION",
        help="the version that `dvwiki get` printed; without it, a new page is created",
    )
    add_store(parser)


def run(args: argparse.Namespace) -> int:
    """Write the content, unless somebody has changed the page since the given version.

    Returns:
        1 if the write was refused. The reason is printed; after a conflict, the current content is printed, too.
    """
    outcome = store_of(args).commit(args.address, text_of(args.file), args.version)
    version = f", version {outcome.version}" if outcome.version else ""
    return answer(args, outcome, f"{outcome.address}: {'waits for review' if outcome.proposal else 'written'}{version}")
