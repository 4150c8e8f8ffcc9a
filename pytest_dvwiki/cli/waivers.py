"""`dvwiki waivers`: lists the waivers, with their last matches and their expiry dates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.causes.words import waiver_text
from pytest_dvwiki.cli.place import add_place, layout_of, shown
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.runs import today

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_dvwiki.records.aggregate import Caught
    from pytest_dvwiki.triage.waivers import Waiver


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Print each waiver.

    Returns:
        1 if an entry of the file is invalid or has expired.
    """
    from pytest_dvwiki.records import aggregate  # noqa: PLC0415
    from pytest_dvwiki.triage.waivers import load_waivers  # noqa: PLC0415
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415

    layout = layout_of(args)
    found = load_waivers(layout.waivers)
    with WikiHistory(layout) as history:
        caught = aggregate.caught(history.archive)
    day = today().isoformat()
    for waiver in found.waivers:
        print("\n".join(_lines(waiver, caught.get(waiver.id), day)))
    for problem in found.problems:
        print(problem)
    if not (found.waivers or found.problems):
        print(f"no waivers in {shown(layout.waivers)}")
    return 1 if found.problems or any(waiver.is_expired(day) for waiver in found.waivers) else 0


def _lines(waiver: Waiver, caught: Caught | None, day: str) -> Iterator[str]:
    yield f"{waiver_text(waiver)}{'; EXPIRED, no longer in effect' if waiver.is_expired(day) else ''}"
    yield f"  match   {', '.join(f'{key} {value}' for key, value in waiver.match.items()) or 'nothing'}"
    if caught is None:
        yield "  caught  no recorded failure"
    else:
        tests, causes = count(caught.tests, "test"), count(caught.causes, "cause")
        yield f"  caught  {tests} of {causes}, last on {caught.finished[:10]} in {caught.task_id}"
    added = " ".join(filter(None, (waiver.added, waiver.added_by and f"by {waiver.added_by}")))
    terms = (added and f"added {added}", waiver.approved_by and f"approved by {waiver.approved_by}", waiver.ticket)
    if any(terms):
        yield f"  terms   {', '.join(filter(None, terms))}"
