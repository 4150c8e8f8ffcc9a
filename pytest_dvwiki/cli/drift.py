"""`dvwiki drift`: reports pages that no longer match the code they cite."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, layout_of, require_wiki
from pytest_dvwiki.cli.transcript import print_event, print_plan

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.llm.configuration import LibrarianSettings
    from pytest_dvwiki.settings import Layout


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--semantic",
        action="store_true",
        help="also ask the model set in the block `librarian:` whether old pages still match the sources they cite;"
        " findings go to the review queue",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the number of tokens and the cost; call no model")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Print citations of missing code, and the findings of the model.

    Returns:
        1 if cited code is missing, or if no model answered.
    """
    from pytest_dvwiki.llm.configuration import LibrarianSettings  # noqa: PLC0415

    settings = LibrarianSettings.of(require_wiki(layout_of(args)))
    gone = _gone(settings.layout)
    return max(gone, _semantic(settings, dry_run=args.dry_run)) if args.semantic else gone


def _gone(layout: Layout) -> int:
    from pytest_dvwiki.upkeep.lint import lint  # noqa: PLC0415 (records load with it)

    found = [each for each in lint(layout, "full") if each.kind in {"drift", "drift_hint"}]
    for each in found:
        print(f"{each.page}:{each.line}: {each.text}{' (a guess)' if each.is_warning else ''}")
    return int(any(not each.is_warning for each in found))


def _semantic(settings: LibrarianSettings, *, dry_run: bool) -> int:
    from pytest_dvwiki.librarian.semantic import check, planned  # noqa: PLC0415
    from pytest_dvwiki.llm.client import connect  # noqa: PLC0415
    from pytest_dvwiki.llm.model import ModelError  # noqa: PLC0415

    if dry_run:
        print_plan(settings, planned(settings))
        return 0
    model = connect(settings, print_event)
    if model is None:
        raise UsageError("--semantic needs a model: set `backends` in the block `librarian:` of .agent/project.yaml")
    try:
        page = None
        for page in check(settings, model):
            for claim, verdict, reason in page.verdicts:
                shown = f"contradicted: {reason}" if verdict == "contradicted" else verdict
                print(f"{page.page}:{claim.line}: {shown}")
            if page.proposals:
                print(f"  for review: {', '.join(page.proposals)}")
        if page is None:
            print("no page is due")
    except ModelError as error:
        print(
            f"dvwiki drift: {error}; finished comparisons are kept; run the command again for the remaining pages",
            file=sys.stderr,
        )
        return 1
    return 0
