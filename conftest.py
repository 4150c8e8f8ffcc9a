"""Settings of all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the caller's settings of the plugin out of the tests, and the plugin's caches out of the home folder."""
    for name in ("CI", "BUILD_NUMBER", "DVWIKI_ENABLED", "DVWIKI_TASK", "DVWIKI_WIKI_DIR", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    cache: Path = tmp_path_factory.getbasetemp().parent / "dvwiki-cache"
    monkeypatch.setenv("DVWIKI_CACHE_DIR", str(cache))
