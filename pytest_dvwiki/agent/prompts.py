"""What the wiki knows, as text for a prompt, within a budget of tokens.

What comes from a log is fenced and named as quoted data with its source. The header of the best hit is always there,
and the last line says what the budget left out.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

CATEGORIES = ("patterns", "bugs", "coverage", "specs")
BUDGET = 2000
_MOST = 20
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Context:
    """What is known, and what of it could not be read."""

    text: str = ""
    """Markdown; empty where nothing is known, and where the wiki cannot be read."""
    passed_over: Mapping[str, str] = field(default_factory=dict)
    """Broken pages by their path in the wiki, each with the reason."""


def gather(
    layout: Layout,
    *,
    query: str | None = None,
    test: str | None = None,
    category: str | None = None,
    budget: int = BUDGET,
    backend: str = "bm25",
    tokenizer: Path | None = None,
) -> Context:
    """What is known of a test, of a query, or of everything, the most useful first.

    Args:
        layout: Where the wiki stands.
        query: Words to look for in the pages.
        test: A node id; what it failed with is known best. Without its parameters all their values count, and of a
            test that runs others in a simulator all of these.
        category: Only pages of this one of `CATEGORIES`.
        budget: Tokens that the text may cost, as `tokens.counting` counts them.
        backend: How pages are searched, one of `backends.names()`; with `none` a query finds nothing.
        tokenizer: The `tokenizer.json` by which tokens are counted; where None a rule counts.

    Returns:
        The text, and the pages that were passed over. Never raises.
    """
    if not layout.wiki.is_dir():
        return Context()
    try:
        # YAML, the caches and the search load with these.
        from pytest_dvwiki.agent.budget import fit  # noqa: PLC0415
        from pytest_dvwiki.agent.knowledge import Knowledge  # noqa: PLC0415
        from pytest_dvwiki.agent.tokens import counting  # noqa: PLC0415

        with Knowledge(layout, backend) as knowledge:
            categories = CATEGORIES if category is None else (category,)
            found, more = knowledge.pages(categories, _MOST, query=query, test=test)
            text = fit(knowledge.blocks(found), budget, more, counting(tokenizer))
            return Context(text, knowledge.passed_over)
    except Exception:
        _logger.debug("the wiki gave no context", exc_info=True)
        return Context()
