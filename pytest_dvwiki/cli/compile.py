"""`dvwiki compile`: makes topics shorter, with a model or by rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, layout_of, require_wiki
from pytest_dvwiki.cli.transcript import print_event, print_plan

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="only these topics (default: all that are due)")
    parser.add_argument("--rules", action="store_true", help="use rules only; call no model")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the number of tokens and the cost; call no model and write nothing",
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Compile the topics that are due.

    Returns:
        1 if a page could not be compiled.
    """
    from pytest_dvwiki.librarian.compile import compile_topics, pages, planned  # noqa: PLC0415 (records load with it)
    from pytest_dvwiki.llm.client import connect  # noqa: PLC0415
    from pytest_dvwiki.llm.configuration import LibrarianSettings  # noqa: PLC0415

    settings = LibrarianSettings.of(require_wiki(layout_of(args)))
    names = [name.removeprefix("topics/").removesuffix(".md") for name in args.topics]
    for page in pages(settings.layout, names):
        if not (settings.layout.wiki / page).is_file():
            known = ", ".join(pages(settings.layout)) or "none"
            raise UsageError(f"there is no page {page}; existing pages: {known}")
    if args.dry_run:
        print_plan(settings, planned(settings, names))
        return 0
    if not pages(settings.layout):
        print("no topic has a page yet")
        return 0
    model = None if args.rules else connect(settings, print_event)
    failed = False
    for outcome in compile_topics(settings, names, model=model):
        print(f"{outcome.page}: {outcome.status}: {outcome.text}")
        for line in outcome.details:
            print(f"  {line}")
        failed |= outcome.status == "failed"
    return int(failed)
