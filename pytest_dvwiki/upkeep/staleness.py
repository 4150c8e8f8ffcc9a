"""Reports open bugs that were not reviewed, or did not occur, for a long time."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from pytest_dvwiki import runs
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.upkeep.findings import Finding
from pytest_dvwiki.wiki.kinds.bug import is_pointer
from pytest_dvwiki.wiki.kinds.marks import drifted, is_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.page_summary import PageSummary

STALE_DAYS = 90
REVIEW_DAYS = 30
UNSEEN_DAYS = 30


def check_age(page_cache: PageCache, today: date | None = None) -> Iterator[Finding]:
    """Yield the most serious finding for each open bug that is stale, unreviewed or not seen for a long time."""
    today = today or runs.today()
    for page in page_cache.all("bugs"):
        if page.problem or is_pointer(page) or page.text("status") != "open" or is_left_out(page.metadata):
            continue
        first, last = _day(page, "first_seen"), _day(page, "last_updated")
        if first is None:
            continue
        age = (today - first).days
        unseen = (today - (last or first)).days
        seen = f"last seen {count(unseen, 'day')} ago" if unseen else "last seen today"
        if passes := page.text("passes_since"):
            seen += f", passes since {passes}"
        if page.metadata.get("stale") is True and not drifted(page):
            yield Finding(page.path, 0, "stale", f"marked as stale: {page.text('stale_reason')}")
        elif age > STALE_DAYS:
            yield Finding(page.path, 0, "stale", f"open for {age} days, {seen}")
        elif unseen > UNSEEN_DAYS:
            yield Finding(page.path, 0, "unseen", f"open, and {seen}")
        elif age > REVIEW_DAYS:
            yield Finding(page.path, 0, "unreviewed", f"not reviewed for {age} days, {seen}")


def _day(page: PageSummary, key: str) -> date | None:
    try:
        return date.fromisoformat(page.text(key)[:10])
    except ValueError:
        return None
