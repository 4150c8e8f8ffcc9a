"""Pages that are made from records: bug pages, pattern pages and coverage pages."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pytest_dvwiki.records import absence, aggregate, bins, proposals, subtype_history
from pytest_dvwiki.wiki.kinds import bug, bug_region, coverage, marks, pattern
from pytest_dvwiki.wiki.page_summary import page_name, place_of
from pytest_dvwiki.wiki.text.markdown import code
from pytest_dvwiki.wiki.text.names import bug_name, file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_dvwiki.model import Occurrence
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.page_summary import PageSummary
    from pytest_dvwiki.wiki.writing.files import Files

UNKNOWN = "unknown"
"""Subtype of failures that no pattern identifies; it has no pattern page."""


class Views:
    """Creates and updates the pages that are made from records.

    This class is long because each kind of page is made and updated in its own way, and all kinds share the same files.

    Args:
        layout: Where the wiki is.
        archive: The records.
        page_cache: The frontmatter of the pages.
        files: Writes the pages.
    """

    def __init__(self, layout: Layout, archive: Archive, page_cache: PageCache, files: Files) -> None:
        self.layout = layout
        self.archive = archive
        self.page_cache = page_cache
        self.files = files
        self.made: set[str] = set()
        """Causes that got a new page from this object."""

    @cached_property
    def _registry(self) -> Registry:
        from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415

        # The classifier reports invalid patterns; pages are made without them.
        return load_registry(sorted(self.layout.patterns.glob("*.yaml")), problem=lambda _: None)

    def bug(self, fingerprint: str, *, may_create: bool) -> None:
        """Update the bug page of a cause; if there is no page, create it only if `may_create` is true."""
        listed = self.pages(fingerprint)
        # If causes were joined, the page of the first cause is kept, even if another cause got its page earlier.
        is_headless = bool(listed) and all(map(self.page_cache.causes.is_joined, listed))
        if listed and not is_headless:
            self.update_bug(listed)
            return
        if not (may_create or is_headless):
            return
        (fingerprint,) = self.archive.present((fingerprint,))
        cause = aggregate.cause(self.archive, (fingerprint,))
        if cause is None or not bug.has_page(cause.newest):
            return
        origin = cause.origin.type
        name = bug_name(origin, cause.first_seen, fingerprint, lambda name: self.files.exists(f"bugs/{name}.md"))
        lesson = self._registry.subtypes.get(cause.newest.failure_subtype)
        self.made.add(fingerprint)
        self.files.create(
            f"bugs/{name}.md",
            # For joined causes the page describes the first cause, even if another cause is newer.
            bug.new(
                name,
                origin,
                self.archive.first_recorded_as(fingerprint) or cause.newest,
                lesson.description.strip() if lesson else "",
            ),
            bug.keys(name, cause, self.archive.identities(fingerprint), (), _gone(self.archive, cause), made_as=origin),
            self._regions(cause, origin, (fingerprint,)),
        )
        if is_headless:
            self.update_bug(self.pages(fingerprint))

    def separate(self, formers: Iterable[str]) -> None:
        """Give separate pages to causes that share a version 1 fingerprint; the old page keeps the earlier history.

        If people merged the old page into another page, that page counts all these causes.
        """
        for former in formers:
            listed = self.page_cache.causes.pages_of(former)
            heirs = [name for name in self.archive.heirs(former) if name != former]
            if any(page.leads_to for page in listed):
                self.update_bug(listed, heirs)
                continue
            for page in listed:
                own, *aliases = page.fingerprints()
                if former in aliases and own in heirs:
                    kept = [name for name in aliases if name != former and name not in self.archive.identities(*heirs)]
                    self.files.edit(page.path, {"fingerprint": former, "fingerprint_aliases": kept}, {})
            for name in heirs:
                self.bug(name, may_create=True)
            self.bug(former, may_create=False)

    def update_bug(self, listed: list[PageSummary], more: Iterable[str] = ()) -> None:
        """Update the pages of a cause; the first page is kept, and also counts the causes in `more`."""
        keeper, *rest = listed
        if keeper.problem:
            self.files.refused.append((keeper.path, f"it cannot be read: {keeper.problem}"))
            return
        fingerprints = keeper.fingerprints(*(name for page in rest for name in page.fingerprints()), *more)
        cause = aggregate.cause(self.archive, fingerprints)
        if cause is None:
            return
        known = keeper.metadata.get("aliases")
        # A page that a person renamed still has its former name as its id.
        former = {*map(str, known if isinstance(known, list) else ()), keeper.text("id", keeper.name)} - {keeper.name}
        gone = {name for name in former if not self.files.exists(f"bugs/{name}.md")}
        aliases = sorted(gone | {page.name for page in rest})
        identities = self.archive.identities(*fingerprints)
        kind = bug.effective_type(keeper, cause.origin.type)
        made_as = bug.type_at_creation(keeper)
        self.files.edit(
            keeper.path,
            bug.keys(keeper.name, cause, identities, aliases, self._stale_reason(keeper, cause), made_as=made_as),
            self._regions(cause, kind, identities, rest),
        )
        self.point(listed)

    def _regions(
        self, cause: aggregate.CauseHistory, kind: str, names: Sequence[str], others: Sequence[PageSummary] = ()
    ) -> dict[str, str]:
        kin = _kin(self.archive, self._bug_name, names)
        return bug_region.regions(cause, kind, self._bug_name, self._advice_on, others=others, kin=kin)

    def _stale_reason(self, page: PageSummary, cause: aggregate.CauseHistory) -> str | None:
        """Return why a page is stale: its cause is gone without a fix, or it cites missing code; else None."""
        gone = _gone(self.archive, cause) if page.text("status") == "open" else None
        if gone and page.text("stale_reason") == marks.left_out_reason(gone):
            return page.text("stale_reason")  # set by `dvwiki maintain`
        return gone or marks.drifted(page)

    def leave_out(self, days: int) -> None:
        """Mark bug pages that have been stale for `days` days without a fix that held, so that the index omits them."""
        for page in self.page_cache.all("bugs"):
            if marks.is_gone(page.metadata) and not marks.is_left_out(page.metadata):
                cause = aggregate.cause(self.archive, page.fingerprints())
                if cause is not None and absence.is_gone_for(self.archive, cause, days):
                    self.files.edit(page.path, {"stale_reason": marks.left_out_reason(page.text("stale_reason"))}, {})

    def link_to(self, causes: Iterable[str]) -> None:
        """Update the bug pages that mention one of these causes, because the causes' own pages have changed."""
        causes = set(causes)
        of_one_check = {name for each in causes for name in self.archive.family(each)}
        for fingerprint in sorted(of_one_check | proposals.mentioning(self.archive.db, causes)):
            self.bug(fingerprint, may_create=False)

    def point(self, listed: list[PageSummary]) -> None:
        """Turn all pages of a cause except the first into pointers to the first page."""
        keeper, *rest = listed
        for page in rest:
            self.files.edit(page.path, bug.pointer_keys(page, keeper), bug.pointer_regions(page, keeper))

    def pages(self, fingerprint: str) -> list[PageSummary]:
        """Return the pages of a cause; the page to keep comes first."""
        identities = self.archive.identities(fingerprint)
        listed = self.page_cache.causes.pages_of(*identities)
        if self.files.looks_again and self.page_cache.look_at(page.path for page in listed):
            listed = self.page_cache.causes.pages_of(*identities)
        return listed

    def pattern(self, name: str, *, may_create: bool) -> None:
        """Update the page of a failure subtype; if there is no page, create it only if `may_create` is true."""
        path = f"patterns/{file_name(name)}.md"
        exists = self.files.exists(path)
        subtype = subtype_history.history_of(self.archive, name, self._merged)
        if subtype is None or not (exists or may_create):
            return
        linked = [row.fingerprint for row in subtype.rows] + [cause for cause, *_ in subtype.fixes if cause]
        names = {cause: place_of(page) for cause, page in self.bug_paths(linked).items() if page}
        keys, regions = pattern.keys(subtype), pattern.regions(subtype, names.get, self._fix_of)
        if exists:
            self.files.edit(path, keys, regions)
        else:
            self.files.create(path, pattern.new(name, self._registry.subtypes.get(name)), keys, regions)

    @cached_property
    def _merged(self) -> list[tuple[str, ...]]:
        """Return the fingerprints of each bug page that has several; call this only after all bug pages are written."""
        return [page.fingerprints() for page in self.page_cache.causes.with_aliases()]

    def hole(self, covergroup: str, bin_name: str, *, may_create: bool) -> None:
        """Update the page of a coverage bin; if there is no page, create it only if `may_create` is true."""
        path, other = coverage.paths(covergroup, bin_name)
        there = self.page_cache.get(path)
        if there and not there.problem and not coverage.is_of(there, covergroup, bin_name):
            path = other
        exists = self.files.exists(path)
        hole = bins.hole(self.archive, covergroup, bin_name)
        if hole is None or not (exists or may_create):
            return
        if exists:
            self.files.edit(path, coverage.keys(hole), coverage.regions(hole))
        else:
            self.files.create(path, coverage.new(page_name(path), hole), coverage.keys(hole), coverage.regions(hole))

    def _bug_name(self, fingerprint: str) -> str | None:
        path = self.bug_path(fingerprint)
        return place_of(path) if path else None

    def bug_path(self, fingerprint: str) -> str | None:
        """Return the path of a cause's bug page; None if there is none."""
        return self.bug_paths((fingerprint,))[fingerprint]

    def bug_paths(self, fingerprints: Iterable[str]) -> dict[str, str | None]:
        """Return the path of each cause's bug page; None if a cause has no page."""
        return self.page_cache.causes.paths({each: self.archive.identities(each) for each in fingerprints})

    def _advice_on(self, occurrence: Occurrence) -> str | None:
        return self._registry.advice(occurrence.pattern, occurrence.failure_subtype, occurrence.primary, code)

    def _fix_of(self, pattern_id: str) -> str | None:
        known = self._registry.get(pattern_id)
        return known.advice({}) if known else None


def _kin(archive: Archive, page_of: Callable[[str], str | None], fingerprints: Sequence[str]) -> list[str]:
    """Return lines about the same check's other causes, and about pages that share a version 1 fingerprint."""
    held = [name for each in archive.formers(*fingerprints) if (name := page_of(each))]
    holds = [name for each in archive.heirs(*fingerprints) if (name := page_of(each))]
    family = archive.family(fingerprints[0])
    others = [each for each in family if each not in fingerprints]
    place = family.index(fingerprints[0]) if fingerprints[0] in family else 0
    return [
        *(
            f"- [{name}]({name}.md): treated as a different fault, reported by the same check"
            f" {'before' if family.index(each) < place else 'later'}"
            for each in others
            if (name := page_of(each))
        ),
        *(
            f"- [{name}]({name}.md): counted this cause together with others under a version 1 fingerprint"
            for name in held
        ),
        *(f"- [{name}]({name}.md): was counted on this page under a version 1 fingerprint" for name in holds),
    ]


def _gone(archive: Archive, cause: aggregate.CauseHistory) -> str | None:
    """Return the stale reason for a cause that is gone without a fix on record; None if the cause is not gone."""
    if not absence.is_gone(archive, cause):
        return None
    return marks.gone_reason(cause.last_seen, absence.DAYS)
