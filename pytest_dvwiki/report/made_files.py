"""Keeps folders of generated files up to date: writes files that differ, and removes those no longer generated."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.records import WikiError
from pytest_dvwiki.wiki import outside

if TYPE_CHECKING:
    from pathlib import Path


class MadeFiles:
    """Keeps a folder of generated files up to date.

    Args:
        folder: The folder: new, empty, or with the manifest of an earlier call.
        manifest: Name of the file that lists what was generated.

    Raises:
        WikiError: The folder contains other files.
    """

    def __init__(self, folder: Path, manifest: str) -> None:
        self.folder = folder
        self._manifest_file = folder / manifest
        self.keys: dict[str, str] = {}
        self.written = 0
        folder.mkdir(parents=True, exist_ok=True)
        if not self._manifest_file.exists() and any(folder.iterdir()):
            raise WikiError(f"{folder} contains other files; give a new or empty folder")
        self._before = self._manifest()

    def _manifest(self) -> dict[str, str]:
        try:
            found = json.loads(reading.read_bytes(self._manifest_file))
        except (OSError, ValueError):
            # Without a valid manifest, no file counts as up to date.
            return {}
        return found if isinstance(found, dict) else {}

    def is_current(self, path: str, key: str) -> bool:
        """Return whether an earlier call made this page with the same key; if so, keep the page."""
        if self._before.get(path) != key or not (self.folder / path).is_file():
            return False
        self.keys[path] = key
        return True

    def write(self, path: str, text: str, key: str = "") -> None:
        """Write a file if its content differs."""
        data = text.encode("utf-8", "backslashreplace")
        file = self.folder / path
        if not file.is_file() or file.read_bytes() != data:
            self._replace(file, data)
            self.written += 1
        self.keys[path] = key

    def _replace(self, file: Path, data: bytes) -> None:
        """Replace a file atomically. A symlink is replaced; its target is not changed.

        Raises:
            WikiError: The file's folder is a symlink to a location outside this folder.
        """
        file.parent.mkdir(parents=True, exist_ok=True)
        if outside.leads_out(self.folder, file.parent):
            raise WikiError(f"{file.parent} is a symlink to a location outside the folder; remove it")
        # Unlike a record, the file is not synced to the disk: it can be made again.
        temporary = file.with_name(f".{secrets.token_hex(8)}.tmp")
        temporary.write_bytes(data)
        temporary.replace(file)

    def finish(self) -> None:
        """Remove files that only earlier calls generated, and write the manifest."""
        for path in self._before.keys() - self.keys.keys():
            file = self.folder / path
            # The manifest may have been changed by hand, so a path in it may lead out of the folder.
            if not outside.leads_out(self.folder, file.parent):
                file.unlink(missing_ok=True)
        self._replace(self._manifest_file, json.dumps(self.keys, indent=0, sort_keys=True).encode())
