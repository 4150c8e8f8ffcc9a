"""Archives a session's results, and the journals of killed runs."""

from __future__ import annotations

import os
import platform
import time
from contextlib import suppress
from importlib import metadata
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki import pipeline
from pytest_dvwiki.capture.interrupted import journal
from pytest_dvwiki.logtext.user_frames import shown_path
from pytest_dvwiki.model import WRITTEN, Axes, Run, RunId, SourceRow
from pytest_dvwiki.redact import redact
from pytest_dvwiki.roles.outputs import path_of
from pytest_dvwiki.runs import utc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.capture.interrupted.orphans import Orphan
    from pytest_dvwiki.capture.interrupted.places import JournalFolder
    from pytest_dvwiki.pipeline import Archived
    from pytest_dvwiki.roles import ProcessContext
    from pytest_dvwiki.roles.coverage import SessionBins
    from pytest_dvwiki.roles.ledger import Ledger


class Archivist:
    """Makes a `Run` from the session, and one from each killed run, and passes each to the pipeline.

    Args:
        context: The objects shared by the roles of this process.
        task_id: Task id of the session's run.
    """

    def __init__(self, context: ProcessContext, *, task_id: str) -> None:
        self._config = context.config
        self._settings = context.settings
        self._services = context.services
        self._guard = context.guard
        self._masks = context.masks
        self._task_id = task_id

    def archive(
        self,
        ledger: Ledger,
        coverage: SessionBins | None,
        *,
        started: float,
        is_regression: bool,
        part: bool,
        gate_refused: str | None = None,
    ) -> Archived | None:
        """Archive the session.

        Args:
            ledger: The results from the session's reports.
            coverage: The bins from the session's coverage reports.
            started: Start of the session, in seconds since the epoch.
            is_regression: Whether the session has a name or runs in CI, so that it is recorded even without failures.
            part: Whether only some of the tests ran.
            gate_refused: Why the gate must stay closed; empty if it may open, None without a gate.

        Returns:
            The result; None if nothing ran.
        """
        failures, results = ledger.settle()
        if not (failures or results or coverage):
            return None
        run = Run(
            task_id=self._task_id,
            started=utc(started),
            finished=utc(time.time()),
            failures=tuple(pipeline.with_ip_type(failure, self._settings) for failure in failures),
            results=results,
            collected=tuple(sorted(ledger.collected)),
            simulators=ledger.simulators,
            axes=_axes(),
            run_id=_machine() if self._settings.record_host else RunId(),
            sources=(*self._written(ledger, started), *(coverage.reports if coverage else ())),
            keep_suite=is_regression,
            always_record=is_regression,
            coverage=coverage.bins if coverage else (),
            whole=coverage.whole if coverage else True,
            part=part or self._settings.archive == "record",
            gate_refused=gate_refused,
        )
        archived = pipeline.process(run, self._services)
        if archived.problem is None and archived.record is not None:
            self._config.hook.pytest_dvwiki_archived(record=archived.record, run=archived)
        return archived

    def _written(self, ledger: Ledger, started: float) -> Iterator[SourceRow]:
        """Yield the results files, logs and JUnit XML of this run, so that `dvwiki ingest` can skip them."""
        written = dict(ledger.sources)
        path = path_of(self._config, "xmlpath")
        if path is not None:
            from pytest_dvwiki.capture.files.artefacts import sha256_of  # noqa: PLC0415  # loaded only for such a file

            digest = sha256_of(path, since=started - 1)
            if digest is not None:
                written[shown_path(str(path), self._settings.layout.root)] = digest
        for path_shown, digest in sorted(written.items()):
            yield SourceRow(path=path_shown, sha256=digest, kind=WRITTEN)

    def take_over(self, place: JournalFolder) -> None:
        """Archive the killed runs in a journal folder, under their own task ids."""
        from pytest_dvwiki.capture.interrupted.orphans import find_orphans  # noqa: PLC0415  # loaded only after a kill

        for orphan in find_orphans(place, except_for=self._task_id, note=self._guard.note):
            with self._guard(
                f"taking over what a killed run left in {orphan.folder} (remove this folder if it happens again)"
            ):
                self._take_over(orphan)

    def _take_over(self, orphan: Orphan) -> None:
        record = pipeline.on_record(orphan.task_id, self._settings)
        if record is None:
            run = pipeline.killed_run(orphan, self._settings, self._services.interest)
            masked = tuple(map(self._masks.failure, run.failures))
            archived = pipeline.process(replace(run, failures=masked), self._services)
        else:
            # The run was killed after its record was written. A record never changes; missing pages are made from it.
            archived = pipeline.adopt(record, self._settings)
            self._services.history.refresh()
        if archived.written or not (archived.record and archived.record.occurrences):
            journal.remove(orphan.folder)
        if archived.written:
            self._guard.note(f"archived what a killed run left behind: {orphan.task_id}")


def _machine() -> RunId:
    """Return this machine's host name, and the job id if a batch system started the run."""
    from pytest_dvwiki.capture.run_ids import run_id  # noqa: PLC0415  # few sessions put it on record

    return RunId(job=run_id(os.environ).job, host=redact(platform.node()) or None)


def _axes() -> Axes:
    """Return the matrix axes: versions of Python and cocotb, and the operating system."""
    cocotb = None
    with suppress(metadata.PackageNotFoundError):
        cocotb = metadata.version("cocotb")
    return Axes(python=platform.python_version(), cocotb=cocotb, os=platform.system().lower() or None)
