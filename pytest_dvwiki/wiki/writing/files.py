"""Writing the files of a wiki, each noted with what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_dvwiki.records import disk
from pytest_dvwiki.records.disk import explained
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.catalogue import is_page
from pytest_dvwiki.wiki.listed import CATEGORIES
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.pages import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.wiki.catalogue import Catalogue


class Files:
    """The files of one wiki; paths are relative to it.

    Args:
        wiki: Its folder.
        catalogue: What its pages say of themselves.
        check: Nothing is written; what would be is noted, and seen by what is made after it.
    """

    def __init__(self, wiki: Path, catalogue: Catalogue, *, check: bool = False) -> None:
        self.created: list[str] = []
        self.updated: list[str] = []
        self.changed: list[str] = []
        self.refused: list[tuple[str, str]] = []
        """Those that were left alone, each with the reason."""
        self.looks_again = False
        """Whether a page may be another one than the catalogue has, since somebody changed it in its place."""
        self._wiki = wiki
        self._catalogue = catalogue
        self._check = check
        self._written: dict[str, bytes] = {}

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        return path in self._written or (self._wiki / path).exists()

    def read(self, path: str) -> bytes:
        """The content of a file.

        Raises:
            WikiError: It cannot be read.
        """
        if path in self._written:
            return self._written[path]
        with explained(self._wiki / path):
            return (self._wiki / path).read_bytes()

    def present(self, path: str) -> bytes | None:
        """The content of a file, None where it is not there."""
        return self.read(path) if self.exists(path) else None

    def create(self, path: str, data: bytes, keys: dict[str, Any], regions: dict[str, str]) -> None:
        """Writes a new page, with the tool's keys and regions."""
        edited = pages.edit(data, keys, regions)
        if isinstance(edited, Refused):
            self.refused.append((path, edited.reason))
        elif self.write(path, edited):
            self.created.append(path)

    def edit(self, path: str, keys: dict[str, Any], regions: dict[str, str]) -> None:
        """Brings the tool's keys and regions of a page up to date."""
        if self.looks_again:
            self._catalogue.look_at((path,))
        data, known = self.read(path), self._catalogue.get(path)
        self.change(path, data, pages.edit(data, keys, regions, known.metadata if known else None))

    def change(self, path: str, data: bytes, edited: bytes | Refused) -> None:
        """Writes what was made of a page's content, where that differs."""
        if isinstance(edited, Refused):
            self.refused.append((path, edited.reason))
        elif edited != data and self.write(path, edited):
            self.updated.append(path)

    def write(self, path: str, data: bytes) -> bool:
        """Writes a file, and tells whether it was: a link that leads out of the wiki is left alone."""
        file = self._wiki / path
        if outside.leads_out(self._wiki, file):
            self.refused.append((path, outside.REASON))
            return False
        self.changed.append(path)
        state = (-1, -1)
        if self._check:
            self._written[path] = data
        else:
            with self._catalogue.writing(path):
                disk.replace(file, data)
            status = file.stat()
            state = (status.st_size, status.st_mtime_ns)
        if path.split("/", 1)[0] in CATEGORIES and is_page(file.name):
            self._catalogue.put(path, data, state)
        return True
