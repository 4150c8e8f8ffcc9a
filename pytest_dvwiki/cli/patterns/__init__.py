"""`dvwiki patterns`: lists, explains, checks and proposes patterns.

One module per action, each with `add_arguments(parser)` and `run(args)`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

ACTIONS = {
    "list": ("listing", "show the active patterns, in their order of precedence"),
    "why": ("why", "show which patterns match which lines of a log, and why one of them won"),
    "test": ("test", "check all examples and counterexamples against all patterns, and the project's samples"),
    "propose": ("propose", "propose patterns for recorded failures that no pattern matches"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions, without loading the registry of patterns."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (module, summary) in ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        importlib.import_module(f"{__name__}.{module}").add_arguments(action)


def run(args: argparse.Namespace) -> int:
    """Run the action."""
    module, _ = ACTIONS[args.action]
    return int(importlib.import_module(f"{__name__}.{module}").run(args))
