"""Updates the pages of causes that people merged or separated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.records import subtype_history
from pytest_dvwiki.wiki import supersession
from pytest_dvwiki.wiki.supersession import MergeError
from pytest_dvwiki.wiki.writing.views import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.wiki.writing.views import Views


def merge(views: Views, kept: str, other: str, reason: str | None) -> None:
    """Make a bug page point to another bug page, and update all pages of both causes.

    Raises:
        MergeError: A page does not exist, or the pages cannot be merged.
    """
    found = [views.page_cache.get(path) for path in (kept, other)]
    if found[0] is None or found[1] is None:
        raise MergeError(f"{kept if found[0] is None else other}: there is no such page")
    if views.archive.rulings().are_apart(found[0].fingerprints()[:1], found[1].fingerprints()[:1]):
        raise MergeError(
            f"{found[0].name} and {found[1].name} were set apart by `dvwiki merge --undo`;"
            f" to merge them, first remove the file that separates them from {views.layout.tasks.name}/verdicts"
        )
    supersession.check(views.page_cache, found[0], found[1])
    for path, data in supersession.edits(found[0], found[1], reason, views.files.read):
        if data != views.files.read(path):
            views.files.write(path, data)
    fingerprints = [name for page in found if page for name in page.fingerprints()]
    views.update_bug(views.page_cache.causes.pages_of(*views.archive.identities(*fingerprints)))
    views.link_to(views.archive.present(fingerprints))
    for name in sorted(subtype_history.of_causes(views.archive, views.archive.present(fingerprints)) - {UNKNOWN}):
        views.pattern(name, may_create=False)


def set_apart(views: Views, causes: Iterable[str]) -> None:
    """Update the pages of causes that were treated as the same cause until now, and create missing pages."""
    keep_apart(views)
    drop_unreplaced(views)
    names = views.archive.present(sorted(causes))
    for fingerprint in names:
        views.bug(fingerprint, may_create=True)
    views.link_to(names)
    for name in sorted(subtype_history.of_causes(views.archive, names) - {UNKNOWN}):
        views.pattern(name, may_create=False)


def keep_apart(views: Views) -> None:
    """Remove the links between pages that people separated as different causes."""
    rulings = views.archive.rulings()
    for page in views.page_cache.causes.superseded() if rulings.apart else ():
        target = views.page_cache.get(f"bugs/{page.leads_to}.md")
        if target is not None and rulings.are_apart(page.fingerprints()[:1], target.fingerprints()[:1]):
            for path, data in supersession.undone(target, page, views.files.read):
                views.files.write(path, data)


def drop_unreplaced(views: Views) -> None:
    """Remove from each page the fingerprints of pages that it no longer replaces, as after an undone merge."""
    alone = views.archive.rulings().alone
    for page in views.page_cache.causes.with_aliases():
        own, *aliases = page.fingerprints()
        mine = {*views.archive.identities(own), *views.page_cache.causes.merged_into(page)}
        kept = [name for name in aliases if name in mine or not (name in alone or views.page_cache.causes.owns(name))]
        if kept != aliases:
            views.files.edit(page.path, {"fingerprint_aliases": kept}, {})
