"""`dvwiki list`: lists the pages, without their text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from msgspec import to_builtins

from pytest_dvwiki.cli.store import add_store, entry_line, print_json, store_of

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", nargs="?", help="a category or a sub-folder, such as specs/axi (default: all pages)")
    add_store(parser, writes=False)


def run(args: argparse.Namespace) -> int:
    """Print the pages with a short description of each; return 1 if there are none."""
    entries = store_of(args).list(args.folder)
    if args.format == "json":
        print_json([to_builtins(entry) for entry in entries])
    for entry in entries if args.format == "text" else ():
        print(entry_line(entry), *([f"  {entry.summary}"] if entry.summary and not entry.pages else []), sep="\n")
    if not entries:
        print(f"no page{f' in {args.folder}' if args.folder else ''}", file=sys.stderr)
    return 0 if entries else 1
