"""Names simulations that left a log without a results file, and builds that failed before a simulation.

A simulation has the same name with and without a results file, so that the same test is compared in every run: the name
of the results file that it would have written. The tests of a failed build are unknown, so the build is named after the
results file that these tests would have written.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pytest_dvwiki.capture.leftovers.names import is_named_after_folder, simulation_name, undated
from pytest_dvwiki.capture.make.calls import head_of
from pytest_dvwiki.capture.make.folders import folders_of
from pytest_dvwiki.logtext.user_frames import shown_path
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.leftovers.run_logs import RunLogs
    from pytest_dvwiki.capture.simulations.regression import Regression

_RESULTS = "results.xml"
_RESULTS_FILE = re.compile(r"^rm -f (\S+\.xml)[ \t]*$|\bCOCOTB_RESULTS_FILE=(?!\$)[\"']?([^\s\"']+\.xml)", re.MULTILINE)
"""Matches the results file that cocotb's Makefile deletes before a simulation, or that a command sets."""


class LogNames:
    """Names simulations and failed builds after what their logs show."""

    def __init__(self, root: Path, logs: RunLogs) -> None:
        self._root = root
        self._logs = logs

    def of_simulation(
        self, log: Artefact, part: Regression, results: Artefact | None, *, is_only: bool, is_one_place: bool
    ) -> str:
        """Return the name that a simulation would have if it had written a results file.

        The first of these that applies gives the name; 1 and 4 require that the log is that of one simulation:

        1. a file named like the log, if another results file in the log's folder is named like its log,
        2. the results file in the folder where make ran, if that folder is known and searched,
        3. the results file that was read with the log, if all simulations in the log ran in one folder,
        4. a file named like the log, if results files in other folders are named like their logs, or if make ran in
           another folder and the simulation chose a name for its results file,
        5. the log's folder, if all simulations in the log ran in one folder, and the log is no temporary copy, and is
           the only one in its folder,
        6. the log.

        Args:
            log: The log.
            part: The part of the log that covers this simulation.
            results: The only results file that was read with the log; None if there are several, or if it does not
                show where make ran.
            is_only: Whether the log is that of one simulation.
            is_one_place: Whether all simulations in the log ran in the same folder, as far as known.
        """
        logged = self._logged(head_of([log]))
        if is_only and (beside := self._logs.results_like(log, in_its_folder=True)):
            return simulation_name(beside)
        made_in = _made_in(part)
        if made_in is not None and self._is_searched(made_in, log):
            return simulation_name(self._results_in(made_in, log, logged))
        if results is not None and is_one_place:
            return simulation_name(results)
        if is_only and (beside := self._beside(log, made_in, logged)):
            return simulation_name(beside)
        if is_one_place and log.lasting and self._logs.is_alone(log):
            return simulation_name(replace(log, shown=f"{log.folder}/{_RESULTS}" if log.folder else _RESULTS))
        return undated(log.shown)

    def of_build(self, log: Artefact, part: Regression, text: str, *, is_only: bool, folder: Path | None = None) -> str:
        """Return the name of a failed build: that of the results file that its tests would write, or of its folder.

        Tests that later pass in this file or folder show that the build was repaired.

        Args:
            log: The log.
            part: The part of the log that covers the build.
            text: The part of the log that covers the build and no other.
            is_only: Whether the log is that of one simulation.
            folder: The folder where make ran; None if only the log can show it.
        """
        logged = self._logged(text)
        if is_only and (beside := self._logs.results_like(log, in_its_folder=True)):
            return simulation_name(beside)
        folder = folder or _made_in(part) or _entered(log)
        beside = None
        if folder is not None and self._is_searched(folder, log):
            beside = self._results_in(folder, log, logged)
        elif is_only:
            beside = self._beside(log, folder, logged)
        if beside is None or is_named_after_folder(beside):
            return undated(redact((beside or log).folder)) or "."
        return simulation_name(beside)

    def _logged(self, text: str) -> str | None:
        """Return the results file that a text shows; None if it shows none or several."""
        found = {file or given for file, given in _RESULTS_FILE.findall(text)}
        return found.pop() if len(found) == 1 else None

    def _is_searched(self, folder: Path, log: Artefact) -> bool:
        return folder.is_relative_to(log.searched or self._root)

    def _results_in(self, folder: Path, log: Artefact, logged: str | None) -> Artefact:
        """Return the results file that a simulation would write if make runs in a folder."""
        path = folder / (logged or _RESULTS)
        path = path if path.is_relative_to(self._root) else folder / _RESULTS
        return replace(log, path=path, shown=shown_path(str(path), self._root))

    def _beside(self, log: Artefact, made_in: Path | None, logged: str | None) -> Artefact | None:
        """Return the results file that is expected beside a log and named like the log; None if none is expected."""
        if (beside := self._logs.results_like(log)) is not None:
            return beside
        is_elsewhere = made_in is not None and made_in != log.path.parent
        named = logged and not is_named_after_folder(replace(log, shown=logged))
        return replace(log, shown=str(Path(log.shown).with_suffix(".xml"))) if named and is_elsewhere else None


def _made_in(part: Regression) -> Path | None:
    """Return the folder of the commands in a part of a log; None if it is unknown, or there are several."""
    folders = {Path(folder) for folder, _ in part.commands if folder}
    return folders.pop() if len(folders) == 1 else None


def _entered(log: Artefact) -> Path | None:
    """Return the only folder that make entered according to a log; None if there is none, or there are several."""
    folders = folders_of(log.path)
    return Path(folders.pop()) if len(folders) == 1 else None
