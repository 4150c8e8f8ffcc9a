"""The frontmatter of a page, and the categories of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "bugs": ("type", "status", "fingerprint"),
    "patterns": ("type", "failure_subtype"),
    "coverage": ("type", "covergroup", "bin", "action_class"),
    "specs": ("type", "feature"),
    "topics": ("type", "topic"),
}
"""Maps each category to the keys that all its pages must have."""
CATEGORIES = tuple(REQUIRED)


def check_category(name: str | None) -> None:
    """Check that a category exists; None means all categories and is valid.

    Raises:
        ValueError: The category does not exist; the message lists the valid categories.
    """
    if name is not None and name not in CATEGORIES:
        raise ValueError(f"unknown category {name!r}; choose from {', '.join(CATEGORIES)}")


REGRESSED = "regressed"
"""Status shown for a bug that came back; the key `status` on its page stays `closed`, as people set it."""


def page_name(path: str) -> str:
    """Return the file name of a page without its suffix, given its path or name."""
    return path.rpartition("/")[2].removesuffix(".md")


def place_of(path: str) -> str:
    """Return the path of a page relative to the folder of its category, without its suffix."""
    return path.partition("/")[2].removesuffix(".md")


class PageSummary(Struct, frozen=True):
    """The frontmatter of a page and data about its text."""

    path: str
    """Path of the page, relative to the wiki."""
    category: str
    title: str
    metadata: dict[str, Any]
    problem: str
    """Why the frontmatter cannot be read; empty if it can."""
    opening: str = ""
    """The first line of the page's text that is not a heading."""
    version: str = ""
    """A hash of the page's content; a writer passes the hash of the version that the new content is based on."""
    words: int = 0

    @property
    def name(self) -> str:
        """Return the file's name without its suffix."""
        return page_name(self.path)

    @property
    def place(self) -> str:
        """Return the page's path within its category's folder, without its suffix."""
        return place_of(self.path)

    def text(self, key: str, default: str = "") -> str:
        """Return the value of a key as a string; the default if it is missing or null."""
        value = self.metadata.get(key)
        return default if value is None else str(value)

    @property
    def status(self) -> str:
        """Return the status to show: what people set, or `regressed` if the bug came back after they closed it."""
        return status_of(self.metadata)

    @property
    def leads_to(self) -> str:
        """Return the name of the page that people marked as replacing this page; empty if there is none."""
        return page_name(self.text("superseded_by"))

    @property
    def replaces(self) -> tuple[str, ...]:
        """Return the names of the pages that people marked as replaced by this page."""
        return self.pages("supersedes")

    def pages(self, key: str) -> tuple[str, ...]:
        """Return the page names in a key's value: a page or a list of pages, each given as name or path."""
        value = self.metadata.get(key)
        named = value if isinstance(value, list) else [value]
        return tuple(page_name(str(each)) for each in named if each)

    @property
    def cause(self) -> str:
        """Return the cause's name: the fingerprint, plus a task id if the check had already reported another cause."""
        fingerprint, cause = self.text("fingerprint"), self.text("cause")
        # Any other value was set by people, for a purpose of their own.
        return cause if fingerprint and cause.startswith(f"{fingerprint}/") else fingerprint

    def fingerprints(self, *more: str) -> tuple[str, ...]:
        """Return the name of the page's cause, its former names, and the given names."""
        aliases = self.metadata.get("fingerprint_aliases")
        prints = [self.cause, *(aliases if isinstance(aliases, list) else []), *more]
        return tuple(dict.fromkeys(str(item) for item in prints if item))


def status_of(metadata: Mapping[str, Any]) -> str:
    """Return the status to show, from a page's frontmatter; empty if it has none."""
    status = metadata.get("status")
    if status == "closed" and metadata.get("regressed"):
        return REGRESSED
    return "" if status is None else str(status)
