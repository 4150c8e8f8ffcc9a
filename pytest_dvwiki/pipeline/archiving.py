"""The result of processing a run, and functions to write its record and pages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.causes.passed import Lasting
from pytest_dvwiki.causes.statements import statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.causes.passed import Passed
    from pytest_dvwiki.causes.statements import Flaky, Statement
    from pytest_dvwiki.model import RunRecord, SourceRun
    from pytest_dvwiki.settings import Layout, Settings
    from pytest_dvwiki.triage.holes import CoverageNews


class Archived(Struct, frozen=True, kw_only=True):
    """The result of processing a run."""

    causes: tuple[Cause, ...] = ()
    record: RunRecord | None = None
    """The record of the run; None if nothing was worth recording."""
    passed: tuple[Passed, ...] = ()
    """Statements about causes whose tests pass in this run."""
    coverage: CoverageNews | None = None
    """New coverage holes and filled bins; None without coverage reports."""
    written: bool = False
    pages: int | None = 0
    """Number of pages created or changed; None if the run writes only its record."""
    seconds: float = 0.0
    problem: str | None = None
    """Why nothing could be written, with the file and a remedy; None without an error."""
    refused: tuple[tuple[str, str], ...] = ()
    """Pages that were not changed, with the reasons."""
    flaky: tuple[Flaky, ...] = ()
    """Statements about the run's flaky tests; the test with the most flaky runs comes first."""
    waiver_notes: tuple[str, ...] = ()
    """Notes on expired or unused waivers, and on errors in the waiver file."""

    def statements(self, cause: Cause) -> Iterator[Statement]:
        """Yield the statements about a cause of the run, in reading order."""
        if self.record is None:
            return statements(cause)
        return statements(cause, self.record.finished, dirty=self.record.vcs.dirty)


def adopt(
    record: RunRecord, settings: Settings, *, lists: Iterable[Sequence[str]] = (), data: bytes | None = None
) -> Archived:
    """Archive a record unchanged, for example one from another machine.

    Args:
        record: The record.
        settings: Location of the wiki, and timeout of its lock.
        lists: The lists of tests mentioned in the record, as far as available.
        data: The original document of the record, if it was read from a file.
    """
    began = time.monotonic()
    archived, _ = write(Archived(record=record), record, settings, lists=lists, data=data)
    return replace(archived, seconds=time.monotonic() - began)


def write(
    archived: Archived,
    record: RunRecord,
    settings: Settings,
    *,
    lists: Iterable[Sequence[str]] = (),
    data: bytes | None = None,
) -> tuple[Archived, Lasting]:
    """Archive a record; return the result, and the causes whose fix now holds or is proven."""
    from pytest_dvwiki.wiki.writing.build import archive, write_record_alone  # noqa: PLC0415  # loaded only to archive

    layout = settings.layout
    try:
        if settings.archive == "record":
            write_record_alone(layout, record, lists=lists)
            return replace(archived, written=True, pages=None), Lasting()
        result = archive(layout, record, lists=lists, data=data)
    except Exception as error:  # noqa: BLE001  # the result is shown even if it cannot be written
        return replace(archived, problem=reading.described(error)), Lasting()
    archived = replace(
        archived,
        causes=tuple(
            replace(
                cause,
                page_to_read=shown(layout, result.page_of.get(cause.occurrence.fingerprint)),
                like=result.like.get(cause.occurrence.fingerprint),
            )
            for cause in archived.causes
        ),
        written=True,
        pages=len(result.pages_created) + len(result.pages_updated),
        refused=tuple(result.refused),
    )
    return archived, result.lasting


def on_record(task_id: str, settings: Settings) -> RunRecord | None:
    """Return the record of a run; None if there is none."""
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415  # loaded only to archive

    with WikiHistory(settings.layout) as history:
        return history.archive.record(task_id)


def known_artefacts(hashes: Iterable[str], settings: Settings) -> dict[str, list[SourceRun]]:
    """Map each given hash of a recorded artefact to the runs that recorded the artefact, oldest first."""
    from pytest_dvwiki.wiki.query import WikiHistory  # noqa: PLC0415  # as above

    with WikiHistory(settings.layout) as history:
        return history.archive.runs_of_sources(hashes)


def shown(layout: Layout, page: str | None) -> str | None:
    """Return the path of a page relative to the root, or else its absolute path; None without a page."""
    if page is None:
        return None
    path = layout.wiki / page
    return path.relative_to(layout.root).as_posix() if path.is_relative_to(layout.root) else str(path)
