"""What the wiki knows, as text for a prompt, within a budget of tokens.

What comes from a log is fenced and named as quoted data with its source. The header of the best hit is always there,
and the last line says what the budget left out.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_dvwiki.settings import Layout

CATEGORIES = ("patterns", "bugs", "coverage", "specs")
BUDGET = 2000
_MOST = 20
_logger = logging.getLogger(__name__)


def context(
    layout: Layout,
    *,
    query: str | None = None,
    test: str | None = None,
    category: str | None = None,
    budget: int = BUDGET,
) -> str:
    """What is known of a test, of a query, or of everything, the most useful first.

    Args:
        layout: Where the wiki stands.
        query: Words to look for in the pages.
        test: A node id; what it failed with is known best.
        category: Only pages of this one of `CATEGORIES`.
        budget: Tokens that the text may cost, by the rule of `budget.cost`.

    Returns:
        Markdown; empty where nothing is known, and where the wiki cannot be read. Never raises.
    """
    if not layout.wiki.is_dir():
        return ""
    try:
        return _context(layout, query, test, CATEGORIES if category is None else (category,), budget)
    except Exception:
        _logger.debug("the wiki gave no context", exc_info=True)
        return ""


def _context(layout: Layout, query: str | None, test: str | None, categories: tuple[str, ...], budget: int) -> str:
    # YAML, the caches and the search load with these.
    from pytest_dvwiki.agent.budget import fit  # noqa: PLC0415
    from pytest_dvwiki.agent.knowledge import Knowledge  # noqa: PLC0415

    with Knowledge(layout) as knowledge:
        found = knowledge.pages(categories, query=query, test=test)
        blocks = [knowledge.block(page) for page in found[:_MOST]]
        return fit(blocks, budget, more=len(found) - len(blocks))
