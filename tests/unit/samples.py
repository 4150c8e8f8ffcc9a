"""Records of a small FIFO project, for the tests of the archive."""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import yaml
from msgspec.structs import replace

from pytest_dvwiki.model import (
    BinRow,
    Command,
    FailedTest,
    FixRow,
    LogReference,
    Occurrence,
    Origin,
    PassedAgain,
    Passing,
    RunRecord,
    Simulator,
    SourceRow,
    Suite,
    Vcs,
)
from pytest_dvwiki.records.fixes import PROVES
from pytest_dvwiki.records.store import suite_id
from pytest_dvwiki.settings import Layout
from pytest_dvwiki.wiki.writing.build import archive

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_dvwiki.model import Change
    from pytest_dvwiki.wiki.writing.build import ArchiveResult

PRIMARY = "UVM_ERROR sb.sv(210) @ 1250ns: reporter [SCBD] expected 0x12 got 0x13"
TEST = "tests/test_fifo.py::test_fifo::overflow"
CAUSE = "9b1f03c2a7d4"
FIRST_RUN = datetime.fromisoformat("2026-11-21T00:00:00Z")
TODAY = datetime.fromisoformat("2026-11-22T12:00:00Z")
"""Time of the unit tests: bugs of the first runs are a day old, so no check finds them stale."""


def layout(root: Path) -> Layout:
    return Layout(root=root, wiki=root / ".agent" / "wiki")


def occurrence(fingerprint: str = CAUSE, **changes: Any) -> Occurrence:
    fields: dict[str, Any] = {
        "fingerprint": fingerprint,
        "error_class": "uvm_error",
        "failure_subtype": "scoreboard_fail",
        "pattern": "uvm.scoreboard_mismatch",
        "origin": Origin(type="RTL_BUG", confidence=0.82, reasons=("fails with 3 of 3 seeds",)),
        "primary": PRIMARY,
        "tests": (failed(),),
        "excerpt": "before\n" + PRIMARY + "\nafter",
        "log": LogReference(path="sim_build/test_fifo.log", line=1880),
        "command": Command(
            arguments=("pytest", "tests/test_fifo.py::test_fifo"), variables={"COCOTB_RANDOM_SEED": "42"}, test=TEST
        ),
    }
    return Occurrence(**(fields | changes))


def failed(nodeid: str = TEST, seed: str | None = "42", **changes: Any) -> FailedTest:
    return FailedTest(nodeid=nodeid, seed=seed, **({"sim_time": "1250 ns", "simulator": "icarus"} | changes))


def record(number: int, *occurrences: Occurrence, commit: str | None = None, **changes: Any) -> RunRecord:
    """Return the run with a number: one an hour from 2026-11-21 on, each at a different commit."""
    started = FIRST_RUN + timedelta(hours=number)
    fields: dict[str, Any] = {
        "task_id": f"regression_{started:%Y%m%dT%H%M%SZ}_{number:06x}",
        "tool": "pytest-dvwiki 0.1.0",
        "registry": "9f2c",
        "fingerprint_version": 1,
        "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
        "finished": f"{started + timedelta(minutes=10):%Y-%m-%dT%H:%M:%SZ}",
        "duration_s": 600.0,
        "vcs": Vcs(commit=commit or f"{number:040x}", branch="main"),
        "simulators": (Simulator(name="icarus", version="11.0"),),
        "occurrences": occurrences,
    }
    fields |= changes
    for key, kind in (("sources", SourceRow), ("fixes", FixRow), ("coverage", BinRow)):
        fields[key] = tuple(_row(kind, row) if isinstance(row, dict) else row for row in fields.get(key, ()))
    return RunRecord(**fields)


def _row(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def passing(
    number: int, fingerprint: str = CAUSE, nodeid: str = TEST, changed: Change = "commit", **changes: Any
) -> RunRecord:
    """Return a run in which a test passes again, with the data of git."""
    again = PassedAgain(
        nodeid=nodeid, fingerprint=fingerprint, seed="42", changed=changed, failed_seed="42", simulator="icarus"
    )
    fields = {"passed_again": (again,), "fixes": (fixed(number, fingerprint),) if changed in PROVES else ()}
    return record(number, **(fields | changes))


def fixed(number: int, fingerprint: str = CAUSE, **changes: Any) -> dict[str, Any]:
    """Return the data of git for the run with a number, in which the first run's cause is gone."""
    row: dict[str, Any] = {
        "fingerprint": fingerprint,
        "text": "fifo: reset the read pointer",
        "by": "git",
        "commits": [f"{1:040x}", f"{number:040x}"],
        "result": "open",
        "log": [f"{number:012x} fifo: reset the read pointer"],
        "log_count": 1,
        "files": ["rtl/fifo.sv"],
        "file_count": 1,
    }
    return row | changes


def again(**changes: Any) -> PassedAgain:
    """Return a pass of the failing test, with the seed that failed and at another commit."""
    fields = {"nodeid": TEST, "fingerprint": CAUSE, "seed": "42", "changed": "commit", "failed_seed": "42"}
    return PassedAgain(**({**fields, "simulator": "icarus"} | changes))


def now_passing(nodeid: str = TEST, seed: str | None = "42") -> Passing:
    return Passing(nodeid=nodeid, seed=seed, simulator="icarus")


def suites(*names: str, simulators: Sequence[str | None] = (None, "icarus")) -> tuple[Suite, ...]:
    """Return lists of tests that ran without a simulator and on Icarus."""
    return tuple(Suite(suite=suite_id(names), simulator=simulator) for simulator in simulators)


def archived(place: Layout, run: RunRecord, names: Iterable[str] | None = None, **options: Any) -> ArchiveResult:
    """Archive a run with the list of the tests that ran in it."""
    if names is None:
        return archive(place, run, **options)
    listed = list(names)
    return archive(place, replace(run, suites=suites(*listed)), lists=[listed], **options)


def files(folder: Path) -> dict[str, bytes]:
    """Return all files of a wiki except its caches."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".cache" not in path.parts and not path.name.startswith(".lock")
    }


def written(root: Path) -> list[dict[str, Any]]:
    """Return the records in a project's files."""
    paths = sorted((root / ".agent" / "tasks").glob("[0-9]*/[0-9]*/*.yaml"))
    return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths]


def git(root: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    identity = ("-c", "user.name=someone", "-c", "user.email=someone@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *identity, "-C", str(root), *arguments], capture_output=True, text=True, check=check, timeout=60
    )
