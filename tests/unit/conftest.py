"""The day on which the unit tests run: pages that grow old would fail them one day."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pytest_dvwiki import runs

from .samples import TODAY


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "time", SimpleNamespace(time=TODAY.timestamp))
