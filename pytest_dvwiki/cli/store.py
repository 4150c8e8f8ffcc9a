"""Helpers for the commands that read and write single pages: the store of a role, input, and output of results."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins

from pytest_dvwiki import reading
from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, require_wiki, settings_of

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.wiki.store import WikiStore
    from pytest_dvwiki.wiki.store_protocol import HandedOff, PageEntry, Written

REFUSED = 1
ADDRESS = "category/page, category/page#Heading for a part of a page, or a section such as log"


def add_store(parser: argparse.ArgumentParser, *, writes: bool = True) -> None:
    """Add the options that are common to all commands for single pages."""
    if writes:
        parser.add_argument(
            "--role", default="agent", help="the role that writes, as defined in schema.yaml (default: %(default)s)"
        )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")
    add_place(parser)


def store_of(args: argparse.Namespace) -> WikiStore:
    """Return a store that refuses what the role in the options may not do (default: the role `agent`)."""
    from pytest_dvwiki.wiki.config import WikiConfig  # noqa: PLC0415 (YAML and the caches load with these)
    from pytest_dvwiki.wiki.store import WikiStore  # noqa: PLC0415

    settings = settings_of(args)
    require_wiki(settings.layout)
    try:
        return WikiStore(WikiConfig.of(settings), getattr(args, "role", "agent"), lock_timeout=settings.lock_timeout)
    except ValueError as error:
        raise UsageError(str(error)) from error


def text_of(name: str) -> str:
    """Return the text of a file, or of standard input for `-`."""
    try:
        return sys.stdin.read() if name == "-" else reading.read_text(Path(name), reading.MOST)
    except OSError as error:
        raise UsageError(f"{name}: {reading.reason(error)}") from error


def print_json(value: object) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, default=str))


def entry_line(entry: PageEntry) -> str:
    """Return the line that shows a page in a list: address, title, status, size, last author and version."""
    if entry.pages:
        return f"{entry.address}  {entry.summary}"
    facts = (entry.status, f"{entry.words} words", entry.last_author and f"by {entry.last_author}", entry.version)
    return f"{entry.address}  {entry.title}  ({', '.join(filter(None, facts))})"


def answer(args: argparse.Namespace, outcome: Written | HandedOff, done: str) -> int:
    """Print the outcome of a write and, after a conflict, the current content.

    Returns:
        0 if the write was made or waits for review, 1 if it was refused.
    """
    is_refused = outcome.status in {"conflict", "denied"}
    if args.format == "json":
        print_json(to_builtins(outcome))
        return REFUSED if is_refused else 0
    content = getattr(outcome, "content", "")
    if content:
        print(content)
    if is_refused:
        print(f"dvwiki {args.command}: {outcome.status}: {outcome.reason}", file=sys.stderr)
        return REFUSED
    print(f"{done}{f'; {outcome.reason}' if outcome.reason else ''}")
    return 0
