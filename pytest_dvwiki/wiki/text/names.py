"""Names of pages: what comes from outside becomes one safe file name, and a cause one display name."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 100
_LENGTHENED = re.compile(rf"(?<=^.{{{LONGEST}}})_[0-9a-f]{{8}}$")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
# Windows takes these for devices, with any extension; a wiki in git is checked out there too.
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_PREFIXES = {"RTL_BUG": "RTL", "TB_BUG": "TB", "UNKNOWN": "UNK"}
_SEQUENCE = 1_000_000


def file_name(name: str) -> str:
    """A name from outside as the stem of a file: the same for the same name, different for different ones."""
    safe = _UNSAFE.sub("_", name)[:LONGEST]
    if safe.startswith((".", "_index")) or _RESERVED.fullmatch(safe) or not safe:
        safe = f"_{safe.lstrip('.')}"
    if safe == name:
        return safe
    return f"{safe}_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def is_file_name(name: str) -> bool:
    """Whether a name is one that `file_name` gives to something."""
    return file_name(_LENGTHENED.sub("", name)) == _LENGTHENED.sub("", name)


def bug_name(origin: str, date: str, fingerprint: str, is_taken: Callable[[str], bool]) -> str:
    """The name of a new bug page: origin, first date and six digits made from the fingerprint.

    Args:
        origin: RTL_BUG, TB_BUG or UNKNOWN.
        date: Of the first occurrence, `YYYY-MM-DD…`.
        fingerprint: Of the cause.
        is_taken: Whether another cause has a name.
    """
    number = int(hashlib.sha256(fingerprint.encode()).hexdigest(), 16) % _SEQUENCE
    while True:
        name = f"{_PREFIXES.get(origin, 'UNK')}_{date[:10].replace('-', '')}_{number:06d}"
        if not is_taken(name):
            return name
        number = (number + 1) % _SEQUENCE


def bug_date(stem: str) -> str | None:
    """The date in the name of a bug page, None where people named it."""
    found = re.fullmatch(r"(?:RTL|TB|UNK)_(\d{8})_\d+", stem)
    return found[1] if found else None


def bug_origin(stem: str) -> str | None:
    """The origin that a bug page was made with, from its name; None where people named it."""
    made_as = {prefix: origin for origin, prefix in _PREFIXES.items()}
    return made_as.get(stem.split("_", 1)[0]) if bug_date(stem) else None
