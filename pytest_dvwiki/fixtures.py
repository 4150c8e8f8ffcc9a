"""Fixtures for querying the wiki from a test, or from an agent that runs as a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_dvwiki.settings import OPTIONS, Settings, SettingsError, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_dvwiki.agent.query import WikiQueryService
    from pytest_dvwiki.wiki.config import WikiConfig


_SETTINGS = pytest.StashKey[Settings]()


def settings_of(config: pytest.Config) -> Settings:
    """Return the session's settings, which are read only once.

    Raises:
        pytest.UsageError: A setting is invalid.
    """
    if _SETTINGS not in config.stash:
        command_line: Mapping[str, object] = {
            option.name: config.getoption(option.ini, None) for option in OPTIONS if option.flag is not None
        }
        try:
            config.stash[_SETTINGS] = resolve(
                config.rootpath,
                command_line=command_line,
                ini={option.name: config.getini(option.ini) for option in OPTIONS},
            )
        except SettingsError as error:
            raise pytest.UsageError(f"dvwiki: {error}") from error
    return config.stash[_SETTINGS]


class ContextSource(Protocol):
    """Returns wiki knowledge for use in a prompt."""

    def __call__(
        self,
        query: str | None = None,
        *,
        test: str | None = None,
        category: str | None = None,
        budget: int | None = None,
    ) -> str:
        """Query the wiki.

        Args:
            query: Words to search for.
            test: Node id of a test, to select its failures. A node id without parameters, or without the name of a
                cocotb test, selects all of them.
            category: `bugs`, `patterns`, `coverage`, `specs` or `topics`; None for all.
            budget: Maximum number of tokens; None for the setting `max_context_tokens`.

        Returns:
            Known patterns and bugs, best first; empty if there are none, or if the wiki is missing or broken.
        """
        ...


class PromptSource(Protocol):
    """Replaces the placeholders of a prompt."""

    def __call__(self, text: str, *, profile: Mapping[str, str] | None = None) -> str:
        """Replace `{{KNOWN_ERROR_PATTERNS}}` and the other placeholders with wiki knowledge.

        Args:
            text: The template.
            profile: Values, by name, of the placeholders that the wiki does not fill.
        """
        ...


@pytest.fixture(scope="session")
def dvwiki_context(pytestconfig: pytest.Config) -> ContextSource:
    """Return a function that returns wiki knowledge about a test, a category or a query, within a token budget."""
    settings = settings_of(pytestconfig)

    def ask(
        query: str | None = None, *, test: str | None = None, category: str | None = None, budget: int | None = None
    ) -> str:
        from pytest_dvwiki.agent.prompts import gather  # noqa: PLC0415  # loaded at the first question

        return gather(
            settings.layout,
            query=query,
            test=test,
            category=category,
            budget=settings.max_context_tokens if budget is None else budget,
            backend=settings.search_backend,
            tokenizer=settings.tokenizer,
        ).text

    return ask


@pytest.fixture(scope="session")
def dvwiki_prompt(pytestconfig: pytest.Config) -> PromptSource:
    """Return a function that replaces the placeholders of a prompt with wiki knowledge."""

    def fill(text: str, *, profile: Mapping[str, str] | None = None) -> str:
        from pytest_dvwiki.agent.loader import PromptLoader  # noqa: PLC0415  # loaded at the first question

        return PromptLoader(_config(pytestconfig), profile).render(text)

    return fill


@pytest.fixture(scope="session")
def dvwiki(pytestconfig: pytest.Config) -> WikiQueryService:
    """Return a query service for the wiki: patterns, bugs, coverage holes and pages."""
    from pytest_dvwiki.agent.query import WikiQueryService  # noqa: PLC0415  # loaded only for a test that uses it

    return WikiQueryService(_config(pytestconfig))


def _config(config: pytest.Config) -> WikiConfig:
    """Return the session's wiki configuration, enabled even if this run is not archived."""
    from msgspec.structs import replace  # noqa: PLC0415

    from pytest_dvwiki.wiki.config import WikiConfig  # noqa: PLC0415

    return replace(WikiConfig.of(settings_of(config)), enabled=True)
