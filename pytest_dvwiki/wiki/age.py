"""Ages in words: how long something has been known.

An age depends on the current date, so it appears only in prompts, lists and search results. The files of the wiki store
dates instead, so that the same records always produce the same files.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from pytest_dvwiki.model.sentences import count

if TYPE_CHECKING:
    from pytest_dvwiki.wiki.page_summary import PageSummary

RECENT_DAYS = 30
_MONTH = 30
_YEAR = 365


def age(since: str, day: date) -> str:
    """Return, in words, how long something has been known; `age unknown` if `since` is not a date.

    Args:
        since: When it became known, in ISO format.
        day: The current date.
    """
    try:
        days = (day - date.fromisoformat(since[:10])).days
    except ValueError:
        return "age unknown"
    if days < RECENT_DAYS:
        return "recently added"
    if days < _YEAR:
        return f"stable for {count(days // _MONTH, 'month')}"
    return f"stable for {count(days // _YEAR, 'year')}"


def tag(page: PageSummary, day: date, since: str | None = None) -> str:
    """Return a page's age and how many later runs confirmed its content, as in `stable for 2 months (+3)`.

    Args:
        page: The page.
        day: The current date.
        since: The date the content became known; defaults to the page's `first_seen`.
    """
    known = age(since or page.text("first_seen"), day)
    again = _confirmations(page)
    return f"{known} (+{again})" if again > 0 else known


def _confirmations(page: PageSummary) -> int:
    """Return how many runs after the first confirmed the page's content; 0 if it is not a bug or pattern page."""
    key, first = {"bugs": ("corroborations", 0), "patterns": ("hit_count", 1)}.get(page.category, ("", 0))
    runs = page.metadata.get(key)
    return runs - first if isinstance(runs, int) and not isinstance(runs, bool) else 0
