"""Links that lead out of the wiki: what lies behind them is told to nobody, and not written."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_dvwiki import reading

MOST = 16 << 20
"""Bytes of the longest page that is read."""
REASON = "it is a link that leads out of the wiki; replace it by a file"


class OutsideError(OSError):
    """A path of the wiki leads out of it."""


def leads_out(wiki: Path, file: Path) -> bool:
    """Whether a file that is named as one of the wiki lies elsewhere."""
    # Not `Path.resolve`, which some versions of Python let raise where a link leads to itself.
    return not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(wiki))


def read(wiki: Path, path: str) -> bytes:
    """The bytes of a page.

    Args:
        wiki: Its folder.
        path: The page, relative to it.

    Raises:
        OutsideError: A link of that name leads out of the wiki.
        OSError: The page is not there, or no regular file of bounded size.
    """
    file = wiki / path
    if leads_out(wiki, file):
        raise OutsideError(f"{file}: {REASON}")
    return reading.read_bytes(file, MOST)
