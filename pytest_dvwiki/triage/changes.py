"""Find clues for the origin in the files that changed between a test's last pass and its failure."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.model import Clue
from pytest_dvwiki.model.sentences import count, few
from pytest_dvwiki.records.sides import HDL, SIDES, TESTBENCH, concerns, is_among, is_prose, own_name, side_of
from pytest_dvwiki.triage.origin import ASKS, LIST, SAME_HDL, WEIGHTS, undecided

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from pytest_dvwiki.model import OriginType

_LISTS = re.compile(r"\.(?:f|fl|flist|filelist|vc|core)$", re.IGNORECASE)
_MAKEFILES = re.compile(r"(?:^|[\\/])(?:gnu)?makefile[^\\/]*$|\.mk$", re.IGNORECASE)
_IN_C = re.compile(r"\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx)$", re.IGNORECASE)
"""C files, such as a model or functions that HDL calls. They may belong to the design or to the testbench."""
_BUILD_FILES = re.compile(rf"{_MAKEFILES.pattern}|\.tcl$|{_LISTS.pattern}", re.IGNORECASE)
_SCRIPTS = re.compile(
    rf"{_BUILD_FILES.pattern}|\.(?:[a-z]?sh|do|bat|ps1|pl|json|toml|ya?ml|cfg|ini)$|(?:^|[\\/])[^\\/.]+$", re.IGNORECASE
)
"""Files that may start a build and set its top level."""


def of_changes(
    files: Iterable[str],
    passed: str,
    failed: str | None = None,
    *,
    sources: Collection[str] = (),
    python_bench: bool = False,
    failures: int = 0,
    of_build: bool = False,
    lacking: str | None = None,
    is_defined: bool = False,
) -> tuple[Clue, ...]:
    """Return clues from the changes since the test last passed.

    If only the design or only the testbench changed, and no C file, there is a clue for the changed side. If it is
    known which files the simulation read, at least one changed file must be among them. Further clues are that no HDL
    file changed, or that a source list or Makefile changed.

    Args:
        files: The changed files; only sources of design and testbench are considered.
        passed: The commit at which the test passed.
        failed: The first commit at which the test failed; None for the current state.
        sources: Files that the failing simulation is known to have read; empty if unknown.
        python_bench: Whether the testbench is in Python.
        failures: Number of failing runs since the last pass if that pass had a different seed, otherwise 0. If it is
            not 0, the fault may be older than the pass, or come from a changed build description.
        of_build: Whether the build fails. Then the build succeeded at `passed`, but the test itself may have failed.
        lacking: The file that instantiates a missing module; None if no module is missing. Only a change to this file,
            or to one that the build did not read, can have removed the module.
        is_defined: Whether a file that the build did not read defines the missing module. If the file in `lacking` did
            not change, a changed file that selects the sources is at fault.
    """
    how = f" (with another seed; {count(failures, 'failing run')} since)" if failures else ""
    until = f" and until it failed at {failed[:8]}" if failed else ""
    changes = _ChangedFiles(
        files=tuple(files),
        span=f"since {'its build' if of_build else 'it'} passed at {passed[:8]}{how}{until}",
        sources=sources,
        python_bench=python_bench,
        failures=failures,
        lacking=lacking,
    )
    if is_defined and (choice := changes.of_choice()):
        return (choice,)
    return (*changes.of_one_side(), *changes.of_lists(), *changes.of_makefiles(), *changes.of_hdl())


class _ChangedFiles(Struct, frozen=True, kw_only=True):
    """The files changed between a pass and a failure; the attributes are described in `of_changes`."""

    files: tuple[str, ...]
    span: str
    """The time of the changes, as in `since it passed at 1234567`."""
    sources: Collection[str]
    python_bench: bool
    failures: int
    lacking: str | None

    @property
    def candidates(self) -> tuple[str, ...]:
        """Return the changed files that may have caused the failure.

        If a module is missing, HDL files that the build read are left out, except for the one that instantiates it.
        """
        lacking = self.lacking
        if lacking is None:
            return self.files
        return tuple(
            file
            for file in self.files
            if not HDL.search(file) or is_among(file, (lacking,)) or not is_among(file, self.sources)
        )

    @property
    def choosing(self) -> list[str]:
        """Return the changed files that the build read and that may select its sources."""
        choosing = (file for file in self.candidates if file.endswith(".py") or _MAKEFILES.search(file))
        return [file for file in choosing if file in self.sources]

    @property
    def may_lose_module(self) -> bool:
        """Return whether a module is missing, and both HDL and the choice of sources changed: either may be why."""
        return self.lacking is not None and any(map(HDL.search, self.candidates)) and bool(self.choosing)

    def of_choice(self) -> Clue | None:
        """Return a clue that the choice of sources changed, and the file that instantiates the missing module did not.

        Return None without such a change.
        """
        choosing = self.choosing
        if self.lacking is None or not choosing or any(is_among(file, (self.lacking,)) for file in self.files):
            return None
        unchanged = f"{self.lacking}, which instantiates the missing module, did not"
        text = f"{few(choosing, 1)}, which may choose the sources, changed {self.span}, but {unchanged}"
        return Clue("changes", "TB_BUG", text)

    def of_one_side(self) -> Iterator[Clue]:
        """Yield a clue for the design or the testbench, if only one of them changed."""
        sides: dict[OriginType, list[str]] = {}
        for file in self.files:
            side = side_of(file, self.sources, python_bench=self.python_bench)
            if side is not None and concerns(file, self.sources):
                sides.setdefault(side, []).append(file)
        in_doubt = (
            self.may_lose_module
            or any(map(_IN_C.search, self.files))
            or (self.failures and any(map(_BUILD_FILES.search, self.files)))
        )
        known = [file for file in itertools.chain(*sides.values()) if self._may_have_been_read(file)]
        if len(sides) == 1 and known and self.candidates == self.files and not in_doubt:
            (side,) = sides
            where = "among its sources" if self.sources else "in the repository"
            text = f"{where}, only {SIDES[side].removeprefix('the ')} files changed {self.span}: {few(known, 1)}"
            yield Clue(self._kind, side, text)

    def of_lists(self) -> Iterator[Clue]:
        """Yield a clue from a changed list of sources that is not the testbench's."""
        if any(_LISTS.search(file) and not TESTBENCH.search(own_name(file)) for file in self.files):
            yield undecided(LIST)

    def of_makefiles(self) -> Iterator[Clue]:
        """Yield a clue from a changed Makefile or script that names the top level, or may do so."""
        asking = [file for file in self.files if _MAKEFILES.search(file) and file in self.sources]
        asks = f"{few(asking, 1)}, which names the top level"
        calling = [file for file in self.files if _SCRIPTS.search(file) and not is_prose(file, self.sources)]
        if asking and all(file in asking or is_prose(file, self.sources) for file in self.files):
            text = f"no HDL file of the repository changed {self.span}, but {asks}, did"
            yield Clue(ASKS, "TB_BUG", text, WEIGHTS[self._kind])
        elif asking:
            yield Clue(ASKS, "UNKNOWN", f"{asks}, also changed {self.span}")
        elif calling and any(map(HDL.search, self.files)):
            text = f"{few(calling, 1)}, which may name the top level, also changed {self.span}"
            yield Clue(ASKS, "UNKNOWN", text)

    def of_hdl(self) -> Iterator[Clue]:
        """Yield a clue if no changed HDL can explain the failure, or if a changed choice of sources can, as well."""
        if self.candidates and not any(map(HDL.search, self.candidates)):
            which = "of the repository" if self.candidates == self.files else "that may have lost the module"
            text = f"no HDL file {which} changed {self.span}, but {few(self.candidates, 1)}"
            yield Clue(SAME_HDL, "UNKNOWN", text)
        elif self.may_lose_module:
            text = f"{few(self.choosing, 1)}, which chooses the sources, also changed {self.span}"
            yield Clue(SAME_HDL, "UNKNOWN", text)

    @property
    def _kind(self) -> str:
        return "likely changes" if self.failures else "changes"

    def _may_have_been_read(self, file: str) -> bool:
        return not self.sources or is_among(file, self.sources) or file.endswith("conftest.py")
