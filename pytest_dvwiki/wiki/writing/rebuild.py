"""Rebuilds everything that is derived from records and pages."""

from __future__ import annotations

from functools import partial
from stat import S_ISREG
from typing import TYPE_CHECKING

from pytest_dvwiki.records import aggregate, disk, merged, store, subtype_history, verdicts
from pytest_dvwiki.records.bins import holes
from pytest_dvwiki.records.overview import not_always_waived
from pytest_dvwiki.wiki import outside, review
from pytest_dvwiki.wiki.kinds import pattern
from pytest_dvwiki.wiki.kinds.owned import OWNED
from pytest_dvwiki.wiki.page_files import page_files
from pytest_dvwiki.wiki.page_summary import CATEGORIES
from pytest_dvwiki.wiki.text import conflicts
from pytest_dvwiki.wiki.text.names import file_name, number_of
from pytest_dvwiki.wiki.writing import joining, sides
from pytest_dvwiki.wiki.writing.log import add_to_log, ingested
from pytest_dvwiki.wiki.writing.run import bins, silenced
from pytest_dvwiki.wiki.writing.views import UNKNOWN

if TYPE_CHECKING:
    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.writing.writer import WikiWriter

_PROGRESS_EVERY = 100


def rebuild(writer: WikiWriter, *, restore: bool, subtypes: frozenset[str]) -> list[RunRecord]:
    """Rebuild everything that is derived from records and pages; return the runs that had no pages yet.

    Args:
        writer: The wiki.
        restore: Restore deleted pages.
        subtypes: Failure subtypes that get a page if it is missing.
    """
    _repair_records(writer)
    writer.archive.refresh(verify=True, progress=partial(writer.progress, "records read"))
    writer.page_cache.refresh(partial(writer.progress, "pages read"))
    writer.join_same_causes()
    with writer.page_cache.batch():
        _settle(writer)
        merged_runs = _make_pages(writer, restore=restore, subtypes=subtypes)
    writer.write_indexes(from_all_pages=True)
    return merged_runs


def sweep(layout: Layout) -> None:
    """Remove temporary files that a killed process left behind."""
    wiki, tasks = layout.wiki, layout.tasks
    holders = (tasks / name for name in (store.SUITES, verdicts.FOLDER))
    for folder in (wiki, *(wiki / each for each in (*CATEGORIES, review.FOLDER)), *store.folders(tasks), *holders):
        disk.sweep(folder)


def _repair_records(writer: WikiWriter) -> None:
    """Repair the files of records that a git merge left broken."""
    tasks = writer.layout.tasks
    done = merged.put_right(tasks, check=writer.check)
    writer.files.changed += [f"../{tasks.name}/{name}" for name in done.changed]
    writer.files.refused += [(f"../{tasks.name}/{name}", reason) for name, reason in done.left]


def _make_pages(writer: WikiWriter, *, restore: bool, subtypes: frozenset[str]) -> list[RunRecord]:
    views = writer.views
    unlogged = writer.archive.runs_outside(ingested(writer.layout))
    unfinished = {
        writer.archive.called_in(record.task_id, each.fingerprint)
        for record in unlogged
        for silent in [silenced(record)]
        for each in record.occurrences
        if each.fingerprint not in silent
    }
    causes = aggregate.fingerprints(writer.archive)
    # New pages are not synced to disk: a power cut may have left empty files.
    lost = writer.page_cache.numbers_of_empty()
    unfinished |= {each for each in causes if lost and number_of(each) in lost}
    # These causes had no pages of their own when their runs were archived, so nobody can have deleted such pages.
    alone = writer.archive.rulings().alone | not_always_waived(writer.archive, writer.archive.further())
    joining.keep_apart(views)
    joining.drop_unreplaced(views)
    views.separate(writer.archive.split())
    for number, fingerprint in enumerate(causes, 1):
        views.bug(fingerprint, may_create=restore or fingerprint in unfinished or fingerprint in alone)
        if number % _PROGRESS_EVERY == 0:
            writer.progress("pages rebuilt", number)
    views.link_to(views.made)
    shared = {
        *writer.page_cache.causes.shared(),
        *(cause for page in writer.page_cache.causes.superseded() for cause in page.fingerprints()),
    }
    # Causes on several pages get a second pass: a page may have taken over the names of a page rebuilt before it.
    for fingerprint in sorted(shared):
        views.point(views.pages(fingerprint))
    fresh = {*subtypes, *(_subtype_of(writer, fingerprint) for fingerprint in unfinished)}
    for name in subtype_history.names(writer.archive):
        if name != UNKNOWN:
            views.pattern(name, may_create=restore or name in fresh)
    _empty_patterns(writer)
    unfinished_holes = {one for record in unlogged for one in bins(record)}
    for covergroup, bin_name in holes(writer.archive):
        views.hole(covergroup, bin_name, may_create=restore or (covergroup, bin_name) in unfinished_holes)
    if not writer.check:
        for record in unlogged:
            add_to_log(writer.layout, "ingest", "pages made by a build", record.task_id, date=record.finished)
    return unlogged


def _empty_patterns(writer: WikiWriter) -> None:
    """Empty the pages of subtypes that no longer occur in any record because their causes were reclassified."""
    present = {file_name(name) for name in subtype_history.names(writer.archive)}
    for listed in list(writer.page_cache.all("patterns")) if writer.archive.is_reclassified() else ():
        if listed.name not in present and listed.metadata.get("hit_count"):
            writer.files.edit(listed.path, pattern.EMPTY_KEYS, pattern.EMPTY_REGIONS)


def _subtype_of(writer: WikiWriter, fingerprint: str) -> str | None:
    found = writer.archive.newest_occurrence((fingerprint,))
    return found.failure_subtype if found else None


def _settle(writer: WikiWriter) -> None:
    """Resolve merge conflicts in dvwiki's lines on all pages."""
    for category in CATEGORIES:
        for path, status in sorted(page_files(writer.layout.wiki, category)):
            # Skip what is not a file, such as a broken link; `lint` reports it.
            if not S_ISREG(status.st_mode) or outside.leads_out(writer.layout.wiki, writer.layout.wiki / path):
                continue
            data = writer.files.read(path)
            settled = conflicts.settle(data, OWNED.get(category, ()))
            if settled is None:
                continue
            anew = sides.merged(writer.layout.wiki, path) if settled.open_lines else None
            if anew is not None:
                settled = conflicts.settle(anew, OWNED.get(category, ())) or conflicts.Settled(anew, ())
            if settled.open_lines:
                lines = ", ".join(map(str, settled.open_lines))
                writer.files.refused.append((path, f"conflict in people's text; resolve it by hand: line {lines}"))
            if settled.data != data:
                writer.files.write(path, settled.data)
