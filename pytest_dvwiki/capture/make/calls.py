"""The Makefile that ran a simulation, and the call of make that reruns it, from the simulation's artefacts."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.capture.make.folders import folders_of
from pytest_dvwiki.capture.make.makefiles import (
    HEAD,
    make_call,
    modules_in,
    named_makefile,
    texts_of,
    top_in,
    values_in_log,
)
from pytest_dvwiki.capture.make.modules_alike import modules_alike
from pytest_dvwiki.capture.make.which_makefile import Makefiles, MakeRun
from pytest_dvwiki.capture.processes.tools import makefiles
from pytest_dvwiki.capture.runners import fusesoc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.files.artefacts import Artefact
    from pytest_dvwiki.capture.files.results import Case
    from pytest_dvwiki.capture.simulations.regression import Regression
    from pytest_dvwiki.capture.simulations.reproduce import Call


class MakeCalls:
    """The calls of make in the artefacts of one run."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._which = Makefiles(root)
        self._folders_of = functools.cache(folders_of)
        self._modules_alike = functools.cache(modules_alike)
        self._calls: dict[tuple[object, ...], Call | None] = {}

    def makefile(
        self,
        artefact: Artefact,
        logs: Sequence[Artefact],
        *,
        part: Regression | None = None,
        cases: Sequence[Case] = (),
    ) -> Path | None:
        """Return the Makefile that ran a simulation; None if the artefacts do not show it.

        FuseSoC's Makefile only builds, so it is ignored.
        """
        if not artefact.lasting or fusesoc.run_in(artefact.path.parent) is not None:
            return None
        log = head_of(logs)
        commands = part.commands if part is not None else ()
        values = values_in_log("\n".join(command for _, command in commands) or log)
        modules, top = modules_in(values), top_in(values)
        of_cases = {case.classname for case in cases}
        if modules.isdisjoint(of_cases) and of_cases:
            # The log may begin with another simulation.
            modules, top = of_cases, None if modules else top
        of_part = {folder for folder, _ in commands if folder}
        return self._which.of(
            MakeRun(
                beside=artefact.path.parent,
                modules=frozenset(modules),
                tops=frozenset({top} if top else ()),
                entered=frozenset(of_part or {folder for log in logs for folder in self._folders_of(log.path)}),
                log=log,
            )
        )

    def modules_alike(self, folder: Path, makefile: Path | None) -> frozenset[str]:
        """Return the test modules with tests of the same name in a folder, according to the folder's Makefile.

        The answer must not depend on which simulations a log shows. `makefile` is the Makefile that ran a simulation,
        and counts only if the folder has none.
        """
        path = next(iter(makefiles(folder)), makefile)
        return self._modules_alike(path) if path is not None else frozenset()

    def call(self, logs: Sequence[Artefact], makefile: Path | None, modules: frozenset[str]) -> Call | None:
        """Return the call of make that reruns a simulation; None if it is unknown."""
        if makefile is None:
            return None
        key = makefile, modules, *(log.path for log in logs)  # each log shows the values of its own run
        if key not in self._calls:
            self._calls[key] = make_call(makefile, head_of(logs), self._root, modules=modules - {""})
        return self._calls[key]


def makefiles_read(makefile: Path | None, call: Call | None) -> tuple[str, ...]:
    """Return the Makefile of a simulation with its includes; empty if unknown. A file given by `-f` comes first."""
    if makefile is None:
        return ()
    named = named_makefile(call.arguments, makefile.parent) if call is not None else None
    files = (*texts_of(makefile), *(texts_of(named) if named else ()))
    files = tuple(path for path in files if os.path.isfile(path))  # noqa: PTH113  # a name may be too long
    return tuple(dict.fromkeys(os.path.normpath(path) for path in (*filter(None, [named]), *files)))


def modules_of(part: Regression) -> frozenset[str]:
    """Return the test modules that a part of a log shows."""
    values = values_in_log("\n".join(command for _, command in part.commands))
    return frozenset(modules_in(values) | {block.name.rpartition(".")[0] for block in part.blocks} - {""})


def head_of(logs: Iterable[Artefact]) -> str:
    """Return the start of each log of a run, joined."""
    return "\n".join(reading.start_of(log.path, HEAD) for log in logs)
