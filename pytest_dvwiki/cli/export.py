"""`dvwiki export`: exports the wiki as a site or in a format for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.cli import UsageError
from pytest_dvwiki.cli.place import add_place, layout_of, require_wiki, shown
from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    import argparse

    from pytest_dvwiki.settings import Layout


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "format",
        choices=("okf", "llms", "site"),
        help="okf: a bundle in the Open Knowledge Format; llms: a list of the pages as llms.txt; site: the report as "
        "a static site",
    )
    parser.add_argument(
        "path",
        type=Path,
        metavar="PATH",
        help="for okf and site, a folder: new, empty, or made by an earlier export; for llms, a file",
    )
    parser.add_argument(
        "--base",
        default="",
        metavar="URL",
        help="for llms: the address of the wiki, for absolute instead of relative links",
    )
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Export the wiki."""
    layout = require_wiki(layout_of(args))
    if args.base and args.format != "llms":
        raise UsageError("--base is for llms only; the links of the other formats are relative")
    export(layout, args.format, args.path.absolute(), args.base)
    return 0


def export(layout: Layout, name: str, path: Path, base: str = "") -> None:
    """Export the wiki in the given format."""
    _WAYS[name](layout, path, base)


def check_format(name: str) -> None:
    """Raise an error for an unknown export format."""
    if name not in _WAYS:
        raise UsageError(f"{name} is not an export format; choose from {', '.join(_WAYS)}")


def _okf(layout: Layout, folder: Path, _: str) -> None:
    from pytest_dvwiki.report.export import okf  # noqa: PLC0415

    made = okf(layout, folder)
    print(f"{shown(folder / 'index.md')}: {made.written} of {count(len(made.keys), 'file')} written")


def _llms(layout: Layout, path: Path, base: str) -> None:
    from pytest_dvwiki.report.export import llms  # noqa: PLC0415

    file = path / "llms.txt" if path.is_dir() else path
    print(f"{shown(file)}: {count(llms(layout, file, base), 'page')}")


def _site(layout: Layout, folder: Path, _: str) -> None:
    from pytest_dvwiki.cli.report import make  # noqa: PLC0415

    make(layout, folder)


_WAYS = {"okf": _okf, "llms": _llms, "site": _site}
