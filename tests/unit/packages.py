"""Installs packages that extend the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def install(folder: Path, entry_points: str, metadata: str = "vip-1.0.dist-info", **modules: str) -> None:
    """Install a package into a folder of packages.

    Args:
        folder: The folder of packages.
        entry_points: Groups in brackets, each with its lines.
        metadata: Path of the metadata in the folder.
        modules: The text of each of its modules.
    """
    place = folder / metadata
    place.mkdir(parents=True)
    name = metadata.partition(".")[0].partition("-")[0]
    for file, text in (
        ("METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"),
        ("PKG-INFO", f"Name: {name}\n"),
        ("entry_points.txt", entry_points),
    ):
        (place / file).write_text(text, encoding="utf-8")
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
