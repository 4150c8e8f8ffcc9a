"""The coverage reports written by the tests of a session, found by the globs of `--dvwiki-coverage`."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.logtext.user_frames import shown_path
from pytest_dvwiki.model import SourceRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.model import CoverBin

_CHOOSING = ("-k", "-m", "--lf", "--last-failed", "--sw", "--stepwise", "--deselect")


class SessionBins(Struct, frozen=True):
    """The bins of all coverage reports of a session, merged."""

    bins: tuple[CoverBin, ...]
    whole: bool
    """Whether all tests ran and all their reports were read."""
    reports: tuple[SourceRow, ...]
    """Path and hash of each report, for the record's `sources`."""


class SessionCoverage:
    """Finds the reports written since its creation, by size and modification time.

    Modification times are not compared with session times, because the clock of the file system may differ.

    Args:
        root: Folder for relative globs.
        globs: One or more globs, separated by spaces.
    """

    def __init__(self, root: Path, globs: str) -> None:
        self._root = root
        self._globs = globs.split()
        self._before = self._states()

    def written(self) -> list[tuple[str, Path]]:
        """Return name and path of each report of this session, sorted by path."""
        now = self._states()
        paths = sorted(path for path, state in now.items() if state != self._before.get(path))
        return [(shown_path(path, self._root), Path(path)) for path in paths]

    def read(self, notes: list[str], *, arguments: Sequence[str], is_complete: bool) -> SessionBins | None:
        """Read the reports of this session.

        Args:
            notes: Receives notes for the user.
            arguments: Arguments of the command line, which may select tests.
            is_complete: Whether the session ended normally.

        Returns:
            The merged bins of the reports; None if there are none.
        """
        reports = self.written()
        if self._globs and not reports and not self._states():
            notes.append(
                f"no coverage report was read: no file matches {' '.join(self._globs)} in {self._root};"
                " correct the globs of --dvwiki-coverage"
            )
        from pytest_dvwiki.capture.files.artefacts import sha256_of  # noqa: PLC0415  # loaded only with reports
        from pytest_dvwiki.capture.files.coverage import read_reports  # noqa: PLC0415

        coverage = read_reports(reports)
        notes += (f"a coverage report was left out: {problem}" for problem in coverage.problems)
        if not coverage.bins:
            return None
        return SessionBins(
            bins=coverage.bins,
            whole=is_complete and not chooses_tests(arguments) and not coverage.problems,
            reports=tuple(SourceRow(path=shown, sha256=sha256_of(path, since=0) or "") for shown, path in reports),
        )

    def _states(self) -> dict[str, tuple[int, int]]:
        found = {}
        for pattern in self._globs:
            # Not `Path.glob`, because a pattern can be absolute.
            for name in glob.glob(pattern, root_dir=self._root, recursive=True):  # noqa: PTH207
                path = os.path.abspath(self._root / name)  # noqa: PTH100  # links keep their names
                try:
                    status = os.stat(path)  # noqa: PTH116
                except OSError:
                    # The report was deleted after it was listed.
                    continue
                found[path] = (status.st_size, status.st_mtime_ns)
        return found


def chooses_tests(arguments: Sequence[str]) -> bool:
    """Return whether pytest's arguments select only some of the tests."""
    return any(word.startswith(_CHOOSING) or "::" in word for word in arguments)
