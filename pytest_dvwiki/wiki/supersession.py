"""The replacement of one bug page by another: when it is allowed, and which keys the two pages get.

Only the key `superseded_by` on the replaced page decides; all other keys follow from it. The key belongs to people, so
they can make and undo a merge by hand, and git merges the key like any other line that people wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_dvwiki.reading import UserError
from pytest_dvwiki.wiki.kinds import bug
from pytest_dvwiki.wiki.text import pages

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.page_summary import PageSummary

PLAIN_REASON = "the same cause"
_NOT_MERGED = {
    "patterns": "each subtype has its own page; to merge two subtypes, give them the same name in the registry, then"
    " run `dvwiki build --reclassify`",
    "coverage": "each bin has its own page",
    "topics": "each topic has its own page; to merge two topics, move the lessons by hand and delete a page",
    "specs": "pages in specs belong to people; to merge two, move the lines by hand and delete a page",
}


class MergeError(UserError, ValueError):
    """Raised if two pages cannot be merged; the message gives the reason and what to do instead."""


def check(page_cache: PageCache, kept: PageSummary, other: PageSummary) -> None:
    """Check that a page can be merged into another page.

    Raises:
        MergeError: The pages cannot be merged.
    """
    if kept.path == other.path:
        raise MergeError(f"{kept.path} cannot be merged with itself; give two different pages")
    if kept.category != other.category:
        raise MergeError(f"{kept.path} and {other.path} are of different categories; only bug pages can be merged")
    if kept.category != "bugs":
        raise MergeError(f"{kept.path}: only bug pages can be merged: {_NOT_MERGED[kept.category]}")
    for page in (kept, other):
        if page.problem:
            raise MergeError(f"{page.path} cannot be merged, because it cannot be read: {page.problem}; correct it")
        if not page.fingerprints():
            raise MergeError(
                f"{page.path} cannot be merged: it has no fingerprint, so no run is counted for it; move its text to"
                " the other page and delete it"
            )
    standing, theirs = (page_cache.causes.pages_of(*page.fingerprints())[0] for page in (kept, other))
    if standing.path == other.path:
        raise MergeError(
            f"{kept.name} cannot take in {other.name}, because {other.name} already supersedes it;"
            f" to reverse the merge, first remove `superseded_by` from {kept.path} and run `dvwiki build`"
        )
    if standing.path != kept.path:
        raise MergeError(
            f"{kept.name} is already superseded by {standing.name}; merge into that page:"
            f" `dvwiki merge {standing.name} {other.name}`"
        )
    if theirs.path not in {other.path, kept.path}:
        raise MergeError(
            f"{other.name} is already superseded by {theirs.name}; merge that page: "
            f"`dvwiki merge {kept.name} {theirs.name}`"
        )


def edits(
    kept: PageSummary, other: PageSummary, reason: str | None, read: Callable[[str], bytes]
) -> list[tuple[str, bytes]]:
    """Return the path and content of both pages after a merge; the replaced page comes first, because its key decides.

    Args:
        kept: The page that is kept.
        other: The page that will point to the kept page.
        reason: Why the pages are merged; if None, the reason on the other page stays, or becomes `the same cause`.
        read: Returns the bytes of a page.

    Raises:
        MergeError: The keys of one of the pages cannot be edited.
    """
    reason = reason or other.text("superseded_reason", PLAIN_REASON)
    replaced = list(dict.fromkeys((*kept.replaces, other.name)))
    return [
        _edited(other, {"superseded_by": kept.name, "superseded_reason": reason}, read),
        _edited(kept, {"supersedes": replaced if len(replaced) > 1 else replaced[0]}, read),
    ]


def undone(kept: PageSummary, other: PageSummary, read: Callable[[str], bytes]) -> list[tuple[str, bytes]]:
    """Undo a merge: return the path and new content of each page that has to change.

    Raises:
        MergeError: The keys of one of the pages cannot be edited.
    """
    edited = []
    for page, target in ((kept, other), (other, kept)):
        keys: dict[str, Any] = {}
        if page.leads_to == target.name:
            keys |= {"superseded_by": None, "superseded_reason": None}
        if target.name in page.replaces:
            rest = [name for name in page.replaces if name != target.name]
            keys["supersedes"] = rest if len(rest) > 1 else next(iter(rest), None)
        if keys:
            edited.append(_edited(page, keys, read))
    return edited


def _edited(page: PageSummary, keys: dict[str, Any], read: Callable[[str], bytes]) -> tuple[str, bytes]:
    data = bug.with_keys(read(page.path), keys)
    if isinstance(data, pages.Refused):
        raise MergeError(f"{page.path} cannot be edited: {data.reason}")
    return page.path, data
