"""`dvwiki compile`: makes topics shorter, by a model or by rules."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, require_wiki, settings_of, writing
from pytest_dvwiki.cli.transcript import librarian_settings, print_event

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_dvwiki.llm.configuration import LibrarianSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="only these topics (default: all that are due)")
    parser.add_argument("--rules", action="store_true", help="ask no model, and do what rules can")
    parser.add_argument(
        "--dry-run", action="store_true", help="ask nothing, write nothing, and print the tokens and the cost"
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Compile the topics that are due.

    Returns:
        1 if a page could not be compiled.
    """
    from pytest_dvwiki.librarian.compile import compile_topics, pages  # noqa: PLC0415 (records load with it)
    from pytest_dvwiki.llm.client import connect  # noqa: PLC0415

    settings = librarian_settings(settings_of(args))
    require_wiki(settings.layout)
    names = [name.removeprefix("topics/").removesuffix(".md") for name in args.topics]
    for page in pages(settings.layout, names):
        if not (settings.layout.wiki / page).is_file():
            known = ", ".join(pages(settings.layout)) or "none"
            raise UsageError(f"there is no page {page}; there are: {known}")
    if args.dry_run:
        return _dry_run(settings, names)
    model = None if args.rules else connect(settings, print_event)
    failed = False
    with writing():
        for outcome in compile_topics(settings, names, model=model):
            print(f"{outcome.page}: {outcome.status}: {outcome.text}")
            for line in outcome.details:
                print(f"  {line}")
            failed |= outcome.status == "failed"
    return int(failed)


def _dry_run(settings: LibrarianSettings, names: Sequence[str]) -> int:
    """Print what a model would be asked."""
    from pytest_dvwiki.librarian.compile import planned  # noqa: PLC0415

    if not settings.backends:
        print("no model is set up (librarian.backends): rules would compile", file=sys.stderr)
    backend = next(iter(settings.backends), None)
    for page, tokens_in, tokens_out in planned(settings, names):
        cost = backend and backend.cost(tokens_in, tokens_out)
        price = "" if cost is None else f", at most {cost:.4f} at the price of {backend.kind if backend else ''}"
        print(f"{page}: 2 calls at most, about {tokens_in} tokens in, at most {tokens_out} out{price}")
    return 0
