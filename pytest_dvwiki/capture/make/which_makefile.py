"""The Makefile that ran a simulation, determined from the log, the results file and the project's Makefiles.

A Makefile near a log need not have run the simulation. A command is printed only if there is evidence that the Makefile
ran: make logged the Makefile's folder, or the Makefile sets the simulation's module or top. Without such evidence, the
Makefile must be next to the results, set no other module or top, and meet one of these conditions:

- The Makefile invokes cocotb, or includes a file with a variable in its name.
- The log shows that make stopped in the Makefile, or ran one of its recipes.
"""

from __future__ import annotations

import os
import re
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.capture.make.makefiles import assignments, given_by_recipes, text_of
from pytest_dvwiki.capture.processes.tools import makefiles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_OF_COCOTB = re.compile(r"cocotb-config|Makefile\.sim\b|^[ \t]*-?include[ \t]+[^\n]*\$", re.MULTILINE)
"""Matches a Makefile that runs cocotb, or includes files with variables in their names."""
_STOPPED_IN_IT = re.compile(r"^(?:g?make(?:\[\d+\])?: \*\*\* \[)?(?:GNUm|[Mm])akefile:\d+: ([^\]\n]+)", re.MULTILINE)
"""Matches make's message that it stopped in the Makefile of its folder; the group is the target or `*** reason`."""
_NAMED = re.compile(
    r"^\"(?:\S*/)?g?make\" -f (\S+) \S+(?:\n(?:\S*/)?g?make(?:\[\d+\])?: Entering directory [`']([^'\n]+)')?",
    re.MULTILINE,
)
"""Matches the line with which cocotb's Makefile calls make again.

The groups are the user's Makefile and, if the line `Entering directory` follows, the folder.
"""
_MODULE, _TOP = frozenset({"MODULE", "COCOTB_TEST_MODULES"}), frozenset({"TOPLEVEL", "COCOTB_TOPLEVEL"})
_MOST_FOLDERS = 4_000
"""Maximum number of folders of a project that are searched for Makefiles."""
_LEAST_RECIPE = 6
"""Minimum length of a recipe's command for it to be looked for in a log."""


class MakeRun(Struct, frozen=True, dict=True):
    """What is known about the call of make that ran a simulation."""

    beside: Path
    """Folder of the simulation's results file or, without a results file, of its log."""
    modules: frozenset[str] = frozenset()
    """Names of the simulation's test modules."""
    tops: frozenset[str] = frozenset()
    """A set with the name of the simulation's top; empty if unknown."""
    entered: frozenset[str] = frozenset()
    """Folders that make entered to run the simulation."""
    log: str = ""
    """The start of the simulation's logs."""

    @cached_property
    def lines(self) -> frozenset[str]:
        """Return the lines of `log`."""
        return frozenset(line.strip() for line in self.log.split("\n"))


class Makefiles:
    """The Makefiles of a project; Makefiles outside `root` are left out."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._text_of = cache(text_of)

    def of(self, evidence: MakeRun) -> Path | None:
        """Return the Makefile that ran a simulation; None if there is no evidence for any."""
        entered = {path for folder in evidence.entered if (path := self._for_folder(Path(folder), evidence))}
        beside = self._in(evidence.beside, evidence)
        if beside in entered:
            return beside
        if len(entered) > 1:
            entered = {path for path in entered if self._matching_settings(path, evidence)}
        if len(entered) == 1:
            return entered.pop()
        if beside is not None and self._matching_settings(beside, evidence):
            return beside
        if (elsewhere := self._elsewhere(evidence)) is not None:
            return elsewhere
        return beside if beside is not None and self._may_have_run(beside, evidence) else None

    def _for_folder(self, folder: Path, evidence: MakeRun) -> Path | None:
        """Return the Makefile for a folder that make entered.

        A folder without a Makefile may hold generated files, such as Verilator's. The Makefile is then in a folder
        above.
        """
        if not folder.is_relative_to(self._root):
            return None
        if makefile := self._in(folder, evidence):
            return makefile
        above = (path for path in folder.parents if path.is_relative_to(self._root))
        path = next((found[0] for each in above if (found := makefiles(each))), None)
        return path if path is not None and self._matching_settings(path, evidence) else None

    def _in(self, folder: Path, evidence: MakeRun) -> Path | None:
        """Return the Makefile that make used in a folder: the one named in the log, or else the one that make finds.

        If the log names several Makefiles, those that do not set the run's module or top are ignored. If several are
        left, the log does not decide.
        """
        calls = _NAMED.findall(evidence.log)
        here = {folder / name for name, entered in calls if not entered or Path(entered) == folder}
        named = [path for path in sorted(here) if path.is_file()]
        if len(named) > 1:
            named = [path for path in named if self._matching_settings(path, evidence)]
        return named[0] if len(named) == 1 else next(iter(makefiles(folder)), None)

    def _matching_settings(self, makefile: Path, evidence: MakeRun) -> int:
        """Return how many of a run's module and top a Makefile sets; 0 if it sets either to another value."""
        text = self._text_of(makefile)
        found = 0
        for names, values in ((_MODULE, evidence.modules), (_TOP, evidence.tops)):
            if values and all(_sets(text, value) for value in values):
                found += 1
            elif values and _sets_another(text, names):
                return 0
        return found

    def _may_have_run(self, makefile: Path, evidence: MakeRun) -> bool:
        """Return whether a Makefile beside a run's files may have started the run without setting module or top."""
        text = self._text_of(makefile)
        if any(
            values and _sets_another(text, names)
            for names, values in ((_MODULE, evidence.modules), (_TOP, evidence.tops))
        ):
            return False
        if _OF_COCOTB.search(text) is not None:
            return True
        if any(
            what.startswith("***") or re.search(rf"^{re.escape(what)}[^:=\n]*:", text, re.MULTILINE)
            for what in _STOPPED_IN_IT.findall(evidence.log)
        ):
            return True
        recipes = (line.strip("\t @-+") for line in text.split("\n") if line.startswith("\t"))
        return any(len(line) >= _LEAST_RECIPE and line in evidence.lines for line in recipes)

    def _elsewhere(self, evidence: MakeRun) -> Path | None:
        """Return the only Makefile of the project that sets the known module and top; None unless there is just one.

        If several set them, only those whose folder is in the log count.
        """
        wanted = bool(evidence.modules) + bool(evidence.tops)
        if not wanted:
            return None
        found = [path for path in self._all if self._matching_settings(path, evidence) == wanted]
        if len(found) > 1:
            found = [path for path in found if f"{path.parent}{os.sep}" in evidence.log]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _all(self) -> tuple[Path, ...]:
        """Return the Makefiles of the project that run cocotb."""
        found = (path for folder in self._folders() for path in makefiles(folder))
        return tuple(path for path in found if _OF_COCOTB.search(self._text_of(path)))

    def _folders(self) -> Iterator[Path]:
        for number, (folder, below, _) in enumerate(os.walk(self._root)):
            if number == _MOST_FOLDERS:
                return
            below[:] = sorted(name for name in below if not name.startswith((".", "sim_build", "__pycache__")))
            yield Path(folder)


def _sets(text: str, value: str) -> bool:
    """Return whether a Makefile sets any variable to a value, also in the command of a recipe."""
    return re.search(rf"=[^\n#]*?(?<![\w.]){re.escape(value)}(?![\w.])", text) is not None


def _sets_another(text: str, names: Collection[str]) -> bool:
    """Return whether a Makefile sets any of the given variables, and only to fixed literal values."""
    values: Iterable[tuple[str, str]] = [
        *((how, value) for name, how, value in assignments(text) if name in names),
        *(("=", value) for name, value in given_by_recipes(text) if name in names),
    ]
    return bool(values) and all(value and how not in {"?=", "+="} and "$" not in value for how, value in values)
