"""Journal folders: one per project, writable only by the users of the project."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.reading import UnreadableError
from pytest_dvwiki.umask import as_open_as

if TYPE_CHECKING:
    from pytest_dvwiki.settings import Layout

BUILDS = "builds"
"""Name of the folder with the last builds, next to the folders of runs."""
_RUN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
"""Matches the folder name of a run."""
_MOST_RUNS = 64
"""Maximum number of runs that one session examines; other runs wait until these are archived."""


class JournalFolder(Struct, frozen=True):
    """A journal folder."""

    folder: Path
    is_inside: bool = False
    """Whether the folder is in the project; if so, its owner and permissions are not checked."""

    def make(self) -> None:
        """Make the folder, accessible to its owner only.

        Raises:
            OSError: The folder cannot be made, or cannot be trusted.
        """
        with as_open_as(self.folder.parent):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.check()

    def check(self) -> None:
        """Check that nobody else can have written into the folder.

        Raises:
            FileNotFoundError, NotADirectoryError: There is no such folder.
            UnreadableError: It is a link or not a folder, or it is outside the project and belongs to, or is open to,
                another user.
        """
        status = self.folder.lstat()
        if reason := _reason(status, is_inside=self.is_inside):
            problem = f"{reason}, so no journal in it is read or written; remove it, or have it removed"
            raise UnreadableError(errno.EPERM, problem, os.fspath(self.folder))

    @property
    def builds(self) -> Path | None:
        """Return the folder of the last builds; None if the journal folder cannot be trusted."""
        try:
            self.check()
        except UnreadableError:
            return None
        except OSError:
            pass  # the folder is made with the first build
        return self.folder / BUILDS

    def has_others(self, task_id: str) -> bool:
        """Return whether runs other than `task_id` may have journals in the folder.

        The answer is True if the folder cannot be trusted, because its content is then unknown.
        """
        try:
            return any(folder.name != task_id for folder in self.runs())
        except UnreadableError:
            return True

    def runs(self) -> list[Path]:
        """Return the folders of runs, sorted by name; empty if the journal folder is missing or cannot be listed.

        Raises:
            UnreadableError: The folder cannot be trusted.
        """
        try:
            self.check()
            with os.scandir(self.folder) as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except UnreadableError:
            raise
        except OSError:
            return []
        return [self.folder / name for name in names if name != BUILDS and _RUN.fullmatch(name)][:_MOST_RUNS]


def _reason(status: os.stat_result, *, is_inside: bool) -> str:
    """Return why a folder cannot be trusted; empty if it can."""
    if stat.S_ISLNK(status.st_mode):
        return "is a link"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if is_inside:
        return ""
    if status.st_uid != os.getuid():
        return "belongs to another user"
    return "is open to other users" if status.st_mode & 0o077 else ""


def places_of(layout: Layout, cache: Path | None) -> tuple[JournalFolder, ...]:
    """Return a project's possible journal folders in order of preference.

    They are beside the wiki, in a cache, and in the temporary folder.

    Args:
        layout: The project.
        cache: A folder of pytest's cache, which several projects may share; None if there is none.
    """
    places = [JournalFolder(layout.journal, is_inside=layout.is_inside)]
    if cache is not None:
        places.append(JournalFolder(cache / layout.key))
    # The user is identified by number: in a container a user may have neither name nor home.
    with suppress(OSError):  # there may be no writable temporary folder
        places.append(JournalFolder(Path(tempfile.gettempdir()) / f"dvwiki-{os.getuid()}-{layout.key}"))
    return tuple(places)
