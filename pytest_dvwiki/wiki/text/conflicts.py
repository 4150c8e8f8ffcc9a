"""Merge conflicts in pages: those in parts that dvwiki owns are resolved, all others are left to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.records.git_conflicts import Hunk, may_be_in, split
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.pages import CONFLICT, Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class Settled(msgspec.Struct, frozen=True):
    """A page after the conflicts in dvwiki's parts were resolved."""

    data: bytes
    open_lines: tuple[int, ...]
    """Original line numbers of the conflicts that a person has to resolve."""


def settle(data: bytes, owned: Collection[str]) -> Settled | None:
    """Resolve those conflicts of a page where both sides differ only in owned keys and regions.

    Our side is kept; the next build corrects the keys and regions.

    Returns:
        The page with these conflicts resolved; None if the page has no complete conflict, or is not UTF-8.
    """
    if not may_be_in(data):
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    parts = split(text)
    hunks = [part for part in parts if isinstance(part, Hunk)]
    if not hunks:
        return None
    theirs_of = {hunk for hunk in hunks if not _is_owned(parts, hunk, owned)}
    kept = "".join(part if isinstance(part, str) else part.whole if part in theirs_of else part.ours for part in parts)
    return Settled(kept.encode(), tuple(hunk.line for hunk in hunks if hunk in theirs_of))


def markers(data: bytes, owned: Collection[str]) -> list[tuple[int, bool]]:
    """Return the number of the line where each conflict begins, and whether a person has to resolve the conflict.

    If a conflict lacks one of its markers, each of the other markers has an entry instead.
    """
    text = data.decode("utf-8", "replace")
    if not CONFLICT.search(text):
        return []
    settled = settle(data, owned)
    open_lines = settled.open_lines if settled else ()
    parts = split(text)
    found: list[tuple[int, bool]] = []
    line = 1
    for part in parts:
        if isinstance(part, Hunk):
            found.append((line, line in open_lines))
        elif CONFLICT.match(part):
            found.append((line, _is_in_user_text(parts, part, owned)))
        line += (part if isinstance(part, str) else part.whole).count("\n")
    return found


def _is_in_user_text(parts: Sequence[str | Hunk], marker: str, owned: Collection[str]) -> bool:
    """Return whether a lone conflict marker is in text that people wrote."""
    kept = (part.ours if isinstance(part, Hunk) else part for part in parts)
    text = "".join(part for part in kept if part is marker or not CONFLICT.match(part))
    return isinstance(pages.skeleton(text.encode(), owned), Refused)


def _is_owned(parts: Sequence[str | Hunk], hunk: Hunk, owned: Collection[str]) -> bool:
    """Return whether both sides of a conflict give the same page, apart from what dvwiki owns."""
    sides = (hunk.ours, hunk.theirs)
    skeletons = []
    for side in sides:
        text = "".join(part if isinstance(part, str) else side if part is hunk else part.ours for part in parts)
        skeleton = pages.skeleton(text.encode(), owned)
        if isinstance(skeleton, Refused):
            return False
        skeletons.append(skeleton)
    return skeletons[0] == skeletons[1]
