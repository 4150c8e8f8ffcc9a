"""`dvwiki status`: shows open and new causes and expiring waivers on one screen, and who should look at them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from pytest_dvwiki.cli.place import add_place, layout_of, require_content
from pytest_dvwiki.cli.report import add_since, since_of

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_since(parser)
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Print the causes and waivers that need attention."""
    from pytest_dvwiki import runs  # noqa: PLC0415
    from pytest_dvwiki.report import status  # noqa: PLC0415 (git and YAML load with it)
    from pytest_dvwiki.report.attention import ProjectData  # noqa: PLC0415

    layout = require_content(layout_of(args))
    with ProjectData(layout) as sources:
        for line in status.render(
            sources.attention(runs.today(), since_of(args)), width=shutil.get_terminal_size((100, 24)).columns
        ):
            print(line)
    return 0
