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
    """Say with what a cause came: `with one of 2 commits after 1f0c2aa up to 9b1f03c: 9b1f03c fifo: rework; …`.

    Where the evidence names no commit: `first seen at 9b1f03c, last passed with another seed at 1f0c2aa`.

    Args:
        found: What records and git tell.
        name: Writes the name of a commit or file.
        words: Writes a subject.
    """
    good, bad = name(found.good[:_SHORT]), name(found.bad[:_SHORT])
    files = ", ".join(map(name, found.files[:_FILES]))
    more = f" and {found.file_count - _FILES} more" if found.file_count > _FILES else ""
    if found.passed_with != "same":
        edits = " with uncommitted changes" if found.dirty else ""
        seed = "with another seed at" if found.passed_with == "other" else "maybe by chance at"
        return f"first seen at {bad}{edits}, last passed {seed} {good}"
    if found.dirty:
        where = f" in {files}{more}" if files and not found.log_count else ""
        told = f"with uncommitted changes{where} at {bad}"
        if found.good == found.bad:
            return f"{told}, where it had passed without them"
        return f"{told}, or with what was committed since {good}, where it had passed"
    commits = [(commit[:_SHORT], subject) for commit, _, subject in (line.partition(" ") for line in found.log)]
    told = "; ".join(f"{name(commit)} {words(subject)}" for commit, subject in commits[:_SUBJECTS])
    rest = found.log_count - len(commits[:_SUBJECTS])
    told += f"; and {rest} more" if rest > 0 else ""
    if found.log_count == 1:
        return f"with {told} ({files}{more})"
    return f"with one of {found.log_count} commits after {good} up to {bad}: {told}"


def sentence(came: str) -> str:
    """Return what `came_with` says as the beginning of a sentence."""
    return f"Came {came}" if came.startswith("with ") else f"{came[:1].upper()}{came[1:]}"
