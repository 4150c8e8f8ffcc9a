"""Names of pages: safe file names for arbitrary names, and names for bug pages."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 100
_LENGTHENED = re.compile(rf"(?<=^.{{{LONGEST}}})_[0-9a-f]{{8}}$")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
# Windows treats these names as devices, with any extension; a wiki in git may be checked out on Windows, too.
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_PREFIXES = {"RTL_BUG": "RTL", "TB_BUG": "TB", "UNKNOWN": "UNK"}
_SEQUENCE = 1_000_000


def file_name(name: str) -> str:
    """Return a safe file name, without a suffix, for any name; different names get different file names."""
    safe = _UNSAFE.sub("_", name)[:LONGEST]
    if safe.startswith((".", "_index")) or _RESERVED.fullmatch(safe) or not safe:
        safe = f"_{safe.lstrip('.')}"
    if safe == name:
        return safe
    return f"{safe}_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def is_file_name(name: str) -> bool:
    """Return whether a name could be a result of `file_name`."""
    return file_name(_LENGTHENED.sub("", name)) == _LENGTHENED.sub("", name)


def bug_name(origin: str, date: str, fingerprint: str, is_taken: Callable[[str], bool]) -> str:
    """Return the name of a new bug page: origin, date and six digits made from the fingerprint.

    Args:
        origin: RTL_BUG, TB_BUG or UNKNOWN.
        date: Date of the first occurrence, `YYYY-MM-DD…`.
        fingerprint: The fingerprint of the cause.
        is_taken: Returns whether another cause's page already has the name.
    """
    number = number_of(fingerprint)
    while True:
        name = f"{_PREFIXES.get(origin, 'UNK')}_{date[:10].replace('-', '')}_{number:06d}"
        if not is_taken(name):
            return name
        number = (number + 1) % _SEQUENCE


def number_of(fingerprint: str) -> int:
    """Return the number to try first in the name of a cause's page; if the name is taken, `bug_name` counts up."""
    return int(hashlib.sha256(fingerprint.encode()).hexdigest(), 16) % _SEQUENCE


def bug_date(stem: str) -> str | None:
    """Return the date in the name of a bug page; None if people named the page."""
    found = re.fullmatch(r"(?:RTL|TB|UNK)_(\d{8})_\d+", stem)
    return found[1] if found else None


def bug_origin(stem: str) -> str | None:
    """Return the origin that a bug page had when it was created, from its name; None if people named the page."""
    made_as = {prefix: origin for origin, prefix in _PREFIXES.items()}
    return made_as.get(stem.split("_", 1)[0]) if bug_date(stem) else None
