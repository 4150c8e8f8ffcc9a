"""Looks up pages and causes by the names that people type, and suggests similar names in errors."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.git.repository import Repository
from pytest_dvwiki.model.sentences import few
from pytest_dvwiki.records.name_parts import SLASH
from pytest_dvwiki.wiki.page_summary import CATEGORIES, page_name
from pytest_dvwiki.wiki.supersession import MergeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.settings import Settings
    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.page_summary import PageSummary

SHORTEST = 4
"""Minimum number of digits of an abbreviated fingerprint."""
_DIGITS = re.compile(rf"[0-9a-f]{{{SHORTEST},12}}")
SHOWN = 3
_NEAR = 0.7
"""Minimum similarity of a suggested name. It is high because many page names begin with the same characters."""
_COMMIT = re.compile(r"[0-9a-fA-F]{7,40}")


def commit_called(settings: Settings, digits: str) -> str:
    """Return the first 12 digits of a commit's hash, given at least seven.

    Raises:
        LookupError: There are too few digits, or no such commit.
    """
    found = Repository.of(settings).commit(digits) if _COMMIT.fullmatch(digits) else None
    if not found:
        raise LookupError(f"commit {digits!r:.80}: no such commit in the repository; give seven or more of its digits")
    return found[:12]


def pages_called(page_cache: PageCache, name: str, categories: Sequence[str] = CATEGORIES) -> list[PageSummary]:
    """Return the page that has this name; if there is none, the bug pages of the cause whose page once had it."""
    folder, _, stem = name.replace("\\", "/").removesuffix(".md").rpartition("/")
    category = folder.rpartition("/")[2]
    wanted = (category,) if category in categories else categories
    by_name = (page_cache.get(f"{each}/{stem}.md") for each in wanted)
    page = next((found for found in by_name if found), None) or page_cache.below(stem, wanted)
    return [page] if page else page_cache.causes.formerly_named(stem)


def page_named(page_cache: PageCache, name: str) -> PageSummary:
    """Return the page that a name refers to.

    Args:
        page_cache: The pages.
        name: A page's current or former name, its path, its cause's name, or the first digits of its fingerprint.

    Raises:
        MergeError: No page matches, or several do.
    """
    found = pages_called(page_cache, name)
    bugs = [] if found else list(page_cache.all("bugs"))
    digits = page_name(name).lower()
    found = found or [page for page in bugs if page.cause == name]
    if not found and _DIGITS.fullmatch(digits):
        found = [page for page in bugs if page.text("fingerprint").startswith(digits)]
    if len(found) == 1:
        return found[0]
    if found:
        raise MergeError(
            f"{name}: several pages match: {few([*map(_with_fingerprint, found)], SHOWN)}; give the page's name"
        )
    near = nearest(name, [page.name for page in bugs])
    hint = (
        f"nearest: {few([_with_fingerprint(page) for page in bugs if page.name in near], SHOWN)}"
        if near
        else "see index.md for all pages"
    )
    raise MergeError(f"{name!r:.80}: no page has this name or fingerprint; {hint}")


def cause_named(archive: Archive, page_cache: PageCache, name: str) -> str:
    """Return the name of a cause, given its page, its name in a run, or the first digits of its fingerprint.

    Raises:
        MergeError: No cause matches, or several do.
    """
    digits = name.lower()
    if not pages_called(page_cache, name):
        found = archive.starting_with(digits) if _DIGITS.fullmatch(digits) else []
        in_run = archive.found_in_run(name) if SLASH in name else None
        if len(found) == 1 or in_run is not None:
            return in_run or found[0]
    page = page_named(page_cache, name)
    own = page.cause
    if page.category != "bugs" or not own:
        raise MergeError(f"{page.path} is not the page of a cause; give a bug page or a fingerprint")
    return own


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names most similar to a name or path, the nearest first."""
    return difflib.get_close_matches(page_name(name), list(known), n=SHOWN, cutoff=_NEAR)


def _with_fingerprint(page: PageSummary) -> str:
    return f"{page.name} ({page.cause})"
