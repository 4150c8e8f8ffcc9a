"""`dvwiki sections`: lists the sections that each role may write, and proposes a new section."""

from __future__ import annotations

import argparse

from msgspec import to_builtins

from pytest_dvwiki.cli.place import add_place
from pytest_dvwiki.cli.store import add_store, answer, print_json, store_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    add_store(parser, writes=False)
    propose = actions.add_parser("propose", help="propose a section; it takes effect when a person accepts it")
    propose.add_argument(
        "name", help="the section: specs/axi/*, bugs/*#Heading, or a file next to the category folders"
    )
    propose.add_argument(
        "--mode", required=True, choices=("snapshot", "log"), help="snapshot: replaced; log: appended to"
    )
    propose.add_argument(
        "--writable-by", required=True, nargs="+", metavar="ROLE", help="roles of schema.yaml that may write it"
    )
    propose.add_argument("--reason", required=True, help="what the section is for")
    propose.add_argument(
        "--title", default="", help="title of the section; required for a file next to the category folders"
    )
    propose.add_argument("--description", default="", help="one line about the section's content")
    propose.add_argument(
        "--read-cap", type=int, default=4, metavar="N", help="maximum number of reads in a turn (default %(default)s)"
    )
    propose.add_argument("--role", default="agent", help="the role that proposes it (default: %(default)s)")
    propose.add_argument("--format", choices=("text", "json"), default=argparse.SUPPRESS, help="output format")
    add_place(propose, argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Print the sections, or propose one.

    Returns:
        1 if the proposal was refused.
    """
    store = store_of(args)
    if args.action == "propose":
        outcome = store.create_section(
            args.name,
            mode=args.mode,
            writable_by=args.writable_by,
            reason=args.reason,
            title=args.title,
            description=args.description,
            read_cap=args.read_cap,
        )
        return answer(args, outcome, f"{outcome.address}: waits for review")
    schema = store.schema
    if args.format == "json":
        sections = [{**to_builtins(section), "address": str(section.address)} for section in schema.sections]
        print_json({"sections": sections, "pipeline": schema.pipeline, "max_steps": schema.max_steps})
        return 0
    for section in schema.sections:
        about = ": ".join(filter(None, (section.title, section.description)))
        writers = ", ".join(section.writable_by) or "nobody"
        shown = f"{section.address}  {section.mode}, written by {writers}, {section.read_cap} reads in a turn"
        print(shown, *([f"  {about}"] if about else []), sep="\n")
    if schema.pipeline:
        print(f"handoffs: {' -> '.join(schema.pipeline)}, at most {schema.max_steps} for a task")
    return 0
