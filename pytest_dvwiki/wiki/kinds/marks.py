"""The mark of drift: a page whose words cite code that is gone is stale in part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.wiki.text.markdown import one_line

if TYPE_CHECKING:
    from pytest_dvwiki.wiki.listed import Listed

KEYS = ("stale", "stale_reason")
"""The keys that hold it. A page that has no other use for them gets them with its first mark."""
MARKED = ("bugs", "patterns", "coverage")
"""The categories whose pages get one; in a clarification of the specification nothing is the tool's."""
_LONGEST = 200
_CITES = "cites "


def reason_of(problem: str) -> str:
    """The reason by which a page is stale that cites what is gone."""
    return one_line(f"{_CITES}what is gone: {problem}", _LONGEST)


def drifted(page: Listed) -> str | None:
    """The mark that a page has, None where it has none."""
    reason = page.text("stale_reason")
    return reason if page.metadata.get("stale") is True and reason.startswith(_CITES) else None
