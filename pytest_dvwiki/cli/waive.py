"""`dvwiki waive`: accepts the failures of a cause for a while."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.causes import add_cause, cause_called
from pytest_dvwiki.cli.manual_record import required_text, user_of
from pytest_dvwiki.cli.place import add_place, layout_of, require_content, shown
from pytest_dvwiki.runs import today
from pytest_dvwiki.wiki.page_summary import page_name

if TYPE_CHECKING:
    import argparse

_ADVICE = "give a value; readers of the waiver need it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_cause(parser)
    parser.add_argument("--reason", required=True, help="why the failures are accepted, in one sentence")
    parser.add_argument("--owner", required=True, help="the person or team that has to fix the cause")
    parser.add_argument("--expires", required=True, metavar="DAY", help="the last day of the waiver, YYYY-MM-DD")
    parser.add_argument("--approved-by", metavar="NAME", help="who agreed")
    parser.add_argument("--ticket", help="the ticket: a URL or an id")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Add an entry to the waiver file and a line to the log."""
    from pytest_dvwiki.upkeep.waive import add  # noqa: PLC0415  # YAML loads with it

    layout = require_content(layout_of(args))
    keys = {
        key: required_text(given, f"--{key.replace('_', '-')}", _ADVICE)
        for key in ("reason", "owner", "expires", "approved_by", "ticket")
        if (given := getattr(args, key)) is not None
    }
    keys |= {"expires": _day(args.expires), "added_by": user_of(layout.root), "added": str(today())}
    fingerprint, page = cause_called(layout, args.cause)
    called = page_name(page) if page else fingerprint
    match = {"page": called} if page else {"fingerprint": fingerprint}
    name = add(layout, match, keys, called=called)
    print(f"{called} is waived by {name} until {keys['expires']}, see {shown(layout.waivers)}")
    return 0


def _day(given: str) -> str:
    try:
        day = date.fromisoformat(given)
    except ValueError:
        raise UsageError(f"--expires {given}: give a day such as 2026-12-31") from None
    if day < today():
        raise UsageError(f"--expires {given}: this day has passed; give today or a later day")
    return day.isoformat()
