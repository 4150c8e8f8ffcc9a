"""Reads the table of outcomes: sessions, rows, and their cells."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml
from filelock import FileLock

from .harness import HERE, Call, Project, environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .harness import Cause, Record


@dataclass(frozen=True, slots=True)
class Session:
    """One call of pytest, or one regression outside pytest, that covers many rows."""

    name: str
    flow: str
    simulator: str | None
    file: str
    args: tuple[str, ...]
    modes: tuple[str, ...]
    passed: int | None
    noise: int
    flaky: int
    without_each: bool
    then: tuple[str, ...]
    kill: str | None
    status: int | None

    @property
    def is_pytest(self) -> bool:
        """Return whether pytest runs the session."""
        return self.flow != "M"

    def run(self, project: Project, mode: str, *, plugin: bool = True) -> Call:
        """Run the session in a new copy of the project; with `then`, return the second call."""
        if not self.is_pytest:
            return self._regress(project)
        settings = table()["modes"][mode]
        args = [*settings.get("args", ()), *self.args, *([self.file] if self.file else ())]
        env = settings.get("env", {})
        if self.kill:
            with project.hanging(*args, simulator=self.simulator or "icarus", env=env) as run:
                if self.kill == "interrupt":
                    return run.interrupted()
                run.kill(self.kill)
                return project.run(*self.then, env=env)
        call = project.run(*args, simulator=self.simulator or "icarus", env=env, plugin=plugin)
        return project.run(*self.then, env=env) if self.then else call

    def _regress(self, project: Project) -> Call:
        """Run `make` for each item, and archive the results."""
        variables = environment(self.simulator or "icarus")
        project.call([sys.executable, "regress.py", *self.args], variables)
        return project.call([sys.executable, "-m", "pytest_dvwiki", "ingest", "made", "--task", "made"], variables)


@dataclass(frozen=True, slots=True)
class Cell:
    """A row in a session: the expected results of its tests."""

    row: str
    session: Session
    labels: tuple[str, ...]
    primary: tuple[str, ...]
    tests: tuple[tuple[str, str | None], ...]
    """Items, each with the name of a cocotb test in it, or None."""
    follow: tuple[tuple[str, str | None], ...]
    causes: int
    phase: str | None

    def causes_in(self, record: Record) -> tuple[Cause, ...]:
        """Return the causes with a test of this row."""
        return tuple(cause for cause in record.causes if any(self.is_own(test.nodeid) for test in cause.tests))

    def is_own(self, nodeid: str) -> bool:
        """Return whether a test belongs to this row."""
        return any(_matches(nodeid, *test) for test in self.tests)

    def is_follower(self, nodeid: str) -> bool:
        """Return whether a test may count for this row's cause."""
        return any(_matches(nodeid, *test) for test in self.follow)

    def complaints(self, record: Record) -> list[str]:
        """Return the errors of the record in this row; empty if there are none."""
        causes = self.causes_in(record)
        if len(causes) != self.causes:
            return [f"{len(causes)} causes, not {self.causes}: {_told(causes)}"]
        return [complaint for cause in causes for complaint in self._about(cause)]

    def _about(self, cause: Cause) -> Iterator[str]:
        if cause.label not in self.labels:
            yield f"label {cause.label}, not {' or '.join(self.labels)}; {cause.primary!r}"
        if not any(text in cause.primary for text in self.primary):
            yield f"first cause {cause.primary!r}, without {' or '.join(self.primary)}"
        names = [test.nodeid for test in cause.tests]
        lost = [test for test in self.tests if not any(_matches(name, *test) for name in names)]
        if lost:
            yield f"tests lost: {lost}"
        alien = [name for name in names if not (self.is_own(name) or self.is_follower(name))]
        if alien:
            yield f"tests of other causes: {alien}"
        phases_of = Counter((test.nodeid, test.phase) for test in cause.tests)
        if max(phases_of.values()) > 1:
            yield f"a test is counted twice: {names}"
        phases = {test.phase for test in cause.tests if self.is_own(test.nodeid)}
        if self.phase and phases != {self.phase}:
            yield f"phase {phases}, not {self.phase}"


def _matches(nodeid: str, item: str, name: str | None) -> bool:
    if name is None:
        return nodeid == item
    return nodeid.startswith(f"{item}::") and nodeid.rsplit("::", 1)[1] == name


def _told(causes: tuple[Cause, ...]) -> str:
    return "; ".join(f"{c.label} {c.primary!r} {[t.nodeid for t in c.tests]}" for c in causes)


@cache
def table() -> dict[str, Any]:
    """Return the data file."""
    text = (HERE / "outcomes.yaml").read_text(encoding="utf-8")
    values: dict[str, Any] = yaml.safe_load(text)
    return values


@cache
def sessions() -> dict[str, Session]:
    """Return the sessions by name."""
    return {
        name: Session(
            name=name,
            flow=values["flow"],
            simulator=values.get("simulator"),
            file=values.get("file", ""),
            args=tuple(values.get("args", ())),
            modes=tuple(values["modes"]),
            passed=values.get("passed"),
            noise=values.get("noise", 0),
            flaky=values.get("flaky", 0),
            without_each=values.get("without") == "each",
            then=tuple(values.get("next", ())),
            kill=values.get("kill"),
            status=values.get("status"),
        )
        for name, values in table()["sessions"].items()
    }


@cache
def cells() -> tuple[Cell, ...]:
    """Return every row in every session that covers it."""
    return tuple(
        _cell(row | (special or {}), sessions()[name])
        for row in table()["rows"]
        for name, special in row["shown"].items()
    )


def _cell(values: Mapping[str, Any], session: Session) -> Cell:
    items = [_nodeid(item, session) for item in _many(values["item"])]
    return Cell(
        row=values["id"],
        session=session,
        labels=_many(values.get("label")),
        primary=_many(values.get("primary")),
        tests=tuple((item, name) for item in items for name in _many(values.get("tests")) or (None,)),
        follow=tuple((item, name) for item in items for name in _many(values.get("follow"))),
        causes=values.get("causes", 1),
        phase=values.get("phase"),
    )


def _many(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list) else (value,)


def _nodeid(item: str, session: Session) -> str:
    if "::" in item or "/" in item or item.endswith(".py"):
        return item
    return f"{session.file}::{item}" if session.is_pytest else f"made/{item}"


def run_once(shared: Path, session: Session, mode: str, *, plugin: bool = True) -> Call:
    """Run a session, or return its call if a process of the outer run has already run it.

    A session has many tests, which xdist may distribute to several workers.
    """
    folder = shared / f"{session.name}-{mode}{'' if plugin else '-without'}"
    saved = folder.with_suffix(".json")
    with FileLock(folder.with_suffix(".lock")):
        if not saved.exists():
            session.run(Project.copy("outcomes", folder), mode, plugin=plugin).save(saved)
        return Call.load(saved)
