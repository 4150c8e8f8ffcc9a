"""A project with a known cause, and its server."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.mcp.server import READ_ONLY, WikiServer
from pytest_dvwiki.mcp.tools import Project
from pytest_dvwiki.settings import resolve
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import layout, occurrence, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    return place


@pytest.fixture
def server(place: Layout) -> Iterator[Callable[..., WikiServer]]:
    """Make a server of the project in a role."""
    with contextlib.ExitStack() as opened:

        def make(role: str = READ_ONLY, *, has_one_caller: bool = True, allow: tuple[Path, ...] = ()) -> WikiServer:
            project = Project(resolve(place.root), allow)
            opened.callback(project.close)
            return WikiServer({"fifo": project}, role, has_one_caller=has_one_caller)

        yield make
