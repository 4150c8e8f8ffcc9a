"""Builds that failed, from the logs of make."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.files.artefacts import Artefact
from pytest_dvwiki.capture.make.folders import builds_in, failed_sources, sources_in
from pytest_dvwiki.capture.simulations.builds import NOTHING_KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.capture.leftovers.log_names import LogNames
    from pytest_dvwiki.capture.leftovers.log_parts import LogParts
    from pytest_dvwiki.capture.leftovers.totals import Leftovers
    from pytest_dvwiki.capture.simulations.regression import Regression

_BUILD_DIGITS = 8
"""How many of a configuration's digits, counted from the first, identify the build."""


class FailedBuilds:
    """Finds the builds that failed in a run, and adds them to the run's failures."""

    def __init__(self, run: Leftovers, parts: LogParts, names: LogNames, covered: Iterable[str]) -> None:
        self._run = run
        self._parts = parts
        self._names = names
        self._covered = frozenset(covered)

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
        return found

    def add_designs(self, log: Artefact, parts: Sequence[Regression], *, least: int = 1) -> bool:
        """Add the designs that failed to build in one folder, and return whether there are any.

        A design is left out if another command built it, because the design may have been repaired before that command.
        Some commands do not show which design they build; their design is left out if another command compiled the same
        files. Nothing is added if the log has fewer than `least` failed builds.
        """
        built = {result.config[:_BUILD_DIGITS] for result in self._run.results if result.config}
        texts = list(builds_in(_outside_tests(parts)))
        if sum(self._parts.class_of(text) is not None for text in texts) < least:
            return False
        failed = [self._parts.of_text(text) for text in texts]
        found = False
        compiled = Counter(command for part in parts for _, command in part.commands)
        compiled -= Counter(command for part in failed for _, command in part.commands)
        seen: set[frozenset[str]] = set()
        for text, part in zip(texts, failed, strict=True):
            makefile = self._parts.make.makefile(log, [log], part=part)
            if not self._parts.is_failed_build(part):
                continue
            folder = makefile.parent if makefile is not None else None
            there = self._in_folder(log, folder) if folder is not None else log
            name = self._names.of_build(log, part, text, is_only=len(texts) == 1 and len(parts) == 1, folder=folder)
            outcome = self._parts.outcome(name, part, there, [log], text=text)
            failures = [failure for failure in outcome.failures if self._parts.has_class(failure)]
            if not failures:
                continue
            build = (outcome.config or NOTHING_KNOWN)[:_BUILD_DIGITS]
            # If the simulator started, the build succeeded, and the simulation ended before its first test.
            if build != NOTHING_KNOWN and not part.started:
                if build in built:
                    continue
                built.add(build)
            elif not part.started:
                sources = failed_sources(text, [command for _, command in part.commands])
                if not sources or sources in seen or any(sources <= sources_in(command) for command in compiled):
                    continue
                seen.add(sources)
            found = True
            self._run.add(outcome, failures, log)
            self._run.add_failed_build(name, outcome)
        return found

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


def _outside_tests(parts: Iterable[Regression]) -> Iterator[str | None]:
    """Yield the lines of a log that are outside tests; None stands for the tests of each simulation."""
    for part in parts:
        yield from (line for _, line in part.preamble)
        if part.blocks:
            yield None
        yield from (line for _, line in part.rest)
