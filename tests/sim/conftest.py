"""Folder for the results of sessions, shared by all tests and workers of one run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

collect_ignore = ["projects"]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all xdist workers share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.getenv("PYTEST_XDIST_WORKER") else base) / "sessions"
    folder.mkdir(exist_ok=True)
    return folder
