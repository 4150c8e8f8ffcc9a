"""Gives the group of a folder the same access to new files as to the folder."""

from __future__ import annotations

import contextlib
import os
import stat
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def as_open_as(folder: Path) -> Iterator[None]:
    """Within the context, give the group of a folder the same access to new files in it, whatever the umask is.

    The umask is shared by the whole process, so files created by other threads in the meantime get the same access. If
    the folder does not exist, its nearest existing parent is used.
    """
    mode = 0
    for parent in chain((folder,), folder.parents):
        with contextlib.suppress(OSError):
            found = parent.stat().st_mode
            if stat.S_ISDIR(found):
                mode = found
                break
    before = os.umask(0o077)  # the umask cannot be read without being set
    os.umask(before & ~(mode & 0o070))
    try:
        yield
    finally:
        os.umask(before)
