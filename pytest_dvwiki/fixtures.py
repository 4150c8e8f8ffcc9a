"""Fixtures by which a test, or an agent that runs as one, asks the wiki."""

from __future__ import annotations

from typing import Protocol

import pytest


class ContextSource(Protocol):
    """Gives what the wiki knows as text for a prompt."""

    def __call__(
        self,
        query: str | None = None,
        *,
        test: str | None = None,
        category: str | None = None,
        budget: int | None = None,
    ) -> str:
        """Asks the wiki.

        Args:
            query: Words to look for.
            test: Node id (or the end of one) of a test whose failures are asked for.
            category: `bugs`, `patterns`, `coverage` or `specs`; all where None.
            budget: Most tokens; the setting `max_context_tokens` where None.

        Returns:
            Known patterns and bugs, best first; empty where the wiki knows nothing, is absent or broken.
        """
        ...


@pytest.fixture(scope="session")
def dvwiki_context(pytestconfig: pytest.Config) -> ContextSource:
    """Gives what the wiki knows of a test, a category or a query, as text within a token budget."""
    from pytest_dvwiki.plugin import settings_of  # noqa: PLC0415  # the plugin imports this module

    settings = settings_of(pytestconfig)

    def ask(
        query: str | None = None,
        *,
        test: str | None = None,
        category: str | None = None,
        budget: int | None = None,
    ) -> str:
        from pytest_dvwiki.agent.prompts import context  # noqa: PLC0415  # loaded at the first question

        return context(
            settings.layout,
            query=query,
            test=test,
            category=category,
            budget=settings.max_context_tokens if budget is None else budget,
        )

    return ask
