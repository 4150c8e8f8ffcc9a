"""`dvwiki context`: prints what the wiki knows, for a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli.place import add_place, layout_of

if TYPE_CHECKING:
    import argparse

_BUDGET = 2000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    from pytest_dvwiki.agent.prompts import CATEGORIES  # noqa: PLC0415 (only for this command)

    parser.add_argument("query", nargs="*", help="words to look for; without any, what is known most")
    parser.add_argument("--test", metavar="NODEID", help="what is known of this test")
    parser.add_argument("--category", choices=CATEGORIES, help="only pages of this category")
    parser.add_argument(
        "--budget", type=int, default=_BUDGET, metavar="N", help="tokens that the text may cost (default %(default)s)"
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the context; nothing where nothing is known."""
    from pytest_dvwiki.agent.prompts import context  # noqa: PLC0415

    text = context(
        layout_of(args),
        query=" ".join(args.query) or None,
        test=args.test,
        category=args.category,
        budget=args.budget,
    )
    if text:
        print(text)
    return 0
