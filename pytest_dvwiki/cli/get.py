"""`dvwiki get`: prints a page or part of a page, with its version."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from msgspec import to_builtins

from pytest_dvwiki.cli.place import settings_of
from pytest_dvwiki.cli.store import ADDRESS, add_store, answer, print_json, store_of

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("address", help=ADDRESS)
    parser.add_argument("--budget", type=int, metavar="N", help="maximum number of tokens (default: no limit)")
    add_store(parser, writes=False)


def run(args: argparse.Namespace) -> int:
    """Print the content to standard output; print the version, and what was left out, to standard error.

    Returns:
        1 if there is no such page.
    """
    from pytest_dvwiki.tokens import counting  # noqa: PLC0415
    from pytest_dvwiki.wiki.store_protocol import Written  # noqa: PLC0415

    found = store_of(args).fetch(args.address)
    if isinstance(found, Written):
        return answer(args, found, "")
    if args.budget is not None:
        found = found.shortened(args.budget, counting(settings_of(args).tokenizer))
    if args.format == "json":
        print_json(to_builtins(found))
        return 0
    print(found.content, end="" if found.content.endswith("\n") else "\n")
    leads_to = f"superseded by {found.leads_to}" if found.leads_to else ""
    for note in filter(None, (found.version and f"version {found.version}", found.left_out, leads_to)):
        print(f"dvwiki get: {found.address}: {note}", file=sys.stderr)
    return 0
