"""`dvwiki handoff`: passes work on to the next role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli.store import add_store, answer, store_of

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("target", help="the next role; it must be later in the pipeline of schema.yaml")
    parser.add_argument("summary", help="summary for the next role")
    parser.add_argument(
        "--task",
        default="",
        metavar="NAME",
        help="what the work is about; the handoffs of each task are counted separately",
    )
    add_store(parser)


def run(args: argparse.Namespace) -> int:
    """Record the handoff, and print which role has the work now; return 1 if the handoff was refused."""
    outcome = store_of(args).handoff(args.target, args.summary, args.task)
    return answer(args, outcome, f"{outcome.by} -> {outcome.to}, handoff {outcome.step} of at most {outcome.max_steps}")
