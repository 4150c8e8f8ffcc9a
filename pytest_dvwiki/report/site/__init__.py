"""The report as a static site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki import runs
from pytest_dvwiki.report.templating import MissingError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.report.site.making import Made
    from pytest_dvwiki.settings import Layout


def make_site(layout: Layout, folder: Path) -> Made:
    """Write or update the site.

    Args:
        layout: The project.
        folder: The site's folder: new, empty, or made by an earlier call.

    Raises:
        MissingError: A package of the extra `report` is not installed.
        WikiError: The folder contains other files, or cannot be written.
    """
    try:
        from pytest_dvwiki.report.site.making import make  # noqa: PLC0415  # imports packages of the extra
    except ModuleNotFoundError as error:
        raise MissingError(error.name) from None
    return make(layout, folder, runs.today())
