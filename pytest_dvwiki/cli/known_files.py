"""Finds the archived runs that given files came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.model import RunId, SourceRun
    from pytest_dvwiki.settings import Settings


class KnownFiles(Struct, frozen=True):
    """Finds the archived runs that files came from."""

    _settings: Settings
    _run_id: RunId
    """The id of the run, for files without one."""
    _commit: str | None
    """The commit that the files come from, if known."""

    def run_of_reports(self, reports: Sequence[Artefact]) -> str | None:
        """Return the archived run with exactly this set of coverage reports: holes depend on all reports of a run."""
        from pytest_dvwiki import pipeline  # noqa: PLC0415
        from pytest_dvwiki.model import WRITTEN  # noqa: PLC0415

        wanted = sorted(report.sha256 for report in reports)
        for task_id in dict.fromkeys(self._runs(reports[0], self.on_record(reports[:1]))):
            record = pipeline.on_record(task_id, self._settings)
            sources = record.sources if record is not None else ()
            if sorted(source.sha256 for source in sources if source.kind != WRITTEN) == wanted:
                return task_id
        return None

    def on_record(self, files: Iterable[Artefact]) -> dict[str, list[SourceRun]]:
        """Return the archived runs of each file, keyed by the file's SHA-256."""
        from pytest_dvwiki import pipeline  # noqa: PLC0415

        return pipeline.known_artefacts({file.sha256 for file in files}, self._settings)

    def runs_of(self, files: Sequence[Artefact]) -> dict[Path, str]:
        """Map files to the archived runs they came from.

        A file that merely has the same content as a file of another run is left out.
        """
        found = self.on_record(files)
        known = {file.path: runs[0] for file in files if (runs := self._runs(file, found))}
        # A file that is given together with other files of a known run, and was archived with that run, belongs to it.
        again = set(known.values())
        for file in files:
            beside = [run.task_id for run in found.get(file.sha256, ()) if run.task_id in again]
            if beside:
                known.setdefault(file.path, beside[0])
        return known

    def _runs(self, file: Artefact, on_record: Mapping[str, list[SourceRun]]) -> list[str]:
        """Return the task ids of the archived runs that a file came from."""
        from pytest_dvwiki.capture.run_ids import identifies_run, may_be_one  # noqa: PLC0415

        runs = on_record.get(file.sha256, [])
        own = [run for run in runs if run.written or may_be_one(run, self._run_id, self._commit)]
        return [run.task_id for run in (runs if runs and not own and identifies_run(file) else own)]
