"""One part of a log without a results file, read as one simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.capture.leftovers.names import folder_in
from pytest_dvwiki.capture.make.calls import MakeCalls, head_of, makefiles_read, modules_of
from pytest_dvwiki.capture.make.folders import STOPPED, lacking_sources
from pytest_dvwiki.capture.make.makefiles import make_call, python_path
from pytest_dvwiki.capture.simulations.regression import read_regressions
from pytest_dvwiki.capture.simulations.simulation import Simulation, collect
from pytest_dvwiki.logtext.logs import LogText

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.simulations.builds import Builds
    from pytest_dvwiki.capture.simulations.regression import Regression
    from pytest_dvwiki.capture.simulations.simulation import SimulationOutcome
    from pytest_dvwiki.model import Failure, Interest

_BEFORE_THE_RUN = frozenset({"compile_error", "elaboration_error", "python_error", "tool_error"})
"""Error classes of failures that stop make before a simulation has begun."""


class LogParts:
    """Reads parts of logs, each as one simulation.

    `class_of` returns the error class of the failure in a string, None if there is no failure. `builds` are the last
    builds, in case a log shows only the run.
    """

    def __init__(self, root: Path, interest: Interest, class_of: Callable[[str], str | None], builds: Builds) -> None:
        self.root = root
        self.interest = interest
        self.class_of = class_of
        self.builds = builds
        self.make = MakeCalls(root)

    def outcome(
        self, name: str, part: Regression, artefact: Artefact, logs: Sequence[Artefact] = (), text: str | None = None
    ) -> SimulationOutcome:
        """Return the outcome from a log without a results file.

        Args:
            name: Name of the simulation.
            part: The part of the log that covers the simulation.
            artefact: The log or, if the part is about another folder, an artefact in that folder.
            logs: The log itself, if `artefact` is in another folder.
            text: The part of the log with the simulation's call of make, if the Makefile was called several times.
        """
        logs = logs or [artefact]
        makefile = self.make.makefile(artefact, logs, part=part)
        if text is not None and makefile is not None:
            call = make_call(makefile, text, self.root, whole=head_of(logs))
        else:
            call = self.make.call(logs, makefile, modules_of(part))
        lines = "\n".join(line for _, line in (*part.preamble, *part.rest))
        # Make calls a tool only if all sources exist. If any is missing, no HDL was read, so the missing files are
        # recorded as the files that the simulation depends on.
        lacking = lacking_sources(lines, makefile.parent) if makefile is not None else ()
        return collect(
            Simulation(
                nodeid=name,
                root=self.root,
                regression=part,
                failed=True,
                interest=self.interest,
                builds=self.builds,
                modules_in=python_path(makefile),
                folder=self.root / artefact.folder,
                files=(*makefiles_read(makefile, call), *lacking),
                modules=tuple(sorted(modules_of(part))),
                call=call,
            )
        )

    def has_alike(self, name: str, module: str, makefile: Path | None) -> bool:
        """Return whether another module of the Makefile has a test with the same name as a test of a module.

        Args:
            name: Name of the module's simulation; a file as a name already distinguishes the simulations.
            module: The test module of the simulation.
            makefile: The Makefile that ran the simulation, if known; the Makefile in the folder `name` goes before it.
        """
        folder = folder_in(name)
        return folder is not None and module in self.make.modules_alike(self.root / folder, makefile)

    def of_text(self, text: str) -> Regression:
        """Read a section of a log as one part."""
        return read_regressions(LogText(source="log", text=text), self.interest)[0]

    def is_failed_build(self, part: Regression) -> bool:
        """Return whether a part of a log shows why no test could run.

        The names of these tests are unknown, so the failure is recorded under the name of their results file or folder.
        """
        lines = [line for _, line in (*part.preamble, *part.rest)]
        is_cocotb = part.started or part.cocotb is not None or any("cocotb" in line for line in lines)
        if part.blocks or part.finished or not (is_cocotb or any(map(STOPPED.match, lines))):
            return False
        error_class = self.class_of("\n".join(lines))
        return error_class is not None and (is_cocotb or error_class in _BEFORE_THE_RUN)

    def has_class(self, failure: Failure) -> bool:
        """Return whether an error class follows from the log of a failure."""
        return self.class_of_failure(failure) is not None

    def class_of_failure(self, failure: Failure) -> str | None:
        """Return the error class that follows from the log of a failure; None if the log shows no failure."""
        texts = (excerpt.text for excerpt in failure.excerpts if excerpt.source in {"log", "run"})
        return next(filter(None, map(self.class_of, texts)), None)
