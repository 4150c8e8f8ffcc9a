"""Links that lead out of the wiki: their targets are neither read nor written."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path

from pytest_dvwiki import reading

MOST = 16 << 20
"""Maximum size of a page, in bytes."""
REASON = "it is a link that leads out of the wiki; replace it with a file"


class OutsideError(OSError):
    """Raised for a path in the wiki that resolves to a location outside it."""


def leads_out(wiki: Path, file: Path) -> bool:
    """Return whether a path in the wiki resolves, through symlinks, to a location outside it."""
    for part in chain((file,), file.parents):
        if part == wiki:
            return False
        if part.is_symlink() or part.name == "..":
            break
    # Do not use `Path.resolve`: in some versions of Python it raises an error for a link to itself.
    return not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(wiki))


def read(wiki: Path, path: str) -> bytes:
    """Return the bytes of a page.

    Raises:
        OutsideError: The path leads out of the wiki.
        OSError: The page does not exist, is not a regular file, or is too large.
    """
    file = wiki / path
    if leads_out(wiki, file):
        raise OutsideError(f"{file}: {REASON}")
    return reading.read_bytes(file, MOST)
