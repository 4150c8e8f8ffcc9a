"""`dvwiki append`: adds text to a section of a page, or a line to a file such as `log`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import settings_of
from pytest_dvwiki.cli.store import ADDRESS, add_store, answer, store_of, text_of

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("address", help=ADDRESS)
    parser.add_argument("--text", help="the text (default: standard input)")
    parser.add_argument(
        "--commit",
        help="the commit with the fix that the text proposes; runs that pass with this commit confirm an agent's note",
    )
    add_store(parser)


def run(args: argparse.Namespace) -> int:
    """Add the text; return 1 if the write was refused."""
    from pytest_dvwiki.upkeep.lookup import commit_called  # noqa: PLC0415

    try:
        commit = commit_called(settings_of(args), args.commit) if args.commit else ""
    except LookupError as error:
        raise UsageError(f"--{error}") from error
    outcome = store_of(args).append(args.address, args.text if args.text is not None else text_of("-"), commit)
    version = f", version {outcome.version}" if outcome.version else ""
    return answer(args, outcome, f"{outcome.address}: added{version}")
