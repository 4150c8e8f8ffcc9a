"""Writing the wiki: a run is archived, or everything that follows from the records is made again."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

from pytest_dvwiki.records import absence, aggregate, disk, merged, proposals, store, verdicts
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.disk import WikiError, append_line, explained
from pytest_dvwiki.records.fixes import TAKES_BACK
from pytest_dvwiki.records.store import suite_id, write_record, write_suite
from pytest_dvwiki.runs import today
from pytest_dvwiki.wiki import bug, conflicts, coverage, marks, pages, pattern, spec, supersession
from pytest_dvwiki.wiki.catalogue import Catalogue, is_page
from pytest_dvwiki.wiki.index import FILES, indexes
from pytest_dvwiki.wiki.likeness import alike
from pytest_dvwiki.wiki.listed import CATEGORIES, page_name
from pytest_dvwiki.wiki.lock import TIMEOUT_S, locked
from pytest_dvwiki.wiki.names import bug_name, file_name
from pytest_dvwiki.wiki.owned import OWNED
from pytest_dvwiki.wiki.pages import Refused
from pytest_dvwiki.wiki.renewal import renewed
from pytest_dvwiki.wiki.scaffold import scaffold
from pytest_dvwiki.wiki.supersession import MergeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    Progress = Callable[[str, int], None]

    from pytest_dvwiki.model import Occurrence, RunRecord
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.patterns.schema import Subtype as Lesson
    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.listed import Listed
    from pytest_dvwiki.wiki.reclassify import Reclassified
    from pytest_dvwiki.wiki.spec import Clarification

UNKNOWN = "unknown"
_INGESTED = re.compile(r"^## \[[^\]]*\] ingest \| ([^ |]+) \|", re.MULTILINE)
_NAMED_IN_LOG = 12
_PROGRESS_EVERY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveResult:
    """What archiving a run did; paths are relative to the wiki."""

    pages_created: list[str]
    pages_updated: list[str]
    page_of: dict[str, str]
    """The page of each fingerprint of the run; its pattern page for a fault of a tool."""
    seconds: float
    refused: list[tuple[str, str]]
    """Pages that were left alone, each with the reason."""
    held: list[str]
    """Causes whose fix this run made hold."""
    like: dict[str, tuple[str, str]]
    """Of causes with a new page the name of one that was there and says nearly the same, then that of the new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """What building did, or would do; paths are relative to the wiki."""

    changed: list[str]
    refused: list[tuple[str, str]]
    problems: list[str]
    """What is wrong with files among the records, one line each."""
    seconds: float


def init(layout: Layout, *, lock_timeout: float = TIMEOUT_S) -> list[str]:
    """Makes the wiki's folders and files; those that are there stay as they are.

    Returns:
        The files made, relative to the folder that holds the wiki.

    Raises:
        WikiError: The wiki cannot be written.
    """
    with locked(layout.wiki, lock_timeout):
        made = scaffold(layout)
        with _Room(layout) as room:
            room.archive.refresh()
            room.catalogue.refresh()
            room.write_indexes()
            made += [f"{layout.wiki.name}/{path}" for path in room.changed]
        if made:
            add_to_log(layout, "init", f"{len(made)} files made")
    return made


def archive(
    layout: Layout,
    record: RunRecord,
    suite_names: Iterable[str] | None = None,
    *,
    clarification: Clarification | None = None,
    lock_timeout: float = TIMEOUT_S,
) -> ArchiveResult:
    """Writes the record of a run, then the pages of its causes, the indexes and the log.

    The same record again changes nothing. A record that was written by a process that then died is taken up where it
    was left.

    Args:
        layout: Where the wiki stands.
        record: The run.
        suite_names: The tests that ran, where they are to be kept; `record.suite` is then set to their list's id.
        clarification: Of the specification, that the record archives; it is put on its page unless it stands there.
        lock_timeout: Seconds to wait for another process that writes.

    Raises:
        WikiError: The record or the log could not be written, or the lock not be had. A page that could not be edited
            is no error but stands in the result.
    """
    began = time.monotonic()
    names = None if suite_names is None else list(suite_names)
    with _sound_cache(layout), locked(layout.wiki, lock_timeout), _Room(layout) as room:
        if not (layout.wiki / "index.md").exists():
            scaffold(layout)
        room.archive.refresh()
        if names is not None:
            record = replace(record, suite=suite_id(names))
            write_suite(layout.tasks, names)
        is_new = write_record(layout.tasks, record)
        # What people took away since a run was archived stays away when it comes again.
        is_due = is_new or record.task_id not in _ingested(layout)
        changes = room.archive.refresh()
        room.look_quickly()
        with room.catalogue.batch():
            if clarification and is_due:
                room.clarify(clarification)
            told = room.update(record, changes, may_create=is_due)
        room.write_indexes()
        if is_due:
            add_to_log(layout, "ingest", told, record.task_id, date=record.finished)
        return ArchiveResult(
            pages_created=room.created,
            pages_updated=room.updated,
            page_of=room.page_of(record.occurrences),
            seconds=time.monotonic() - began,
            refused=room.refused,
            held=room.held_by(record.task_id, changes),
            like=room.like,
        )


def build(
    layout: Layout,
    *,
    check: bool = False,
    restore: bool = False,
    reclassified: Reclassified | None = None,
    lock_timeout: float = TIMEOUT_S,
    progress: Progress | None = None,
) -> BuildResult:
    """Makes everything that is derived again, byte for byte the same on any machine.

    Conflicts that a merge left in the tool's lines are settled, and two pages of one cause become a page and a pointer.

    Args:
        layout: Where the wiki stands.
        check: Writes nothing, and tells what differs.
        restore: Makes pages again that people deleted.
        reclassified: What was decided just before: a missing page of a subtype that causes came to is made.
        lock_timeout: Seconds to wait for another process that writes.
        progress: Called now and then with what is done, and how often it was so far.

    Raises:
        WikiError: A file could not be written, or the lock not be had.
    """
    began = time.monotonic()
    subtypes = reclassified.subtypes if reclassified else frozenset()
    if check:
        with _Room(layout, check=True, progress=progress) as room:
            return room.build(began, restore=restore, subtypes=subtypes)
    with _sound_cache(layout), locked(layout.wiki, lock_timeout):
        if not (layout.wiki / "index.md").exists():
            scaffold(layout)
        with _Room(layout, progress=progress) as room:
            room.sweep()
            result = room.build(began, restore=restore, subtypes=subtypes)
            if result.changed:
                told = f"; {reclassified.told()}" if reclassified and reclassified.file else ""
                add_to_log(
                    layout, "build", f"{len(result.changed)} files made again{told}", date=room.archive.last_updated()
                )
            return result


def change_page(
    layout: Layout,
    path: str,
    decide: Callable[[bytes | None], bytes | None],
    *,
    told: str,
    lock_timeout: float = TIMEOUT_S,
) -> str | None:
    """Writes what somebody made of a page, then the indexes and the log.

    Args:
        layout: Where the wiki stands.
        path: The page, relative to the wiki.
        decide: Makes the new bytes of the present ones, None for a page that is not there; None leaves it as it is.
        told: What the log says.
        lock_timeout: Seconds to wait for another process that writes.

    Returns:
        Why the page was left alone although it was to be changed; None where all is well.

    Raises:
        WikiError: The page, the index or the log could not be written, or the lock not be had.
    """
    with _sound_cache(layout), locked(layout.wiki, lock_timeout), _Room(layout) as room:
        if not (layout.wiki / "index.md").exists():
            scaffold(layout)
        present = room.read(path)
        data = decide(present)
        if data is None or data == present:
            return None
        room.archive.refresh()
        room.catalogue.refresh()
        with room.catalogue.batch():
            if not room.write(path, data):
                return room.refused[-1][1]
        room.write_indexes()
        add_to_log(layout, "commit", told)
        return None


def merge(
    layout: Layout, kept: str, other: str, reason: str | None = None, *, lock_timeout: float = TIMEOUT_S
) -> BuildResult:
    """Makes one bug page of two: the first counts the runs of both from then on, and the second leads to it.

    What people wrote on either stays there. Without a change nothing is written.

    Args:
        layout: Where the wiki stands.
        kept: Path of the page that stays, relative to the wiki.
        other: Path of the page that leads to it.
        reason: Why they are one, in one line.
        lock_timeout: Seconds to wait for another process that writes.

    Raises:
        MergeError: They cannot be merged; nothing was written.
        WikiError: A page could not be written, or the lock not be had.
    """
    began = time.monotonic()
    with _sound_cache(layout), locked(layout.wiki, lock_timeout), _Room(layout) as room:
        room.archive.refresh()
        room.catalogue.refresh()
        with room.catalogue.batch():
            room.merge(kept, other, reason)
        room.write_indexes()
        if room.changed:
            add_to_log(layout, "merge", f"{other} into {kept}{f': {reason}' if reason else ''}")
        return room.result(began)


def mark_drift(layout: Layout, problems: Mapping[str, str | None], *, lock_timeout: float = TIMEOUT_S) -> list[str]:
    """Marks pages that cite what is gone, and takes the mark off others.

    The mark is the page's own: it follows from no record, so `build` leaves it as it is.

    Args:
        layout: Where the wiki stands.
        problems: What is wrong by the page's path relative to the wiki; None where nothing is.
        lock_timeout: Seconds to wait for another process that writes.

    Returns:
        The files that were changed, relative to the wiki.

    Raises:
        WikiError: A page could not be written, or the lock not be had.
    """
    with _sound_cache(layout), locked(layout.wiki, lock_timeout), _Room(layout) as room:
        room.archive.refresh()
        room.catalogue.refresh()
        with room.catalogue.batch():
            for path, problem in sorted(problems.items()):
                room.mark_drift(path, problem)
        room.write_indexes()
        if room.changed:
            add_to_log(layout, "lint", f"{len(room.changed)} page{'s' if len(room.changed) > 1 else ''} marked anew")
        return sorted(set(room.changed))


def note(layout: Layout, operation: str, text: str, *, lock_timeout: float = TIMEOUT_S) -> None:
    """Adds a line to the log.

    Raises:
        WikiError: It could not be written, or the lock not be had.
    """
    with locked(layout.wiki, lock_timeout):
        add_to_log(layout, operation, text)


@contextlib.contextmanager
def _sound_cache(layout: Layout) -> Iterator[None]:
    """Tells of a cache that broke while it was worked with.

    Raises:
        WikiError: It did.
    """
    try:
        yield
    except sqlite3.Error as error:
        cache = layout.wiki / ".cache"
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise WikiError(f"cannot write {cache}: the disk is full; free some space") from error
        raise WikiError(f"cannot use {cache}: {error}; remove it and run `dvwiki build`") from error


def add_to_log(layout: Layout, operation: str, text: str, task: str = "-", *, date: str | None = None) -> None:
    """Adds a line to the log; the caller holds the wiki's lock.

    Args:
        layout: Where the wiki stands.
        operation: What was done, in a word.
        text: The same with what it brought.
        task: The run that it was for.
        date: When, as in `2026-11-21…`; the present day where None or empty.

    Raises:
        WikiError: It could not be written.
    """
    append_line(_log_file(layout), f"## [{date[:10] if date else today()}] {operation} | {task} | {text}")


def _log_file(layout: Layout) -> Path:
    """Where the log stands.

    Raises:
        WikiError: It is a link that leads out of the wiki; whoever made it could have any file written to.
    """
    log = layout.wiki / "log.md"
    if not log.resolve().is_relative_to(layout.wiki.resolve()):
        raise WikiError(f"cannot write {log}: it is a link that leads out of the wiki; replace it by a file")
    return log


def _bins(record: RunRecord) -> list[tuple[str, str]]:
    """Covergroup and bin of what a record says of coverage."""
    rows = ((str(row.get("covergroup", "")), str(row.get("bin", ""))) for row in record.coverage)
    return sorted(set(rows))


def _ingested(layout: Layout) -> set[str]:
    """The runs whose archiving came to its end."""
    try:
        text = (layout.wiki / "log.md").read_text("utf-8", "replace")
    except OSError:
        return set()
    return set(_INGESTED.findall(text))


class _Room:
    """The records and pages of one wiki while somebody writes it.

    Args:
        layout: Where it stands.
        check: Nothing is written; what would be is noted, and seen by what is made after it.
        progress: Told what is done, and how often it was so far.
    """

    def __init__(self, layout: Layout, *, check: bool = False, progress: Progress | None = None) -> None:
        self.layout = layout
        self._progress = progress or (lambda _done, _count: None)
        self._check = check
        self._home = layout.wiki.resolve()
        cache = layout.wiki / ".cache"
        self.archive = Archive(layout.tasks, None if check and not layout.wiki.exists() else cache / "records.sqlite")
        self.catalogue = Catalogue(layout.wiki, None if check else cache / "pages.sqlite")
        self.created: list[str] = []
        self.updated: list[str] = []
        self.changed: list[str] = []
        self.refused: list[tuple[str, str]] = []
        self.like: dict[str, tuple[str, str]] = {}
        self._made: set[str] = set()
        self._paths: dict[str, str | None] = {}
        """Of bug pages by their causes, as long as no bug page is written."""
        self._looks_again = False
        self._written: dict[str, bytes] = {}

    def __enter__(self) -> Self:
        if not self._check:
            _log_file(self.layout)  # before anything is written that would then lack its line
        return self

    def __exit__(self, *_: object) -> None:
        self.archive.close()
        self.catalogue.close()

    @cached_property
    def _lessons(self) -> dict[str, Lesson]:
        from pytest_dvwiki.patterns.registry import load_subtypes  # noqa: PLC0415 (only a new page needs it)

        return dict(load_subtypes())

    @cached_property
    def _registry(self) -> Registry:
        from pytest_dvwiki.patterns.registry import load_registry  # noqa: PLC0415
        from pytest_dvwiki.patterns.schema import PatternError  # noqa: PLC0415

        try:
            return load_registry(sorted(self.layout.patterns.glob("*.yaml")))
        except PatternError:
            # Whoever runs the classifier hears of it there; a page can do without the fix of one pattern.
            return load_registry()

    # One run

    def look_quickly(self) -> None:
        """Takes in pages that came or went; of all others those alone that have to do with what is done."""
        self.catalogue.refresh(quick=True)
        self._looks_again = True

    def update(self, record: RunRecord, judged: set[str], *, may_create: bool) -> str:
        """Writes the pages that a record changes, and tells what was done in one line."""
        mine = {item.fingerprint for item in record.occurrences}
        others = judged | {item.fingerprint for item in record.passed_again}
        others |= {item.fingerprint for item in record.first_bad}
        others |= {str(row["fingerprint"]) for row in record.fixes if row.get("fingerprint")}
        known = [item for item in record.occurrences if self._bug_path(item.fingerprint)]
        before = {item.failure_subtype: self._hits(item.failure_subtype) for item in record.occurrences}
        waived = Counter(row.fingerprint for row in record.waived for _ in row.tests)
        for occurrence in record.occurrences:
            # A waiver silences a cause; that some of its tests have one does not.
            names = {test.nodeid for test in occurrence.tests}
            is_silenced = bool(names) and waived[occurrence.fingerprint] >= len(names)
            self._bug(occurrence.fingerprint, may_create=may_create and not is_silenced)
        self._compare(item.fingerprint for item in record.occurrences)
        gone = self.catalogue.still_open(absence.candidates(self.archive, record))
        for fingerprint in sorted({*others, *gone} - mine):
            self._bug(fingerprint, may_create=False)
        self._link_to(self._made)
        stated = {str(row["failure_subtype"]) for row in record.fixes if row.get("failure_subtype")}
        # A cause that is called otherwise now takes its fixes from one page to another.
        theirs = aggregate.subtypes_of(self.archive, self.archive.present(sorted(mine | others | self._made)))
        for name in sorted((stated | theirs | before.keys()) - {UNKNOWN}):
            self._pattern(name, may_create=may_create and name in before)
        for covergroup, bin_name in _bins(record):
            self._hole(covergroup, bin_name, may_create=may_create)
        return self._told(record, len(known), before)

    def _compare(self, fingerprints: Iterable[str]) -> None:
        """Looks for older pages that say nearly what the new ones say."""
        for fingerprint in fingerprints if self.created else ():
            page = next(iter(self._pages(fingerprint)), None)
            if page is None or page.path not in self.created:
                continue
            found = alike(self.archive, self.catalogue, (fingerprint,))
            older = next((other for other in found if other.path not in self.created), None)
            if older is not None:
                self.like[fingerprint] = (older.name, page.name)

    def held_by(self, task_id: str, judged: set[str]) -> list[str]:
        """Of causes that are judged otherwise than before those whose newest fix a run made hold."""
        newest = {cause: self.archive.fix_states((cause,))[-1:] for cause in sorted(judged)}
        return [cause for cause, states in newest.items() if any(state.fix.held_in == task_id for state in states)]

    def clarify(self, clarification: Clarification) -> None:
        """Puts a clarification on its page."""
        path = clarification.path
        if not self._exists(path):
            if self.write(path, spec.new(clarification)):
                self.created.append(path)
            return
        data = self._read(path)
        further = spec.with_further(data, clarification)
        if isinstance(further, Refused):
            self.refused.append((path, further.reason))
        elif further != data and self.write(path, further):
            self.updated.append(path)

    def _told(self, record: RunRecord, known: int, before: dict[str, int]) -> str:
        count = len(record.occurrences)
        head = f"{count} cause{'' if count == 1 else 's'}, {count - known} new"
        if record.passed_again:
            head += f", {len({row.nodeid for row in record.passed_again})} passing again"
        taken_back = sum(TAKES_BACK in row for row in record.fixes)
        told = len(record.fixes) - taken_back
        if told:
            head += f", {told} fix{'' if told == 1 else 'es'}"
        if taken_back:
            head += f", {taken_back} fix{'' if taken_back == 1 else 'es'} taken back"
        bins = _bins(record)
        if bins:
            filled = len({(row["covergroup"], row["bin"]) for row in record.coverage if row.get("filled") is True})
            head += (
                f", {len(bins)} coverage bin{'' if len(bins) == 1 else 's'}{f' ({filled} filled)' if filled else ''}"
            )
        like = {f"bugs/{new}.md": f", like {old}" for old, new in self.like.values()}
        events = [f"{path} created{like.get(path, '')}" for path in self.created]
        for name, hits in sorted(before.items()):
            path = f"patterns/{file_name(name)}.md"
            if name != UNKNOWN and path not in self.created:
                events.append(f"{path} hit_count {hits}→{self._hits(name)}")
        if len(events) > _NAMED_IN_LOG:
            events[_NAMED_IN_LOG:] = [f"{len(events) - _NAMED_IN_LOG} more"]
        return f"{head}: {'; '.join(events)}" if events else head

    def _hits(self, subtype: str) -> int:
        listed = self.catalogue.get(f"patterns/{file_name(subtype)}.md")
        hits = listed.metadata.get("hit_count") if listed else None
        return hits if isinstance(hits, int) else 0

    def _subtype_of(self, fingerprint: str) -> str | None:
        found = self.archive.newest_occurrence((fingerprint,))
        return found.failure_subtype if found else None

    def page_of(self, occurrences: Iterable[Occurrence]) -> dict[str, str]:
        """The page to read of each occurrence, for those that have one."""
        found = {}
        for item in occurrences:
            own, kind = self._bug_path(item.fingerprint), f"patterns/{file_name(item.failure_subtype)}.md"
            if own or self.catalogue.get(kind):
                found[item.fingerprint] = own or kind
        return found

    # Everything

    def build(self, began: float, *, restore: bool, subtypes: frozenset[str]) -> BuildResult:
        """Makes everything again."""
        self._put_records_right()
        self.archive.refresh(verify=True, progress=partial(self._progress, "records read"))
        self.catalogue.refresh(partial(self._progress, "pages read"))
        with self.catalogue.batch():
            self._make_pages(restore=restore, subtypes=subtypes)
        self.write_indexes(anew=True)
        return self.result(began)

    def result(self, began: float) -> BuildResult:
        """What was done since a moment of the monotonic clock."""
        return BuildResult(
            changed=sorted(set(self.changed)),
            refused=sorted(set(self.refused)),
            problems=self.archive.problems(),
            seconds=time.monotonic() - began,
        )

    def _put_records_right(self) -> None:
        """Settles what a merge left among the records."""
        done = merged.put_right(self.layout.tasks, check=self._check)
        self.changed += [f"../{self.layout.tasks.name}/{name}" for name in done.changed]
        self.refused += [(f"../{self.layout.tasks.name}/{name}", reason) for name, reason in done.left]

    def mark_drift(self, path: str, problem: str | None) -> None:
        """Marks a page, or takes its mark off; one that is out of date by the records stays so."""
        page = self.catalogue.get(path)
        if page is None or (page.metadata.get("stale") is True and marks.drifted(page) is None):
            return
        reason = marks.reason_of(problem) if problem else None
        if reason != marks.drifted(page):
            self._edit(path, {"stale": reason is not None, "stale_reason": reason}, {})

    def merge(self, kept: str, other: str, reason: str | None) -> None:
        """Makes a bug page lead to another one, and brings all pages of both up to date.

        Raises:
            MergeError: There is no such page, or it cannot lead there.
        """
        found = [self.catalogue.get(path) for path in (kept, other)]
        if found[0] is None or found[1] is None:
            raise MergeError(f"{kept if found[0] is None else other}: there is no such page")
        supersession.check(self.catalogue, found[0], found[1])
        for path, data in supersession.edits(found[0], found[1], reason, self._read):
            if data != self._read(path):
                self.write(path, data)
        fingerprints = [name for page in found if page for name in page.fingerprints()]
        self._update_bug(self.catalogue.of_cause(*self.archive.identities(*fingerprints)))
        self._link_to(self.archive.present(fingerprints))
        for name in sorted(aggregate.subtypes_of(self.archive, self.archive.present(fingerprints)) - {UNKNOWN}):
            self._pattern(name, may_create=False)

    def _make_pages(self, *, restore: bool, subtypes: frozenset[str]) -> None:
        self._settle()
        unfinished = self.archive.causes_of_runs_outside(_ingested(self.layout))
        causes = aggregate.fingerprints(self.archive)
        self._let_go()
        for number, fingerprint in enumerate(causes, 1):
            self._bug(fingerprint, may_create=restore or fingerprint in unfinished)
            if number % _PROGRESS_EVERY == 0:
                self._progress("pages made again", number)
        self._link_to(self._made)
        shared = {
            *self.catalogue.shared_causes(),
            *(cause for page in self.catalogue.superseded() for cause in page.fingerprints()),
        }
        # Once more for causes of the records: a page may have taken over names of another one since its own turn.
        for fingerprint in sorted(shared):
            self._point(self._pages(fingerprint))
        fresh = {*subtypes, *(self._subtype_of(fingerprint) for fingerprint in unfinished)}
        for name in aggregate.subtypes(self.archive):
            if name != UNKNOWN:
                self._pattern(name, may_create=restore or name in fresh)
        self._empty_patterns()
        unfinished_holes = self.archive.holes_of_runs_outside(_ingested(self.layout))
        for covergroup, bin_name in aggregate.holes(self.archive):
            self._hole(covergroup, bin_name, may_create=restore or (covergroup, bin_name) in unfinished_holes)

    def sweep(self) -> None:
        """Removes temporary files that a killed process left."""
        wiki, tasks = self.layout.wiki, self.layout.tasks
        holders = (tasks / name for name in (store.SUITES, verdicts.FOLDER))
        for folder in (wiki, *(wiki / category for category in CATEGORIES), *store.folders(tasks), *holders):
            disk.sweep(folder)

    def _settle(self) -> None:
        """Settles conflicts in the tool's lines of all pages."""
        for category in CATEGORIES:
            for path in sorted((self.layout.wiki / category).glob("*.md")):
                if not is_page(path.name):
                    continue
                data = self._read(f"{category}/{path.name}")
                settled = conflicts.settle(data, OWNED.get(category, ()))
                if settled is None:
                    continue
                if settled.open_lines:
                    lines = ", ".join(map(str, settled.open_lines))
                    self.refused.append(
                        (f"{category}/{path.name}", f"conflict in people's lines, to be settled by hand: line {lines}")
                    )
                if settled.data != data:
                    self.write(f"{category}/{path.name}", settled.data)

    # Pages

    def _bug(self, fingerprint: str, *, may_create: bool) -> None:
        """Brings the bug page of a cause up to date, and makes it where that is due."""
        listed = self._pages(fingerprint)
        if listed:
            self._update_bug(listed)
            return
        if not may_create:
            return
        cause = aggregate.cause(self.archive, (fingerprint,))
        if cause is None or not bug.has_page(cause.newest):
            return
        name = bug_name(
            cause.newest.origin.type, cause.first_seen, fingerprint, lambda name: self._exists(f"bugs/{name}.md")
        )
        lesson = self._lessons.get(cause.newest.failure_subtype)
        data = bug.new(cause.newest.origin.type, cause.newest, lesson.description.strip() if lesson else "")
        path = f"bugs/{name}.md"
        self._made.add(fingerprint)
        self._create(
            path,
            data,
            bug.keys(name, cause, self.archive.identities(fingerprint), (), self._gone(cause)),
            bug.regions(cause, cause.newest.origin.type, self._bug_name, self._fix_of),
        )

    def _update_bug(self, listed: list[Listed]) -> None:
        keeper, *rest = listed
        if keeper.problem:
            self.refused.append((keeper.path, f"its frontmatter cannot be read: {keeper.problem}"))
            return
        fingerprints = keeper.fingerprints(*(name for page in rest for name in page.fingerprints()))
        cause = aggregate.cause(self.archive, fingerprints)
        if cause is None:
            return
        known = keeper.metadata.get("aliases")
        gone = (
            {str(name) for name in known if not self._exists(f"bugs/{name}.md")} if isinstance(known, list) else set()
        )
        aliases = sorted(gone | {page.name for page in rest})
        kind = keeper.text("type", cause.newest.origin.type)
        self._edit(
            keeper.path,
            bug.keys(
                keeper.name, cause, self.archive.identities(*fingerprints), aliases, self._stale_reason(keeper, cause)
            ),
            bug.regions(cause, kind, self._bug_name, self._fix_of, rest),
        )
        self._point(listed)

    def _stale_reason(self, page: Listed, cause: aggregate.Cause) -> str | None:
        """Why a page is out of date: its cause is gone though nobody fixed it, or the last check of it said so."""
        gone = self._gone(cause) if page.text("status") == "open" else None
        return gone or marks.drifted(page)

    def _gone(self, cause: aggregate.Cause) -> str | None:
        """Since when a cause is gone though nobody is on record for fixing it."""
        if not absence.is_gone(self.archive, cause):
            return None
        return f"not seen since {cause.last_seen[:10]}, and its tests pass since {absence.DAYS} days after that"

    def _link_to(self, causes: Iterable[str]) -> None:
        """Brings the bug pages up to date that name one of some causes, which have another page now than before."""
        for fingerprint in sorted(proposals.naming(self.archive.db, causes)):
            self._bug(fingerprint, may_create=False)

    def _point(self, listed: list[Listed]) -> None:
        """Makes all pages of a cause but the first lead to it."""
        keeper, *rest = listed
        for page in rest:
            self._edit(page.path, bug.pointer_keys(page, keeper), bug.pointer_regions(page, keeper))

    def _let_go(self) -> None:
        """Takes fingerprints of other pages from those that no longer replace them, as after an undone merge."""
        for page in self.catalogue.of_many_names():
            own, *aliases = page.fingerprints()
            mine = {*self.archive.identities(own), *self.catalogue.merged_into(page)}
            kept = [name for name in aliases if name in mine or not self.catalogue.owns(name)]
            if kept != aliases:
                self._edit(page.path, {"fingerprint_aliases": kept}, {})

    def _pages(self, fingerprint: str) -> list[Listed]:
        """The pages of a cause, the one to keep first."""
        identities = self.archive.identities(fingerprint)
        listed = self.catalogue.of_cause(*identities)
        if self._looks_again and self.catalogue.look_at(page.path for page in listed):
            self._paths.clear()
            listed = self.catalogue.of_cause(*identities)
        return listed

    def _pattern(self, name: str, *, may_create: bool) -> None:
        """Brings the page of a subtype up to date, and makes it where that is due."""
        path = f"patterns/{file_name(name)}.md"
        exists = self._exists(path)
        subtype = aggregate.subtype(self.archive, name, self._merged)
        if subtype is None or not (exists or may_create):
            return
        self._know_pages([row.fingerprint for row in subtype.rows] + [cause for cause, *_ in subtype.fixes if cause])
        keys, regions = pattern.keys(subtype), pattern.regions(subtype, self._bug_name, self._fix_of)
        if exists:
            self._edit(path, keys, regions)
        else:
            self._create(path, pattern.new(name, self._lessons.get(name)), keys, regions)

    @cached_property
    def _merged(self) -> list[tuple[str, ...]]:
        """The fingerprints of each bug page that has more than one; pattern pages come after all bug pages."""
        return [page.fingerprints() for page in self.catalogue.of_many_names()]

    def _empty_patterns(self) -> None:
        """Pages of subtypes that no record has any more, since other verdicts call their causes otherwise."""
        present = {file_name(name) for name in aggregate.subtypes(self.archive)}
        for listed in list(self.catalogue.all("patterns")) if self.archive.is_reclassified() else ():
            if listed.name not in present and listed.metadata.get("hit_count"):
                self._edit(listed.path, pattern.EMPTY_KEYS, pattern.EMPTY_REGIONS)

    def _hole(self, covergroup: str, bin_name: str, *, may_create: bool) -> None:
        """Brings the page of a coverage bin up to date, and makes it where that is due."""
        path, other = coverage.paths(covergroup, bin_name)
        there = self.catalogue.get(path)
        if there and not there.problem and not coverage.is_of(there, covergroup, bin_name):
            path = other
        exists = self._exists(path)
        hole = aggregate.hole(self.archive, covergroup, bin_name)
        if hole is None or not (exists or may_create):
            return
        if exists:
            self._edit(path, coverage.keys(hole), coverage.regions(hole))
        else:
            self._create(path, coverage.new(hole), coverage.keys(hole), coverage.regions(hole))

    def _bug_name(self, fingerprint: str) -> str | None:
        path = self._bug_path(fingerprint)
        return page_name(path) if path else None

    def _bug_path(self, fingerprint: str) -> str | None:
        self._know_pages((fingerprint,))
        return self._paths[fingerprint]

    def _know_pages(self, fingerprints: Iterable[str]) -> None:
        """Asks after the bug pages of many causes at once."""
        unknown = {each: self.archive.identities(each) for each in fingerprints if each not in self._paths}
        if unknown:
            self._paths |= self.catalogue.paths_of_causes(unknown)

    def _fix_of(self, pattern_id: str) -> str | None:
        known = self._registry.get(pattern_id)
        return known.advice({}) if known else None

    # Files

    def _exists(self, path: str) -> bool:
        return path in self._written or (self.layout.wiki / path).exists()

    def _read(self, path: str) -> bytes:
        if path in self._written:
            return self._written[path]
        with explained(self.layout.wiki / path):
            return (self.layout.wiki / path).read_bytes()

    def _create(self, path: str, data: bytes, keys: dict[str, Any], regions: dict[str, str]) -> None:
        edited = pages.edit(data, keys, regions)
        if isinstance(edited, Refused):
            self.refused.append((path, edited.reason))
            return
        if self.write(path, edited):
            self.created.append(path)

    def _edit(self, path: str, keys: dict[str, Any], regions: dict[str, str]) -> None:
        if self._looks_again:
            self.catalogue.look_at((path,))
        data, known = self._read(path), self.catalogue.get(path)
        edited = pages.edit(data, keys, regions, known.metadata if known else None)
        if isinstance(edited, Refused):
            self.refused.append((path, edited.reason))
        elif edited != data and self.write(path, edited):
            self.updated.append(path)

    def read(self, path: str) -> bytes | None:
        """A file's bytes, None where it is not there."""
        return self._read(path) if self._exists(path) else None

    def write(self, path: str, data: bytes) -> bool:
        """Writes a file, and tells whether it was: a link that leads out of the wiki is left alone."""
        file = self.layout.wiki / path
        if not file.resolve().is_relative_to(self._home):
            self.refused.append((path, "it is a link that leads out of the wiki; replace it by a file"))
            return False
        self.changed.append(path)
        state = (-1, -1)
        if self._check:
            self._written[path] = data
        else:
            with self.catalogue.writing(path):
                disk.replace(file, data)
            status = file.stat()
            state = (status.st_size, status.st_mtime_ns)
        if path.split("/", 1)[0] in CATEGORIES and is_page(file.name):
            self.catalogue.put(path, data, state)
            if path.startswith("bugs/"):
                self._paths.clear()
        return True

    def write_indexes(self, *, anew: bool = False) -> None:
        """Writes the index files that are not as they should be.

        Args:
            anew: Makes them of all pages, though they be as they were written but for a few rows.
        """
        last_updated, files = self.archive.last_updated(), None
        if not anew and self.catalogue.are_indexes(FILES):
            files = renewed(self._read, self.catalogue.unlisted(), last_updated)
        for path, data in (indexes(self.catalogue.rows, last_updated) if files is None else files).items():
            if not self._exists(path) or self._read(path) != data:
                self.write(path, data)
        if not self._check:
            self.catalogue.listed(FILES)
