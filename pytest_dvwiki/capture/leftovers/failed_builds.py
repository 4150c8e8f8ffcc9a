"""Builds that failed, from the logs of make."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.capture.files.artefacts import Artefact
from pytest_dvwiki.capture.make.folders import builds_in, failed_sources, sources_in
from pytest_dvwiki.capture.simulations.builds import NOTHING_KNOWN, Builds, setup_of_log
from pytest_dvwiki.records.units import folder_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pytest_dvwiki.capture.leftovers.log_names import LogNames
    from pytest_dvwiki.capture.leftovers.log_parts import LogParts
    from pytest_dvwiki.capture.leftovers.totals import Leftovers
    from pytest_dvwiki.capture.simulations.regression import Regression

_BUILD_DIGITS = 8
"""How many of a configuration's digits, counted from the first, identify the build."""
_NUMBER = re.compile(r"(?:#\d+)+$")
"""Matches the number that distinguishes a name from the same name of another simulation."""


class _StoppedBuild(Struct, frozen=True):
    """A section of a log that ends where make stopped."""

    text: str
    part: Regression
    folder: Path | None
    """Folder of the Makefile; None if unknown."""

    def may_be_in(self, folders: Collection[str]) -> bool:
        """Return whether make may have worked in one of the folders; True if it is unknown, or if there are none."""
        own = {*self.part.folders, *([str(self.folder)] if self.folder is not None else ())}
        return not (own and folders) or not own.isdisjoint(folders)

    def compiled(self, parts: Sequence[Regression], builds: Iterable[_StoppedBuild]) -> Counter[str]:
        """Return the commands of a log that may have run in the folder of this build, without those of failed builds.

        A simulation that ran has no commands of failed builds.

        Args:
            parts: The parts of the log.
            builds: The failed builds in the log.
        """
        found = Counter(
            command for part in parts for folder, command in part.commands if self.may_be_in([folder] if folder else [])
        )
        if any(part.started or part.blocks for part in parts):
            return found
        failed = (build.part for build in builds if self.may_be_in(build.part.folders))
        return found - Counter(command for part in failed for _, command in part.commands)


class FailedBuilds:
    """Finds the builds that failed in a run, and adds them to the run's failures."""

    def __init__(self, run: Leftovers, parts: LogParts, names: LogNames, covered: Iterable[str]) -> None:
        self._run = run
        self._parts = parts
        self._names = names
        self._covered = frozenset(covered)
        self._stopped: set[tuple[Path, str]] = set()
        """Pairs of a log and a failed build that `add_stopped` added."""

    def add_stopped(self, log: Artefact, stopped: Sequence[tuple[str, str]]) -> bool:
        """Add the builds that failed in other folders than the log's, and return whether there are any.

        Folders with a results file are left out.

        Args:
            log: The log.
            stopped: Pairs of a folder where make stopped, and make's output in that folder.
        """
        # A failed build is named after its folder, so that a later pass in this folder shows that it was repaired. If
        # the folder is not searched, no pass will be found there. The failure then stays with the log.
        folders = [Path(folder) for folder, _ in stopped]
        if len(folders) == 1 and log.searched is not None and not folders[0].is_relative_to(log.searched):
            return False
        found = False
        for folder, text in stopped:
            if not Path(folder).is_relative_to(self._parts.root):
                continue
            there = self._in_folder(log, Path(folder))
            part = self._parts.of_text(text)
            if not self._parts.is_failed_build(part) or there.folder in {log.folder, *self._covered}:
                continue
            found = True
            name = self._names.of_build(log, part, text, is_only=False, folder=Path(folder))
            outcome = self._parts.outcome(name, part, there, [log])
            failures = [failure for failure in outcome.failures if self._parts.has_class(failure)]
            self._run.add(outcome, failures, there)
            if failures and not outcome.results:
                self._run.add_failed_build(name, outcome)
                self._stopped.add((log.path, name))
        return found

    def add_designs(self, log: Artefact, parts: Sequence[Regression], *, least: int = 1) -> bool:
        """Add the designs that failed to build in one folder, and return whether there are any.

        A design is left out if another command built it in the same folder, because the design may have been repaired
        before that command. Some commands do not show which design they build; their design is left out if another
        command in the same folder compiled the same files. Nothing is added if the log has fewer than `least` failed
        builds.
        """
        texts = list(builds_in(_outside_tests(parts)))
        if sum(self._parts.class_of(text) is not None for text in texts) < least:
            return False
        builds = [self._stopped_build(log, text) for text in texts]
        ran = [(part.folders, _design_of(part, str(log.path.parent))) for part in parts if part.started]
        found = False
        seen: set[tuple[str, frozenset[str]]] = set()
        for build in builds:
            part, text, folder = build.part, build.text, build.folder
            if not self._parts.is_failed_build(part):
                continue
            there = self._in_folder(log, folder) if folder is not None else log
            name = self._names.of_build(log, part, text, is_only=len(texts) == 1 and len(parts) == 1, folder=folder)
            outcome = self._parts.outcome(name, part, there, [log], text=text)
            failures = [failure for failure in outcome.failures if self._parts.has_class(failure)]
            if not failures:
                continue
            design = _build_of(outcome.config)
            # If the simulator started, the build succeeded, and the simulation ended before its first test.
            if design != NOTHING_KNOWN and not part.started:
                later = (each for folders, each in ran if build.may_be_in(folders))
                if design in later or self._is_built(name, design):
                    continue
            elif not part.started:
                sources = failed_sources(text, [command for _, command in part.commands])
                compiled = build.compiled(parts, builds)
                if not sources or any(sources <= sources_in(command) for command in compiled):
                    continue
                if (name, sources) in seen or (log.path, name) in self._stopped:
                    continue
                seen.add((name, sources))
            found = True
            self._run.add(outcome, failures, log)
            self._run.add_failed_build(name, outcome)
        return found

    def _stopped_build(self, log: Artefact, text: str) -> _StoppedBuild:
        part = self._parts.of_text(text)
        makefile = self._parts.make.makefile(log, [log], part=part)
        return _StoppedBuild(text, part, makefile.parent if makefile is not None else None)

    def _is_built(self, name: str, design: str) -> bool:
        """Return whether the run has a result of a design in the folder of a failed build."""
        folder = _folder_of(name)
        return any(
            _build_of(result.config) == design and _folder_of(result.nodeid) == folder for result in self._run.results
        )

    def _in_folder(self, log: Artefact, folder: Path) -> Artefact:
        """Return an artefact for a part of a log, as if that part were a log in another folder."""
        path = folder / log.path.name
        return Artefact(
            path=path,
            shown=path.relative_to(self._parts.root).as_posix(),
            kind="log",
            modified=log.modified,
            lasting=log.lasting,
        )


def _design_of(part: Regression, folder: str) -> str:
    """Return the digits of the configuration that identify the build of a simulation."""
    return _build_of(setup_of_log(part.commands, folder, Builds(None), part.failed).config)


def _build_of(config: str | None) -> str:
    """Return the digits of a configuration that identify the build."""
    return (config or NOTHING_KNOWN)[:_BUILD_DIGITS]


def _folder_of(name: str) -> str:
    """Return the folder of a test or of a failed build, from its name."""
    place = _NUMBER.sub("", name.partition("::")[0])
    return folder_of(f"{place}::") or place


def _outside_tests(parts: Iterable[Regression]) -> Iterator[str | None]:
    """Yield the lines of a log that are outside tests; the tests of each simulation are replaced by one None."""
    for part in parts:
        yield from (line for _, line in part.preamble)
        if part.blocks:
            yield None
        yield from (line for _, line in part.rest)
