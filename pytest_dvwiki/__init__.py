"""Failure memory for hardware regressions.

Public names load their modules on first use, because pytest imports this package in every session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_dvwiki.agent.loader import PromptLoader
    from pytest_dvwiki.agent.query import WikiQueryService
    from pytest_dvwiki.intake.service import WikiIngestResult, WikiIngestService
    from pytest_dvwiki.specs.generate import SpecGenerator, SpecResult
    from pytest_dvwiki.upkeep.lint import LintReport, WikiLintService
    from pytest_dvwiki.version import __version__
    from pytest_dvwiki.wiki.config import WikiConfig
    from pytest_dvwiki.wiki.finding.search import Filters, SearchResult, WikiSearchIndex
    from pytest_dvwiki.wiki.store import WikiStore
    from pytest_dvwiki.wiki.store_memory import MemoryStore, MemoryWiki
    from pytest_dvwiki.wiki.store_protocol import Store

__all__ = [
    "Filters", "LintReport", "MemoryStore", "MemoryWiki", "PromptLoader", "SearchResult", "SpecGenerator", "SpecResult",
    "Store", "WikiConfig", "WikiIngestResult", "WikiIngestService", "WikiLintService", "WikiQueryService",
    "WikiSearchIndex", "WikiStore", "__version__",
]  # fmt: skip

_HOMES = {
    "Filters": "wiki.finding.search", "LintReport": "upkeep.lint", "MemoryStore": "wiki.store_memory",
    "MemoryWiki": "wiki.store_memory", "PromptLoader": "agent.loader", "SearchResult": "wiki.finding.search",
    "SpecGenerator": "specs.generate", "SpecResult": "specs.generate", "Store": "wiki.store_protocol",
    "WikiConfig": "wiki.config", "WikiIngestResult": "intake.service", "WikiIngestService": "intake.service",
    "WikiLintService": "upkeep.lint", "WikiQueryService": "agent.query", "WikiSearchIndex": "wiki.finding.search",
    "WikiStore": "wiki.store", "__version__": "version",
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415

    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
