"""Derive a test's build folder from its name. If a build fails, records list the folder instead of its tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FILE = re.compile(r"\.(?:xml|log|py|transcript)$|(?:^|/)transcript$")

_NUMBER = re.compile(r"\d+")


def folder_of(nodeid: str) -> str | None:
    """Return the folder of a test whose name starts with a file, `.` for the root; None for any other test.

    The parents of a test whose name starts with a folder already include that folder: `axi::counts`.
    """
    file, inside, _ = nodeid.partition("::")
    return (file.rpartition("/")[0] or ".") if inside and _FILE.search(file) else None


def is_folder(nodeid: str) -> bool:
    """Return whether a name in a record is a folder that failed to build, not a test."""
    return "::" not in nodeid and not _FILE.search(nodeid)


def parents_of(nodeid: str) -> list[str]:
    """Return the parents of a test, innermost first: a class, a runner, the module, the folder of its build."""
    parts = nodeid.split("::")
    folder = folder_of(nodeid)
    return ["::".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)] + ([folder] if folder else [])


def of_folder(names: Iterable[str], folder: str) -> list[str]:
    """Return the tests in files of a folder, without those in subfolders."""
    return [name for name in names if folder_of(name) == folder]


def without_folder(nodeid: str) -> tuple[str, str] | None:
    """Split the name of a cocotb test into its results file or log, without the folder, and the test itself.

    The file is empty if the name starts with a folder. Return None if the name starts with a Python file, or has only
    one part.
    """
    place, inside, test = nodeid.partition("::")
    if not inside or place.endswith(".py"):
        return None
    return (place.rpartition("/")[2] if _FILE.search(place) else ""), test


def with_any_number(nodeid: str) -> tuple[str, str] | None:
    """Return a test with the numbers of its folder masked, because a regression may have a folder for each seed.

    `run1/uart.xml::sends` and `run2/uart.xml::sends` give the same result. A test without such a folder gives None.
    """
    kind = without_folder(nodeid)
    if kind is None:
        return None
    folder = nodeid.partition("::")[0].removesuffix(kind[0])
    masked = _NUMBER.sub("#", folder)
    return (f"{masked}{kind[0]}", kind[1]) if masked != folder else None
