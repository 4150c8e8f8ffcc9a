"""Faults at system calls: strace kills a process at its n-th call, or makes that call and all later ones fail."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from unit.samples import layout, occurrence, record

from pytest_dvwiki.model import RunRecord
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive, build

from .work import REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.settings import Layout

TESTS = Path(__file__).parents[1]
KILLED_AT = ("openat", "mkdir", "write", "pwrite64", "fsync", "rename", "link", "unlink", "rmdir", "chmod", "flock")
"""Calls that change files, or precede such a call; a kill at any other call has the same effect as at one of these."""
REFUSED_AT = ("mkdir", "write", "pwrite64", "fsync", "rename", "link")
"""Those of them that fail on a full or broken disk, except `openat`: strace cannot tell a new file from an old one."""
_MARK = "getppid"
_CALL = re.compile(r"(?:\d+\s+)?(\w+)\(")
_LOG_LINE = re.compile(r"## \[\d{4}-\d\d-\d\d\] \w+ \| \S+ \| .+")


def is_available() -> bool:
    """Return whether strace works here."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Start:
    """A wiki before an action, with the system calls of the action."""

    way: str
    template: Path
    said: tuple[str, ...]
    """What the actions before have done."""
    calls: tuple[str, ...]
    """The process's system calls in order, with a mark after its start."""

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the numbers, from 1, of the action's calls among all calls of the process with these names."""
        counted = [(name in names, at) for at, name in enumerate(self.calls) if name in names]
        return [number for number, (_, at) in enumerate(counted, 1) if at > self.calls.index(_MARK)]


@cache
def start(way: str) -> Start:
    """Make the wiki before an action, and list the action's system calls."""
    folder = Path(tempfile.mkdtemp(prefix=f"dvwiki-{way}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    template = folder / "template"
    template.mkdir()
    made = _run([*_python("prepare"), way, str(template)])
    assert made.returncode == 0, made.stderr
    with _copy(template) as root:
        log = folder / "calls"
        names = ",".join(dict.fromkeys((*KILLED_AT, *REFUSED_AT, _MARK)))
        watched = _run(["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={names}", *_python("act"), way, str(root)])
        assert watched.returncode == 0, watched.stderr
    found = (_CALL.match(line) for line in log.read_text("utf-8", "replace").splitlines())
    return Start(way, template, tuple(made.stdout.splitlines()), tuple(call[1] for call in found if call))


def kill(start: Start, number: int) -> str | None:
    """Kill a process at one of its calls.

    Returns:
        The error in the wiki afterwards, or None.
    """
    with _copy(start.template) as root:
        ended = _inject(start, root, KILLED_AT, f"signal=SIGKILL:when={number}")
        if ended.returncode not in {-signal.SIGKILL, 0}:
            return f"it ended with {ended.returncode}: {ended.stderr}"
        return what_is_wrong(layout(root), [*start.said, *ended.stdout.splitlines()])


def refuse(start: Start, number: int, error: str, *, for_ever: bool) -> str | None:
    """Make one call fail, or it and all later ones.

    Returns:
        The error in the output or in the wiki afterwards, or None.
    """
    with _copy(start.template) as root:
        ended = _inject(start, root, REFUSED_AT, f"error={error}:when={number}{'+' if for_ever else ''}")
        told = ended.stderr.strip()
        if ended.returncode not in {0, REFUSED}:
            return f"it ended with {ended.returncode}: {told}"
        if ended.returncode == REFUSED and ("\n" in told or ";" not in told):
            return f"this is not one line with file and remedy: {told}"
        return what_is_wrong(layout(root), [*start.said, *ended.stdout.splitlines()])


def what_is_wrong(place: Layout, said: Sequence[str]) -> str | None:
    """Check a wiki after a fault, with the next run and then `dvwiki build`."""
    try:
        _look(place, said)
    except Exception as error:  # noqa: BLE001  # the caller names the call with the fault
        return f"{type(error).__name__}: {error}"
    return None


def _look(place: Layout, said: Sequence[str]) -> None:
    _nothing_is_torn(place)
    archive(replace(place, lock_timeout=10.0), record(40, occurrence()))
    result = build(place)
    assert (result.refused, result.problems) == ([], [])
    _nothing_is_torn(place)
    left = [path for path in place.agent.rglob(".*.tmp") if ".cache" not in path.parts]
    assert left == [], left
    shutil.rmtree(place.wiki / ".cache")
    assert build(place, check=True).changed == []
    _nothing_is_lost(place, [*said, f"record {record(40).task_id}"])


def _nothing_is_torn(place: Layout) -> None:
    for path in place.wiki.glob("*/*.md"):
        if path.name != "_index.md":
            data = path.read_bytes()
            assert pages.read(data).metadata, path
            assert data.endswith(b"\n"), path
            assert not isinstance(pages.regions(data), pages.Refused), path
    log = place.wiki / "log.md"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    assert all(_LOG_LINE.fullmatch(line) for line in lines[2:]), lines


def _nothing_is_lost(place: Layout, said: Sequence[str]) -> None:
    with Archive(place.tasks, None) as archive:
        archive.refresh()
        for line in dict.fromkeys(said):
            kind, what = line.split(" ", 1)
            if kind == "record":
                assert isinstance(archive.record(what), RunRecord), f"{what} is lost"
            else:
                page, words = what.split(" ", 1)
                assert words in (place.wiki / page).read_text("utf-8"), f"{words!r} is lost"


def _python(part: str) -> list[str]:
    return [sys.executable, "-m", "survival.work", part]


def _inject(start: Start, root: Path, names: Sequence[str], fault: str) -> subprocess.CompletedProcess[str]:
    calls = ",".join(names)
    watch = ["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={calls}", "-e", f"inject={calls}:{fault}"]
    return _run([*watch, *_python("act"), start.way, str(root)])


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True, check=False, timeout=120)


@contextlib.contextmanager
def _copy(template: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="dvwiki-") as folder:
        root = Path(folder, "project")
        shutil.copytree(template, root)
        yield root
