"""`dvwiki report`: prints the morning summary, or writes the report as a static site."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, layout_of, require_content, shown

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.settings import Layout


def add_since(parser: argparse.ArgumentParser) -> None:
    """Add the option for the first day of the period to report."""
    parser.add_argument(
        "--since", metavar="DAY", help="the first day of the period to report, YYYY-MM-DD in UTC (default: yesterday)"
    )


def since_of(args: argparse.Namespace) -> date | None:
    """Return the first day of the period to report; None for yesterday."""
    try:
        return date.fromisoformat(args.since) if args.since else None
    except ValueError as error:
        raise UsageError(f"--since {args.since}: give a day such as 2026-12-31") from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument(
        "--html",
        type=Path,
        metavar="DIR",
        help="write or update the report as a static site in this folder; it opens without a server or a network",
    )
    kind.add_argument(
        "--summary",
        action="store_true",
        help="print new, regressed and fixed causes and expiring waivers, and who should look at them",
    )
    parser.add_argument(
        "--format", choices=("markdown", "html"), default="markdown", help="format of the summary; html is for mail"
    )
    add_since(parser)
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Write the site, or print the summary."""
    from pytest_dvwiki import runs  # noqa: PLC0415
    from pytest_dvwiki.report import summary  # noqa: PLC0415 (git and YAML load with it)
    from pytest_dvwiki.report.attention import ProjectData  # noqa: PLC0415

    layout = require_content(layout_of(args))
    if args.html is not None:
        return make(layout, args.html)
    with ProjectData(layout) as sources:
        found = sources.attention(runs.today(), since_of(args))
        print(summary.html(found) if args.format == "html" else summary.markdown(found), end="")
    return 0


def make(layout: Layout, folder: Path) -> int:
    """Write or update the report as a site."""
    from pytest_dvwiki.report.site import make_site  # noqa: PLC0415

    made = make_site(layout, folder)
    print(f"{shown(folder / 'index.html')}: {made.written} of {made.pages} files written in {made.seconds:.1f} s")
    return 0
