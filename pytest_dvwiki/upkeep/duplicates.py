"""Bug pages that say nearly the same: proposed for a merge, which a person decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.upkeep.findings import Finding
from pytest_dvwiki.wiki.bug import is_pointer
from pytest_dvwiki.wiki.catalogue import seniority
from pytest_dvwiki.wiki.likeness import alike

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.wiki.catalogue import Catalogue


def check_likeness(catalogue: Catalogue, archive: Archive) -> Iterator[Finding]:
    """Pages whose cause is like that of a page that was there before, each with the oldest such page."""
    for page in list(catalogue.all("bugs")):
        if page.problem or is_pointer(page) or not page.fingerprints():
            continue
        older = [
            other for other in alike(archive, catalogue, page.fingerprints()) if seniority(other) < seniority(page)
        ]
        if older:
            kept = min(older, key=seniority)
            yield Finding(
                page.path,
                0,
                "near_duplicate",
                f"says nearly what {kept.path} says: `dvwiki merge {kept.name} {page.name}`",
            )
