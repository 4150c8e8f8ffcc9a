"""The commits with one of which a cause came, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_dvwiki.model import FirstBad

_SHORT = 7
_SUBJECTS = 3
_FILES = 3


def came_with(found: FirstBad, name: Callable[[str], str] = str, words: Callable[[str], str] = str) -> str:
    """With what a cause came: `with one of 2 commits after 1f0c2aa up to 9b1f03c: 9b1f03c fifo: rework; …`.

    Args:
        found: What records and git tell.
        name: Writes the name of a commit or file.
        words: Writes a subject.
    """
    files = ", ".join(map(name, found.files[:_FILES]))
    more = f" and {found.file_count - _FILES} more" if found.file_count > _FILES else ""
    if not found.log_count:
        where = f" in {files}{more}" if files else ""
        return f"with uncommitted changes{where} at {name(found.good[:_SHORT])}, where it had passed without them"
    commits = [(commit[:_SHORT], subject) for commit, _, subject in (line.partition(" ") for line in found.log)]
    told = "; ".join(f"{name(commit)} {words(subject)}" for commit, subject in commits[:_SUBJECTS])
    rest = found.log_count - len(commits[:_SUBJECTS])
    told += f"; and {rest} more" if rest > 0 else ""
    dirty = ", or with uncommitted changes" if found.dirty else ""
    if found.log_count == 1:
        return f"with {told} ({files}{more}){dirty}"
    span = f"after {name(found.good[:_SHORT])} up to {name(found.bad[:_SHORT])}"
    return f"with one of {found.log_count} commits {span}{dirty}: {told}"
