"""`dvwiki merge`: merges two bug pages that describe the same cause, or, with `--undo`, separates two causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.cli.manual_record import required_text
from pytest_dvwiki.cli.place import add_place, layout_of, require_wiki, shown
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.page_summary import PageSummary

_LONGEST = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("kept", metavar="KEPT", help="the page to keep: its name, path or fingerprint")
    parser.add_argument("other", metavar="OTHER", help="the page to merge into KEPT; it then refers to KEPT")
    parser.add_argument("--reason", help="one sentence on why they are, or are not, the same cause")
    parser.add_argument(
        "--undo",
        action="store_true",
        help="separate them: they are two causes, and no later merge or record joins them again",
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Merge two pages, and print the new number of runs of the remaining page.

    Returns:
        1 if a page was left alone.
    """
    from pytest_dvwiki.upkeep.lookup import page_named  # noqa: PLC0415 (YAML and the caches load with these)
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415
    from pytest_dvwiki.wiki.text.markdown import one_line  # noqa: PLC0415
    from pytest_dvwiki.wiki.writing.build import merge  # noqa: PLC0415

    layout = require_wiki(layout_of(args))
    reason = None
    if args.reason is not None:
        reason = one_line(
            required_text(args.reason, "--reason", "say why they have, or do not have, the same cause"), _LONGEST
        )
    if args.undo:
        return _undo(args, layout, reason)
    with WikiHistory(layout) as history:
        kept, other = (page_named(history.page_cache, name) for name in (args.kept, args.other))
    done = merge(layout, kept.path, other.path, reason)
    for path, why in done.refused:
        print(f"{shown(layout.wiki / path)} was left alone: {why}")
    if not done.changed:
        print(f"{other.path} is already superseded by {kept.path}")
        return 1 if done.refused else 0
    with WikiHistory(layout) as history:
        page = history.page_cache.get(kept.path) or kept
    print(f"{other.path} is superseded by {kept.path}, which counts {_counted(kept, other, page)}")
    kinds = [f"{each.text('error_class')} / {each.text('failure_subtype')}" for each in (kept, other)]
    if kept.text("error_class") != other.text("error_class"):
        print(
            f"warning: {kept.name} is {kinds[0]} and {other.name} is {kinds[1]}; one cause seldom has two error classes"
        )
    one, two = kept.text("status"), other.text("status")
    if one != two:
        print(f"the status stays {one!r}, as on {kept.name}; on {other.name} it was {two!r}")
    print(f"to undo it: `dvwiki merge --undo {kept.name} {other.name}`")
    return 1 if done.refused else 0


def _undo(args: argparse.Namespace, layout: Layout, reason: str | None) -> int:
    """Separate two causes, and print their new pages.

    Returns:
        1 if a page was left alone.
    """
    from pytest_dvwiki.upkeep.lookup import cause_named  # noqa: PLC0415
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415
    from pytest_dvwiki.wiki.writing.build import undo_merge  # noqa: PLC0415

    with WikiHistory(layout) as history:
        kept, other = (cause_named(history.archive, history.page_cache, name) for name in (args.kept, args.other))
    done = undo_merge(layout, kept, other, reason)
    for path, why in done.refused:
        print(f"{shown(layout.wiki / path)} was left alone: {why}")
    with WikiHistory(layout) as history:
        pages = [next((page.name for page in history.bug_pages(each)), each) for each in (kept, other)]
    print(f"{pages[0]} and {pages[1]} are two causes from now on, as recorded in tasks/verdicts")
    return 1 if done.refused else 0


def _counted(kept: PageSummary, other: PageSummary, page: PageSummary) -> str:
    """Return how many runs the remaining page counts, and why: `5 runs now (3 + 4, both causes in 2)`."""
    runs = [each.metadata.get("hit_count") for each in (kept, other, page)]
    before, taken_in, now = (number if isinstance(number, int) else 0 for number in runs)
    both = max(0, before + taken_in - now)
    shared = f", both causes in {both}" if both else ""
    return f"{count(now, 'run')} now ({before} + {taken_in}{shared})"
