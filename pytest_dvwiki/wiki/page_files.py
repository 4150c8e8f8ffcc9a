"""The files of pages, with their sizes and times, which show whether a file changed."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from pytest_dvwiki.records.disk import is_settled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class State(NamedTuple):
    """The size and modification time of a file; a file is taken as unchanged while both stay the same."""

    size: int
    mtime_ns: int


NOWHERE = State(-1, -1)
"""The state of a file that does not exist."""


def state_of(file: Path) -> State:
    """Return a file's size and modification time; `NOWHERE` if the file does not exist."""
    try:
        status = os.stat(file)  # noqa: PTH116 (saves a third of the time)
    except OSError:
        return NOWHERE
    return State(status.st_size, status.st_mtime_ns)


class PageListing(NamedTuple):
    """A listing of some folders of pages, and of the files in them."""

    pages: dict[str, State]
    """Maps the path of each page, relative to the wiki, to the state of its file."""
    folders: dict[str, int]
    """Maps each folder to its modification time in ns before listing; 0 if too recent to reveal a later change."""
    irregular: frozenset[str]
    """The paths that are not regular files, such as pipes."""

    def changed_since(self, before: PageListing) -> set[str]:
        """Return the paths of pages that were added, changed or removed since an earlier listing."""
        changed = {path for path, state in self.pages.items() if before.pages.get(path) != state}
        return changed | before.pages.keys() - self.pages.keys()


def list_pages(wiki: Path, folders: Iterable[str]) -> PageListing:
    """List the page files in some folders and their sub-folders."""
    times: dict[str, int] = {}
    states: dict[str, State] = {}
    irregular = []
    for folder in folders:
        for path, status in page_files(wiki, folder, times):
            states[path] = State(status.st_size, status.st_mtime_ns)
            if not stat.S_ISREG(status.st_mode):
                irregular.append(path)
    times = {path: time if is_settled(time) else 0 for path, time in times.items()}
    return PageListing(states, times, frozenset(irregular))


def page_files(wiki: Path, folder: str, times: dict[str, int] | None = None) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the path of each page in a folder and in its sub-folders, with the `stat` result of its file.

    Args:
        wiki: The wiki.
        folder: The folder, relative to the wiki.
        times: Receives the modification time of each folder in ns, as it was before the folder was listed.
    """
    below: list[str] = []
    # A missing or unreadable folder has no pages.
    with contextlib.suppress(OSError):
        time = (wiki / folder).stat().st_mtime_ns
        with os.scandir(wiki / folder) as entries:
            if times is not None:
                times[folder] = time
            for entry in entries:
                # A broken link is not a page, and must not stop the scan; a link to a folder could lead in a circle.
                try:
                    if entry.is_dir(follow_symlinks=False):
                        below += [f"{folder}/{entry.name}"] if is_folder(entry.name) else []
                    elif is_page(entry.name) and not entry.is_dir():
                        yield f"{folder}/{entry.name}", entry.stat()
                except OSError:
                    continue
    for each in below:
        yield from page_files(wiki, each, times)


def is_folder(name: str) -> bool:
    """Return whether a sub-folder of a category may hold pages, judging by its name."""
    return not name.startswith(".") and _is_utf8(name)


def is_page(name: str) -> bool:
    """Return whether a file in a category's folder is a page, judging by its name.

    The name must be UTF-8, because other pages link to it.
    """
    return name.endswith(".md") and not name.startswith((".", "_index.")) and _is_utf8(name)


def _is_utf8(name: str) -> bool:
    return name.isascii() or not any("\udc80" <= character <= "\udcff" for character in name)
