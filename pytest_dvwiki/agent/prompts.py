"""Wiki knowledge as text for a prompt, within a token budget.

Log text is fenced and introduced as quoted data with its source. The header of the best hit is included even if it has
to be cut, and the last line says what the budget left out.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_dvwiki.agent.followed import FollowedWiki
    from pytest_dvwiki.settings import Layout

CATEGORIES = ("patterns", "bugs", "coverage", "specs", "topics")
BUDGET = 2000
_MOST = 20
_logger = logging.getLogger(__name__)


class Context(Struct, frozen=True):
    """The text for a prompt, and the pages that could not be read."""

    text: str = ""
    """Markdown; empty if nothing is known or the wiki cannot be read."""
    passed_over: Mapping[str, str] = field(default_factory=dict)
    """Reason for each broken page, by its path in the wiki."""


def gather(
    layout: Layout,
    *,
    query: str | None = None,
    test: str | None = None,
    category: str | None = None,
    budget: int = BUDGET,
    backend: str = "bm25",
    tokenizer: Path | None = None,
    followed: FollowedWiki | None = None,
) -> Context:
    """Return what is known about a test or a query, or about everything, the most useful first.

    Args:
        layout: Where the wiki is.
        query: Words to look for in the pages.
        test: A node id, to get the causes of the test's failures. Without parameters it matches every parametrization;
            the node id of a test that runs other tests in a simulator also matches those tests.
        category: Only pages of this category, one of `CATEGORIES`.
        budget: Maximum number of tokens, as `tokens.counting` counts them.
        backend: The search backend, one of `backends.names()`; `none` finds nothing.
        tokenizer: A `tokenizer.json` for counting tokens; if None, their number is estimated.
        followed: The same wiki, kept open between queries; `backend` is then ignored.

    Returns:
        The text, and the pages that were skipped; nothing if the wiki cannot be read.

    Raises:
        ValueError: The category does not exist.
    """
    if category not in {None, *CATEGORIES}:
        raise ValueError(f"unknown category {category!r}; choose from {', '.join(CATEGORIES)}")
    if not layout.wiki.is_dir():
        return Context()
    try:
        # These import YAML, the caches and the search, which are slow to load.
        from pytest_dvwiki.agent.budget import fit  # noqa: PLC0415
        from pytest_dvwiki.agent.knowledge import Knowledge  # noqa: PLC0415
        from pytest_dvwiki.tokens import counting  # noqa: PLC0415

        with followed.knowledge() if followed else Knowledge(layout, backend) as knowledge:
            categories = CATEGORIES if category is None else (category,)
            found, more = knowledge.pages(categories, _MOST, query=query, test=test)
            text = fit(knowledge.blocks(found), budget, more, counting(tokenizer))
            return Context(text, knowledge.passed_over)
    except Exception:
        _logger.debug("the wiki gave no context", exc_info=True)
        return Context()
