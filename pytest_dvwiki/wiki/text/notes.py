"""Notes that agents add to a part of a page: each note is a list entry with a mark until it is confirmed.

Unconfirmed notes are left out of prompts. A person confirms a note by removing the mark. A note that proposes a fix is
also confirmed by runs that pass with the fix's commit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date

UNREVIEWED = "unreviewed"
_MARK = re.compile(rf"^- {UNREVIEWED}[,:]", re.MULTILINE)
"""Matches the start of an agent's note, and of the line that marks a lesson as written by a model."""
_NOTE = re.compile(rf"- {UNREVIEWED}, by \S+ on [\d-]+:(?: fix proposed with commit `(?P<commit>[0-9a-f]{{7,40}})`:)?")


def note(text: str, role: str, day: date, commit: str = "") -> str:
    """Format text as a note with the mark `unreviewed`.

    Args:
        text: The text, of one line or several.
        role: The role that writes the note.
        day: The current date.
        commit: The commit of the fix that the note proposes, in hex digits; empty if it proposes none.
    """
    head = f"- {UNREVIEWED}, by {role} on {day}:{f' fix proposed with commit `{commit}`:' if commit else ''}"
    lines = text.strip("\r\n").splitlines()
    if len(lines) == 1:
        return f"{head} {lines[0].strip()}"
    # Indented lines belong to the list entry; a fence has to begin on its own line.
    return "\n".join([head, *(f"  {line}".rstrip() for line in lines)])


def is_marked(text: str) -> bool:
    """Return whether text contains an unconfirmed note or lesson."""
    return _MARK.search(text) is not None


def confirmed(text: str, is_proven: Callable[[str], bool]) -> str:
    """Return text without the notes that neither a person nor a passing run has confirmed.

    Args:
        text: The text of a part of a page.
        is_proven: Returns whether runs show that a commit, given as hex digits, fixes the page's cause.
    """
    return "\n".join(_confirmed(text, is_proven))


def _confirmed(text: str, is_proven: Callable[[str], bool]) -> Iterator[str]:
    is_left_out = False
    for line in text.split("\n"):
        found = _NOTE.match(line)
        if found:
            is_left_out = not (found["commit"] and is_proven(found["commit"]))
        elif line and not line.startswith("  "):
            is_left_out = False
        if not is_left_out:
            yield line
