"""Writes the files of a wiki, and keeps a list of what was written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_dvwiki import reading
from pytest_dvwiki.records import disk
from pytest_dvwiki.records.disk import explained
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.kinds import marks
from pytest_dvwiki.wiki.page_files import NOWHERE, is_page, state_of
from pytest_dvwiki.wiki.page_summary import CATEGORIES, page_name
from pytest_dvwiki.wiki.text import former, pages
from pytest_dvwiki.wiki.text.pages import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.text.pages import PageDraft

_CITED = re.compile(rb"[A-Za-z0-9_.-]{1,180}_(?:\d{8}T\d{6}Z_[0-9a-f]{6}|[a-z]+_[0-9a-f]{12})\b")
"""Matches a task id on a page."""
_LINK = re.compile(r"(?<=\]\()(?=[\w./-]+\.md\b)")
"""Matches the position just before the target of a link to a page."""
_OTHER = (
    "its `dvwiki` comments name another page, {0}; git may have treated one page as a rename of the other, so text of"
    " people may be on the wrong page: compare with the last commit that has {0}.md, move text that is on the wrong"
    " page, then write this page's name into its comments"
)


class Files:
    """The files of one wiki; paths are relative to the wiki.

    Args:
        wiki: The wiki's folder.
        page_cache: The frontmatter of the pages.
        unreadable: Returns the given task ids that have no readable record.
        check: Write nothing to disk; changes are listed, and kept in memory for later changes to build on.
    """

    def __init__(
        self,
        wiki: Path,
        page_cache: PageCache,
        unreadable: Callable[[Iterable[str]], list[str]],
        *,
        check: bool = False,
    ) -> None:
        self.created: list[str] = []
        self.updated: list[str] = []
        self.changed: list[str] = []
        self.refused: list[tuple[str, str]] = []
        """Files that were left unchanged, each with the reason."""
        self.looks_again = False
        """True if pages may have been changed in place since they were read into the cache."""
        self._wiki = wiki
        self._page_cache = page_cache
        self._unreadable = unreadable
        self._check = check
        self._written: dict[str, bytes] = {}

    def exists(self, path: str) -> bool:
        """Return whether a file exists and has content; a power cut can leave empty files."""
        return path in self._written or disk.has_content(self._wiki / path)

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            WikiError: The file cannot be read.
        """
        if path in self._written:
            return self._written[path]
        with explained(self._wiki / path):
            return reading.read_bytes(self._wiki / path, outside.MOST)

    def present(self, path: str) -> bytes | None:
        """Return the content of a file; None if it does not exist or is empty."""
        return self.read(path) if self.exists(path) else None

    def create(self, path: str, draft: PageDraft, keys: dict[str, Any], regions: dict[str, str]) -> None:
        """Write a new page, with values for dvwiki's keys and regions."""
        edited = pages.filled(draft, keys, regions)
        if isinstance(edited, Refused):
            self.refused.append((path, edited.reason))
        # New bug pages are not synced: the records can restore them, and a run may make thousands.
        elif self.write(path, edited.data, sync=not path.startswith("bugs/"), metadata=edited.metadata):
            self.created.append(path)

    def edit(self, path: str, keys: dict[str, Any], regions: dict[str, str]) -> None:
        """Bring dvwiki's keys and regions on a page up to date.

        A page that cites an unreadable record is not changed, because its counts would be too low without that record.
        """
        if self.looks_again:
            self._page_cache.look_at((path,))
        data, known = self.read(path), self._page_cache.get(path)
        deeper = "../" * (path.count("/") - 1)
        if deeper:
            regions = {name: _LINK.sub(deeper, text) for name, text in regions.items()}
        edited: bytes | Refused = data
        if former.RECORDS in regions:
            known_as = {page_name(path), *keys.get("aliases", ())}
            other = {name for name in pages.ids(data) - known_as if not self._has_cause(name, keys.get("cause"))}
            edited = Refused(_OTHER.format(min(other))) if other else former.converted(data, page_name(path))
        if isinstance(edited, bytes):
            edited = pages.edit(edited, keys, regions, known.metadata if known else None)
        if isinstance(edited, bytes) and edited != data:
            missing = self._unreadable(cited.decode() for cited in _CITED.findall(data))
            if missing:
                reason = f"it stays as it is until the record {missing[0]} can be read; restore that record from git"
                self.refused.append((path, reason))
                return
        after = pages.values_after(known.metadata, keys) if known is not None and not known.problem else None
        self.change(path, data, edited, after)

    def _has_cause(self, name: str, cause: Any) -> bool:
        """Return whether a bug page exists and has the given cause."""
        page = self._page_cache.get(f"bugs/{name}.md")
        return page is not None and page.cause == cause

    def mark_drift(self, path: str, problem: str | None) -> None:
        """Mark a page as citing missing code, or unmark it; a page that is stale for another reason stays stale."""
        page = self._page_cache.get(path)
        if page is None or (page.metadata.get("stale") is True and marks.drifted(page) is None):
            return
        reason = marks.reason_of(problem) if problem else None
        if reason != marks.drifted(page):
            self.edit(path, {"stale": reason is not None, "stale_reason": reason}, {})

    def change(self, path: str, data: bytes, edited: bytes | Refused, metadata: dict[str, Any] | None = None) -> None:
        """Write the edited content of a page if it differs from the old content.

        Args:
            path: The page.
            data: Its old content.
            edited: Its new content, or why the page cannot be edited.
            metadata: The frontmatter of the new content, if it is known.
        """
        if isinstance(edited, Refused):
            self.refused.append((path, edited.reason))
        elif edited != data and self.write(path, edited, metadata=metadata):
            self.updated.append(path)

    def write(self, path: str, data: bytes, *, sync: bool = True, metadata: dict[str, Any] | None = None) -> bool:
        """Write a file; return False without writing if its path resolves to a location outside the wiki.

        Args:
            path: The file.
            data: Its content.
            sync: True if the file has to be on disk before this method returns.
            metadata: Its frontmatter, if it is known.
        """
        file = self._wiki / path
        if outside.leads_out(self._wiki, file):
            self.refused.append((path, outside.REASON))
            return False
        self.changed.append(path)
        state = NOWHERE
        if self._check:
            self._written[path] = data
        else:
            with self._page_cache.writing(path):
                disk.replace(file, data, sync=sync)
            state = state_of(file)
        if path.split("/", 1)[0] in CATEGORIES and is_page(file.name):
            self._page_cache.put(path, data, state, metadata=metadata)
        return True
