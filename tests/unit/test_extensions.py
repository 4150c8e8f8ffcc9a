"""Packages that extend the project are found; if there are none, not all packages are read."""

from __future__ import annotations

import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki import extensions

from .packages import install

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = "[dvwiki]\nvip = json\n"


@pytest.mark.parametrize("metadata", ["vip-1.0.dist-info", "vip.egg-info", "vip-1.0.egg/EGG-INFO"])
def test_a_package_is_found(metadata: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, ENTRY, metadata)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "vip-1.0.egg"), str(tmp_path)])
    assert [name for name, _ in extensions.extensions(pytest.fail)] == ["vip"]


def test_a_package_in_an_archive_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "vip.zip", "w") as archive:
        archive.writestr("vip-1.0.dist-info/entry_points.txt", ENTRY)
        archive.writestr("vip-1.0.dist-info/METADATA", "Name: vip\nVersion: 1.0\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "vip.zip")])
    assert [name for name, _ in extensions.extensions(pytest.fail)] == ["vip"]
