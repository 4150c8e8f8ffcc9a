"""The keys that mark a page as stale: its cause is gone without a fix, or its text cites missing code (drift)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_dvwiki.wiki.text.markdown import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_dvwiki.wiki.page_summary import PageSummary

KEYS = ("stale", "stale_reason")
"""The keys that mark a page as stale. Bug pages always have them; other pages get them when first marked."""
MARKED = ("bugs", "patterns", "coverage")
"""The categories whose pages can be marked; dvwiki owns no keys of specification and topic pages."""
_LONGEST = 200
_CITES = "cites "
_UNSEEN = "not seen since "
_LEFT_OUT = "; left out of index and prompts"


def reason_of(problem: str) -> str:
    """Return the stale reason for a page that cites missing code."""
    return one_line(f"{_CITES}missing code: {problem}", _LONGEST)


def gone_reason(last_seen: str, days: int) -> str:
    """Return the stale reason for a page whose cause is gone."""
    return f"{_UNSEEN}{last_seen[:10]}; its tests passed at least {days} days later"


def is_gone(metadata: Mapping[str, Any]) -> bool:
    """Return whether a page is marked as stale because its cause is gone without a fix."""
    return metadata.get("stale") is True and str(metadata.get("stale_reason")).startswith(_UNSEEN)


def left_out_reason(reason: str) -> str:
    """Return a stale reason with the note that the page is left out of index and prompts."""
    return f"{reason.removesuffix(_LEFT_OUT)}{_LEFT_OUT}"


def is_left_out(metadata: Mapping[str, Any]) -> bool:
    """Return whether a page is marked as left out of index and prompts."""
    return is_gone(metadata) and str(metadata.get("stale_reason")).endswith(_LEFT_OUT)


def drifted(page: PageSummary) -> str | None:
    """Return a page's stale reason if it is about missing code; else None."""
    reason = page.text("stale_reason")
    return reason if page.metadata.get("stale") is True and reason.startswith(_CITES) else None
