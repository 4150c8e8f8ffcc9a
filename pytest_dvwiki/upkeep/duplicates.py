"""Bug pages with nearly the same cause: proposed for a merge, which a person decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.upkeep.findings import Finding
from pytest_dvwiki.wiki.kinds.bug import is_pointer
from pytest_dvwiki.wiki.likeness import alike, first_seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.wiki.page_cache import PageCache


def check_likeness(page_cache: PageCache, archive: Archive) -> Iterator[Finding]:
    """Yield the pages whose cause is similar to that of an older page, each with the oldest such page."""
    for page in list(page_cache.all("bugs")):
        if page.problem or is_pointer(page) or not page.fingerprints():
            continue
        kept = next(iter(alike(archive, page_cache, page.fingerprints())), None)
        if kept is not None and first_seen(archive, kept) < first_seen(archive, page):
            yield Finding(
                page.path,
                0,
                "near_duplicate",
                f"says nearly the same as {kept.path}: `dvwiki merge {kept.name} {page.name}`",
            )
