"""`dvwiki spec`: makes specifications of checks, and records clarifications.

One module per action, each with `add_arguments(parser)` and `run(args)`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

ACTIONS = {
    "add": "record a clarification of the specification",
    "generate": "have a model write the specification of checks, and draft the checks",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        importlib.import_module(f"{__name__}.{name}").add_arguments(action)


def run(args: argparse.Namespace) -> int:
    """Run the action."""
    return int(importlib.import_module(f"{__name__}.{args.action}").run(args))
