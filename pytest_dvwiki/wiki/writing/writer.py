"""A wiki that is being written: its records, pages and files together."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Self

from pytest_dvwiki.records import verdicts
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.records.flaky import flaky_tests
from pytest_dvwiki.version import FINGERPRINT_VERSION, TOOL
from pytest_dvwiki.wiki import flaky
from pytest_dvwiki.wiki.index import FILES, FLAKY, Top, indexes
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.page_cache import PageCache
from pytest_dvwiki.wiki.writing.files import Files
from pytest_dvwiki.wiki.writing.log import add_to_log, log_file
from pytest_dvwiki.wiki.writing.renewal import renewed
from pytest_dvwiki.wiki.writing.scaffold import scaffold
from pytest_dvwiki.wiki.writing.views import Views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_dvwiki.settings import Layout

    Progress = Callable[[str, int], None]


class WikiWriter:
    """The records and pages of one wiki.

    Args:
        layout: Where the wiki is.
        check: Write nothing to disk; changes are listed, and kept in memory for later changes to build on.
        progress: Called with the name of each step and its count so far.
    """

    def __init__(self, layout: Layout, *, check: bool = False, progress: Progress | None = None) -> None:
        self.layout = layout
        self.check = check
        self.progress = progress or (lambda _done, _count: None)
        cache = layout.wiki / ".cache"
        self.archive = Archive(layout.tasks, None if check and not layout.wiki.exists() else cache / "records.sqlite")
        self.page_cache = PageCache(layout.wiki, None if check else cache / "pages.sqlite")
        self.files = Files(layout.wiki, self.page_cache, self.archive.unreadable, check=check)
        self.views = Views(layout, self.archive, self.page_cache, self.files)

    def __enter__(self) -> Self:
        if not self.check:
            log_file(self.layout)  # raises now, before anything is written that could not be logged
        return self

    def __exit__(self, *_: object) -> None:
        self.archive.close()
        self.page_cache.close()

    def refresh(self) -> None:
        """Read the records and pages that have changed."""
        self.archive.refresh()
        self.page_cache.refresh()
        self.page_cache.causes.join(self.archive)

    def join_same_causes(self) -> set[str]:
        """If the records show that causes are the same, write a verdicts file that joins them.

        Returns:
            The causes whose fixes are judged differently now.
        """
        merges = self.archive.new_merges()
        judged: set[str] = set()
        if merges and self.check:
            self.files.changed.append(f"../{self.layout.tasks.name}/{verdicts.FOLDER}")
        elif merges:
            newest = max(member.first for merge in merges for member in merge.members)
            rulings = verdicts.Rulings(
                newest=newest, tool=TOOL, fingerprint_version=FINGERPRINT_VERSION, merges=tuple(merges)
            )
            path = verdicts.write(self.layout.tasks, rulings)
            judged = self.archive.refresh()
            merged = "; ".join(f"{len(merge.members)} causes are one: {merge.words}" for merge in merges)
            add_to_log(self.layout, "merge", f"{verdicts.FOLDER}/{path.name}: {merged}", date=newest)
        if not self.check:
            self.archive.note_searched()
        self.page_cache.causes.join(self.archive)
        return judged

    def look_quickly(self) -> None:
        """Read pages that were added or removed; pages changed in place are read again when needed."""
        self.page_cache.refresh(quick=True)
        self.files.looks_again = True

    def write_indexes(self, *, from_all_pages: bool = False) -> None:
        """Update the index files and the page of flaky tests.

        Args:
            from_all_pages: Rebuild the index files from all pages, even if only a few rows changed.
        """
        index, tests, files = self.page_cache.index, flaky_tests(self.archive), None
        top = Top(self.archive.last_updated(), index.commits(), len(tests), index.left_out())
        if not from_all_pages and index.is_current(FILES):
            files = renewed(self.files.read, index.changed(), top)
        if files is None:
            files = indexes(index.rows, top)
        if tests or self.files.exists(FLAKY):
            files[FLAKY] = flaky.page(tests, self.views.bug_path).encode()
        for path, data in files.items():
            if not self.files.exists(path) or self.files.read(path) != data:
                self.files.write(path, data)
        if not self.check:
            index.note_written(FILES)


@contextlib.contextmanager
def writing(layout: Layout, *, scaffolded: bool = True, progress: Progress | None = None) -> Iterator[WikiWriter]:
    """Open a wiki for writing, under its lock.

    Args:
        layout: Where the wiki is.
        scaffolded: Create the wiki's folders and files first if there is no wiki yet.
        progress: Called with the name of each step and its count so far.

    Raises:
        WikiError: The lock could not be taken, or the cache failed during the work.
    """
    lock = locked(layout.wiki, layout.lock_timeout)
    with _sound_cache(layout), lock, WikiWriter(layout, progress=progress) as writer:
        if scaffolded and not (layout.wiki / "index.md").exists():
            scaffold(layout)
        yield writer


@contextlib.contextmanager
def _sound_cache(layout: Layout) -> Iterator[None]:
    """Turn errors of the cache's database into wiki errors.

    Raises:
        WikiError: The cache failed.
    """
    try:
        yield
    except sqlite3.Error as error:
        cache = layout.wiki / ".cache"
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise WikiError(f"cannot write {cache}: the disk is full; free some space") from error
        raise WikiError(f"cannot use {cache}: {error}; remove it and run `dvwiki build`") from error
