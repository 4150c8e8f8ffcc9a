"""Functions that write to the wiki: archive a run, change pages, rebuild all derived content."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records.disk import append_line, explained
from pytest_dvwiki.records.disk import replace as replace_file
from pytest_dvwiki.records.store import write_record, write_suite
from pytest_dvwiki.records.verdicts import Apart, Rulings, write
from pytest_dvwiki.runs import today
from pytest_dvwiki.version import TOOL
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.supersession import MergeError
from pytest_dvwiki.wiki.text.pages import Refused
from pytest_dvwiki.wiki.writing import joining
from pytest_dvwiki.wiki.writing.log import add_to_log, ingested, log_file
from pytest_dvwiki.wiki.writing.rebuild import rebuild, sweep
from pytest_dvwiki.wiki.writing.run import ArchivedRun
from pytest_dvwiki.wiki.writing.scaffold import keep_out_of_git, scaffold
from pytest_dvwiki.wiki.writing.writer import WikiWriter, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pytest_dvwiki.causes.passed import Lasting
    from pytest_dvwiki.model import RunRecord
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.kinds.spec import Clarification
    from pytest_dvwiki.wiki.writing.reclassify import Reclassified
    from pytest_dvwiki.wiki.writing.writer import Progress


class ArchiveResult(Struct, frozen=True, kw_only=True):
    """The result of archiving a run; paths are relative to the wiki."""

    pages_created: list[str]
    pages_updated: list[str]
    page_of: dict[str, str]
    """Maps each fingerprint of the run to the path of its bug page, or of the pattern page if there is no bug page."""
    seconds: float
    refused: list[tuple[str, str]]
    """Pages that were left unchanged, each with the reason."""
    lasting: Lasting
    """Causes whose newest fix holds or is proven because of this run."""
    like: dict[str, tuple[str, str]]
    """Maps each cause with a new page to the names of an older, similar page and of the new page."""


class BuildResult(Struct, frozen=True, kw_only=True):
    """The result of a build, or of a check; paths are relative to the wiki."""

    changed: list[str]
    refused: list[tuple[str, str]]
    problems: list[str]
    """Problems with record files, one line for each."""
    seconds: float
    merged: tuple[RunRecord, ...] = ()
    """The runs that had no pages before, such as runs of shards."""


def init(layout: Layout) -> list[str]:
    """Create missing folders and files of the wiki.

    Returns:
        The created files, relative to the folder that contains the wiki.
    """
    with writing(layout, scaffolded=False) as writer:
        made = scaffold(layout)
        writer.refresh()
        writer.write_indexes()
        made += [f"{layout.wiki.name}/{path}" for path in writer.files.changed]
        if made:
            add_to_log(layout, "init", f"{count(len(made), 'file')} made")
    return made


def archive(
    layout: Layout,
    record: RunRecord,
    *,
    lists: Iterable[Iterable[str]] = (),
    clarification: Clarification | None = None,
    data: bytes | None = None,
) -> ArchiveResult:
    """Write the record of a run, then the pages of its causes, the indexes and the log.

    Archiving the same record again changes nothing, unless an earlier attempt was interrupted and has to be completed.

    Args:
        layout: Where the wiki is.
        record: The run.
        lists: The lists of tests that `record.suites` refers to.
        clarification: A clarification in the record; it is added to its page only once.
        data: The bytes of the record, if it was read from a file; the same bytes are written.

    Raises:
        WikiError: The record or the log could not be written, or the lock could not be taken. A page that could not be
            edited is not an error; it is listed in the result.
    """
    began = time.monotonic()
    with writing(layout) as writer:
        writer.archive.refresh()
        for listed in lists:
            write_suite(layout.tasks, listed)
        is_new = writer.archive.record(record.task_id) != record and write_record(layout.tasks, record, data)
        # If the same run is archived again, pages deleted since then stay deleted.
        is_due = is_new or record.task_id not in ingested(layout)
        judged = writer.archive.refresh() | writer.join_same_causes()
        run = ArchivedRun(writer, record, judged)
        writer.look_quickly()
        with writer.page_cache.batch():
            if clarification and is_due:
                run.clarify(clarification)
            summary = run.update(may_create=is_due)
        writer.write_indexes()
        if is_due:
            add_to_log(layout, "ingest", summary, record.task_id, date=record.finished)
        return ArchiveResult(
            pages_created=writer.files.created,
            pages_updated=writer.files.updated,
            page_of=run.page_of(),
            seconds=time.monotonic() - began,
            refused=writer.files.refused,
            lasting=run.lasting(),
            like=run.like,
        )


def write_record_alone(layout: Layout, record: RunRecord, *, lists: Iterable[Iterable[str]] = ()) -> None:
    """Write the record of a run and its lists of tests, but no pages; a later `build` makes them.

    No lock is needed, because every file is new: shards that share a folder do not wait for each other.
    """
    keep_out_of_git(layout)
    for listed in lists:
        write_suite(layout.tasks, listed)
    write_record(layout.tasks, record)


def build(
    layout: Layout,
    *,
    check: bool = False,
    restore: bool = False,
    reclassified: Reclassified | None = None,
    progress: Progress | None = None,
) -> BuildResult:
    """Rebuild all derived content; the result is byte for byte the same on any machine.

    Merge conflicts in dvwiki's lines are resolved. If a cause has two pages, one page becomes a pointer to the other.

    Args:
        layout: Where the wiki is.
        check: Write nothing, and only report what differs.
        restore: Restore deleted pages.
        reclassified: The result of a preceding reclassification; missing pages of its new subtypes are created.
        progress: Called from time to time with the name of a step and its count so far.
    """
    began = time.monotonic()
    subtypes = reclassified.subtypes if reclassified else frozenset()
    if check:
        with WikiWriter(layout, check=True, progress=progress) as writer:
            rebuild(writer, restore=restore, subtypes=subtypes)
            return _result(writer, began)
    with writing(layout, progress=progress) as writer:
        sweep(layout)
        merged = rebuild(writer, restore=restore, subtypes=subtypes)
        result = replace(_result(writer, began), merged=tuple(merged))
        if result.changed:
            verdicts = f"; {reclassified.summary()}" if reclassified and reclassified.file else ""
            done = f"{count(len(result.changed), 'file')} rebuilt{verdicts}"
            add_to_log(layout, "build", done, date=writer.archive.last_updated())
        return result


def change_page(
    layout: Layout, path: str, decide: Callable[[bytes | None], bytes | Refused | None], *, log_text: str
) -> str | None:
    """Change or create a page, then update the indexes and the log.

    Args:
        layout: Where the wiki is.
        path: The page, relative to the wiki.
        decide: Given the current bytes (None if there is no page), returns the new bytes, a refusal, or None for no
            change.
        log_text: The text for the log.

    Returns:
        Why the page could not be changed; None if there was no problem.
    """
    with writing(layout) as writer:
        present = writer.files.present(path)
        data = decide(present)
        if isinstance(data, Refused):
            return data.reason
        if data is None or data == present:
            return None
        writer.refresh()
        with writer.page_cache.batch():
            if not writer.files.write(path, data):
                return writer.files.refused[-1][1]
        writer.write_indexes()
        add_to_log(layout, "commit", log_text)
        return None


def merge(layout: Layout, kept: str, other: str, reason: str | None = None) -> BuildResult:
    """Merge two bug pages: the first counts the runs of both from then on, and the second points to the first.

    What people wrote on either page stays there. If no page changes, nothing is written.

    Args:
        layout: Where the wiki is.
        kept: Path of the page that stays, relative to the wiki.
        other: Path of the page that will point to the kept page.
        reason: Why the causes are the same, in one line.

    Raises:
        MergeError: The pages cannot be merged; nothing was written.
    """
    began = time.monotonic()
    with writing(layout, scaffolded=False) as writer:
        writer.refresh()
        with writer.page_cache.batch():
            joining.merge(writer.views, kept, other, reason)
        writer.write_indexes()
        if writer.files.changed:
            add_to_log(layout, "merge", f"{other} into {kept}{f': {reason}' if reason else ''}")
        return _result(writer, began)


def undo_merge(layout: Layout, kept: str, other: str, reason: str | None = None) -> BuildResult:
    """Record that two causes are different, and give each its own page again.

    The separation overrides what the records suggest, and any later merge of the pages on another branch.

    Args:
        layout: Where the wiki is.
        kept: Fingerprint of the first cause.
        other: Fingerprint of the second cause; it is separated from all causes that were joined with the first cause.
        reason: Why the causes are different, in one line.

    Raises:
        MergeError: The two fingerprints are the same, or a page cannot be edited.
    """
    began = time.monotonic()
    if kept == other:
        raise MergeError(f"{kept} is given twice; give the fingerprints of two different causes")
    with writing(layout, scaffolded=False) as writer:
        writer.refresh()
        causes = writer.archive.identities(kept, other)
        apart = Apart(kept=(kept,), other=(other,), reason=reason or "")
        if apart not in writer.archive.rulings().apart:
            write(layout.tasks, Rulings(newest=writer.archive.newest() or "", tool=TOOL, apart=(apart,)))
        writer.refresh()
        with writer.page_cache.batch():
            joining.set_apart(writer.views, causes)
        writer.write_indexes()
        add_to_log(layout, "merge", f"{other} set apart from {kept}{f': {reason}' if reason else ''}")
        return _result(writer, began)


def mark_drift(layout: Layout, problems: Mapping[str, str | None]) -> list[str]:
    """Mark pages that cite missing code, and unmark pages that no longer do.

    The mark is stored only on the page and not derived from records, so `build` does not change it.

    Args:
        layout: Where the wiki is.
        problems: Maps the path of each page, relative to the wiki, to its problem; None if the page has none.

    Returns:
        The changed files, relative to the wiki.
    """

    def mark(writer: WikiWriter) -> None:
        for path, problem in sorted(problems.items()):
            writer.files.mark_drift(path, problem)

    return _marked(layout, mark, "marked or unmarked")


def leave_out(layout: Layout, days: int) -> list[str]:
    """Take bug pages out of the index if they have been stale for `days` days and none of their fixes ever held.

    The mark is stored only on the page. It is removed when the cause comes back, or when people set another status.

    Args:
        layout: Where the wiki is.
        days: Minimum number of days that a page has been stale, counted up to the newest record.

    Returns:
        The changed files, relative to the wiki.
    """
    done = f"left the index, stale for {days} days"
    return _marked(layout, lambda writer: writer.views.leave_out(days), done)


def _marked(layout: Layout, mark: Callable[[WikiWriter], None], done: str) -> list[str]:
    """Let `mark` mark pages, then write the indexes and the log; return the changed files."""
    with writing(layout, scaffolded=False) as writer:
        writer.refresh()
        with writer.page_cache.batch():
            mark(writer)
        writer.write_indexes()
        if writer.files.updated:
            add_to_log(layout, "lint", f"{count(len(writer.files.updated), 'page')} {done}")
        return sorted(set(writer.files.changed))


def add_line(layout: Layout, path: str, title: str, make: Callable[[str], str | None]) -> None:
    """Append a dated line to the log or a similar file.

    Args:
        layout: Where the wiki is.
        path: The file, relative to the wiki; created if missing.
        title: The title of a new file.
        make: Given the current text of the file, returns the line, or None for no change.
    """
    with locked(layout.wiki, layout.lock_timeout):
        file = log_file(layout, path)
        with explained(file):
            text = reading.read_bytes(file, outside.MOST).decode("utf-8", "replace") if file.exists() else ""
        line = make(text)
        if line is not None:
            if not text:
                replace_file(file, f"# {title}\n\n".encode())
            append_line(file, f"## [{today()}] {line}")


def _result(writer: WikiWriter, began: float) -> BuildResult:
    """Return the result of a build; `began` is its start on the monotonic clock."""
    return BuildResult(
        changed=sorted(set(writer.files.changed)),
        refused=sorted(set(writer.files.refused)),
        problems=writer.archive.problems(),
        seconds=time.monotonic() - began,
    )
