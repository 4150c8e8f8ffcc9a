"""A page as lists have it, and the categories that pages are of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CATEGORIES = ("bugs", "patterns", "coverage", "specs")
REGRESSED = "regressed"
"""The status of a bug that came back, as readers see it; the key of its page stays `closed`, as people left it."""


def page_name(path: str) -> str:
    """The name of a page by its path or its name: the file's without its ending."""
    return path.rpartition("/")[2].removesuffix(".md")


@dataclass(frozen=True, slots=True)
class Listed:
    """A page without its text."""

    path: str
    """Relative to the wiki."""
    category: str
    title: str
    metadata: dict[str, Any]
    problem: str
    """Why its frontmatter cannot be read, empty where it can."""

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return page_name(self.path)

    def text(self, key: str, default: str = "") -> str:
        """A key's value as text, the default where it is missing or null."""
        value = self.metadata.get(key)
        return default if value is None else str(value)

    @property
    def status(self) -> str:
        """How a bug stands, for readers: its status, which is people's, unless it came back since they closed it."""
        return status_of(self.metadata)

    @property
    def leads_to(self) -> str:
        """The name of the page that people say has replaced this one, empty where there is none."""
        return page_name(self.text("superseded_by"))

    @property
    def replaces(self) -> tuple[str, ...]:
        """Names of the pages that people say this one has replaced."""
        return self.pages("supersedes")

    def pages(self, key: str) -> tuple[str, ...]:
        """Names of the pages that people name by a key: one or a list, by name or by path."""
        value = self.metadata.get(key)
        named = value if isinstance(value, list) else [value]
        return tuple(page_name(str(each)) for each in named if each)

    @property
    def cause(self) -> str:
        """The name of the page's cause: its fingerprint, with a run where the check had reported another one before."""
        fingerprint, cause = self.text("fingerprint"), self.text("cause")
        # Any other value is a key of people's.
        return cause if fingerprint and cause.startswith(f"{fingerprint}/") else fingerprint

    def fingerprints(self, *more: str) -> tuple[str, ...]:
        """The name of the page's cause, those that it had before, and more."""
        aliases = self.metadata.get("fingerprint_aliases")
        prints = [self.cause, *(aliases if isinstance(aliases, list) else []), *more]
        return tuple(dict.fromkeys(str(item) for item in prints if item))


def status_of(metadata: Mapping[str, Any]) -> str:
    """How a bug stands by the keys of its page, for readers; empty where they do not say."""
    status = metadata.get("status")
    if status == "closed" and metadata.get("regressed"):
        return REGRESSED
    return "" if status is None else str(status)
