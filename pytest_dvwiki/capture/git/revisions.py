"""Revisions of sources that are not in git, such as Perforce changelists.

A revision is recorded as `@` and the name that the user gives. Numbers are ordered by value. Other names are ordered by
a list of changes, one per line and the newest first, as `p4 changes` and `hg log` print it. If a name is neither a
number nor in the list, its order is unknown.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pytest_dvwiki import reading
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from pathlib import Path

MARK = "@"
_ENTRY = re.compile(r"(?:Change +)?(?:@|r|CL)?(?P<name>\w[\w.:/+-]*)(?P<rest>.*)")
_P4 = re.compile(r" on \S+ by \S+ (?:\*\w+\* )?'(?P<subject>.*)'\s*")
_LONGEST = 160


class TreeEntry(NamedTuple):
    """One change in the list."""

    name: str
    subject: str

    def __str__(self) -> str:
        return f"{MARK}{self.name} {self.subject}".rstrip()


def revision(text: str) -> str:
    """Return a revision as records store it, with a leading `@`; empty for an empty string."""
    name = re.sub(r"^(?:@|r|CL)(?=\d)", "", text.strip()).removeprefix(MARK)
    return f"{MARK}{name}" if name else ""


def is_revision(*commits: str | None) -> bool:
    """Return whether any of the given commits is a revision outside git."""
    return any(commit is not None and commit.startswith(MARK) for commit in commits)


class Revisions:
    """The order of revisions, and the changes between them, as far as they are known from a list of changes."""

    def __init__(self, log: Path | None = None) -> None:
        self._log = log

    @cached_property
    def _entries(self) -> list[TreeEntry]:
        """Return the changes, the oldest first; none if the list cannot be read."""
        try:
            text = reading.read_text(self._log) if self._log else ""
        except OSError:
            return []
        found = [match for line in text.split("\n") if (match := _ENTRY.match(line.strip()))]
        return [TreeEntry(match["name"], _subject(match["rest"])) for match in reversed(found)]

    def is_older(self, revision: str, other: str) -> bool | None:
        """Return whether a revision came before another one; None if that is unknown."""
        if not (is_revision(revision) and is_revision(other)):
            return None
        (first_kind, first), (last_kind, last) = self._place(revision), self._place(other)
        return first < last if first_kind and first_kind == last_kind else None

    def between(self, first: str, last: str) -> tuple[str, ...]:
        """Return the changes after one revision up to a later one, the newest first; empty if they are unknown."""
        start, end = self._place(first), self._place(last)
        places = [(self._place(f"{MARK}{entry.name}"), entry) for entry in self._entries]
        found = [str(entry) for place, entry in places if place[0] == end[0] and start < place <= end]
        return tuple(reversed(found))

    def _place(self, name: str) -> tuple[str, int]:
        """Return how a revision is ordered (`number` or `list`), and its rank; `"", 0` if its order is unknown."""
        bare = name.removeprefix(MARK)
        if bare.isdecimal():
            return "number", int(bare)
        found = (("list", place) for place, entry in enumerate(self._entries) if entry.name == bare)
        return next(found, ("", 0))


def _subject(rest: str) -> str:
    found = _P4.fullmatch(rest)
    return " ".join(redact(found["subject"] if found else rest).split())[:_LONGEST].strip(" |:")
