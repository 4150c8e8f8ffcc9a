"""The drift mark: a page whose text cites missing code is marked as stale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.wiki.text.markdown import one_line

if TYPE_CHECKING:
    from pytest_dvwiki.wiki.page_summary import PageSummary

KEYS = ("stale", "stale_reason")
"""The keys of the mark. Pages without other use for them get them with their first mark."""
MARKED = ("bugs", "patterns", "coverage")
"""The categories whose pages are marked; on specification pages the tool owns nothing."""
_LONGEST = 200
_CITES = "cites "


def reason_of(problem: str) -> str:
    """Return the stale reason of a page that cites missing code."""
    return one_line(f"{_CITES}what is gone: {problem}", _LONGEST)


def drifted(page: PageSummary) -> str | None:
    """Return the drift mark of a page; None if it has none."""
    reason = page.text("stale_reason")
    return reason if page.metadata.get("stale") is True and reason.startswith(_CITES) else None
