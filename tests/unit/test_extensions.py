"""Packages that extend the project are found, and an environment without any is told so without reading them all."""

from __future__ import annotations

import subprocess
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


def test_without_any_the_metadata_of_packages_are_not_read(tmp_path: Path) -> None:
    """The library for that takes longer to load than a small log to be named."""
    install(tmp_path, "[console_scripts]\na = b:c\n")
    code = (
        "import sys; from pytest_dvwiki import extensions\n"
        f"sys.path[:] = [{str(tmp_path)!r}, '/nowhere']; sys.meta_path[:] = sys.meta_path[-1:]\n"
        "assert list(extensions.extensions(print)) == []; print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
