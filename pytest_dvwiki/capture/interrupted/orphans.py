"""Journals of killed runs: these runs were not archived, and their processes are gone.

Anyone who can write to a journal's folder can forge the journal. It is therefore read line by line, within limits, and
invalid lines are skipped.
"""

from __future__ import annotations

import json
import math
import os
import socket
import time
from contextlib import contextmanager, suppress
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki import reading
from pytest_dvwiki.capture.git.command import COMMIT, clean_text
from pytest_dvwiki.capture.git.revisions import is_revision
from pytest_dvwiki.capture.interrupted.journal import SUFFIX, Begin, try_lock
from pytest_dvwiki.capture.simulations.unfinished import UnfinishedTest
from pytest_dvwiki.model import Failure, Vcs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pytest_dvwiki.capture.interrupted.places import JournalFolder

_OTHER_HOST_SILENCE = 3600.0
"""Seconds without a write after which another machine's journal is taken over: locks may not work across NFS."""
_MOST_PROCESSES = 256
"""Maximum number of journals in the folder of a run; a folder with more is ignored."""
_MOST_BYTES = reading.MOST
"""Maximum number of bytes that are read from all journals of a run."""
_MOST_OF_LINE = 4 << 20
_MOST_FAILURES = 10_000


class Orphan(Struct, frozen=True):
    """The journal of a killed run."""

    folder: Path
    task_id: str
    owner: int
    """Id of the user who started the run; files of other users are not read."""
    started: float
    ended: float
    """Time of the last write, seconds since the epoch."""
    failures: tuple[Failure, ...]
    running: tuple[Begin, ...]
    """The items that were running, at most one per process."""
    unfinished: tuple[UnfinishedTest, ...]
    """Tests of cocotb's own pytest plugin that were running inside a simulator."""
    vcs: Vcs = field(default_factory=Vcs)
    """The repository when the run began; empty if unknown."""


def find_orphans(place: JournalFolder, *, except_for: str, note: Callable[[str], None]) -> Iterator[Orphan]:
    """Yield the killed runs in a journal folder.

    Each journal stays locked while the caller works on it, so that no two runs take over the same journal. The journal
    of the run `except_for`, which is the current one, is left out. `note` gets a message for each folder that must not
    be read.
    """
    try:
        folders = place.runs()
    except reading.UnreadableError as error:
        note(str(error))
        return
    for folder in folders:
        if folder.name == except_for:
            continue
        try:
            with left_behind(folder, silence=_OTHER_HOST_SILENCE) as orphan:
                if orphan is not None:
                    yield orphan
        except reading.UnreadableError as error:
            note(f"the journal of a killed run was left alone: {error}")
        except OSError:
            continue  # the folder is another user's, or another run has just taken the journal over


@contextmanager
def left_behind(folder: Path, *, silence: float = 0.0) -> Iterator[Orphan | None]:
    """Read the journal in a run's folder, and keep it locked until the caller is done.

    Another machine's journal is taken over `silence` seconds after its last write.

    Yields:
        The journal of a killed run; None if the folder has no journal, or the run is still in progress.

    Raises:
        OSError: The journal cannot be read; an `UnreadableError` if it must not be read.
    """
    files = sorted(folder.glob(f"*{SUFFIX}"))
    held: dict[Path, int] = {}
    try:
        is_over = 0 < len(files) <= _MOST_PROCESSES and all(_is_left_behind(path, held, silence) for path in files)
        yield _read(folder, held) if is_over else None
    finally:
        for descriptor in held.values():
            os.close(descriptor)


def moved(orphan: Orphan) -> Orphan:
    """Return a journal copied from another machine, without the paths of logs on that machine."""
    return replace(orphan, running=tuple(replace(begin, opened=()) for begin in orphan.running))


def _is_left_behind(path: Path, held: dict[Path, int], silence: float) -> bool:
    descriptor = held[path] = reading.handle_below(path.parent, path, os.O_RDWR)
    if not try_lock(descriptor):
        return False
    start = next(_events(descriptor), {})
    if start.get("host") == socket.gethostname():
        return True
    return time.time() - os.fstat(descriptor).st_mtime >= silence


def _events(descriptor: int, most: int = _MOST_OF_LINE) -> Iterator[dict[str, Any]]:
    """Yield the events of a journal; a line that was cut off by a kill or a full disk is skipped.

    The file is read through the descriptor that holds the lock: closing any other descriptor would release the lock.
    """
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, "rb", closefd=False) as lines:
        is_whole = True
        while most > 0 and (piece := lines.readline(_MOST_OF_LINE)):
            most -= len(piece)
            begins, is_whole = is_whole, piece.endswith(b"\n") or len(piece) < _MOST_OF_LINE
            if begins and is_whole and (event := _event(piece)) is not None:
                yield event


def _event(line: bytes) -> dict[str, Any] | None:
    """Return the event of a line; None if the line is invalid, for instance with numbers out of range."""
    try:
        event = json.loads(line, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


class _EventReader:
    """Collects the events from the journals of a run."""

    def __init__(self) -> None:
        self.started: list[float] = []
        self.failures: list[Failure] = []
        self.running: dict[str, Begin] = {}
        self.unfinished: dict[str, UnfinishedTest] = {}
        self.vcs = Vcs()

    def take(self, process: str, event: dict[str, Any]) -> None:
        """Process an event of one process.

        Raises:
            KeyError, TypeError, ValueError: The event is invalid.
        """
        match event.pop("event", None):
            case "start":
                self.started.append(msgspec.convert(event["time"], float))
            case "sources":
                self.vcs = _checked(msgspec.convert(event, Vcs))
            case "begin":
                # Items run one after the other: a `begin` also ends an item whose `end` was not written.
                begin = msgspec.convert(event, Begin)
                beside = tuple(PureWindowsPath(name).name for name in begin.spool)
                self.running[process] = replace(begin, spool=beside)
            case "end":
                if process in self.running and self.running[process].nodeid == event["nodeid"]:
                    del self.running[process]
            case "test_begin":
                unfinished = msgspec.convert(event, UnfinishedTest)
                self.unfinished[unfinished.nodeid] = unfinished
            case "test_end":
                self.unfinished.pop(msgspec.convert(event["nodeid"], str), None)
            case "failure" if len(self.failures) < _MOST_FAILURES:
                self.failures.append(msgspec.convert(event["failure"], Failure))


def _checked(vcs: Vcs) -> Vcs:
    """Return the recorded state of a repository if its commit is valid, else an empty state.

    An invalid commit must not reach git, to which the commit is passed later.
    """
    if vcs.commit is None or not (COMMIT.fullmatch(vcs.commit) or is_revision(vcs.commit)):
        return Vcs()
    branch = clean_text(vcs.branch) if vcs.branch else None
    return replace(vcs, branch=branch, edited=tuple(map(clean_text, vcs.edited)))


def _read(folder: Path, held: Mapping[Path, int]) -> Orphan:
    reader = _EventReader()
    left = _MOST_BYTES
    for path, descriptor in held.items():
        for event in _events(descriptor, left):
            with suppress(KeyError, TypeError, ValueError):
                reader.take(path.stem, event)
        left -= os.fstat(descriptor).st_size
    statuses = [os.fstat(descriptor) for descriptor in held.values()]
    times = [status.st_mtime for status in statuses]
    for begin in reader.running.values():
        for name in begin.spool:
            with suppress(OSError, ValueError):
                times.append((folder / name).lstat().st_mtime)
    ended = min(max(times), time.time())
    return Orphan(
        folder=folder,
        task_id=folder.name,
        owner=statuses[0].st_uid,
        started=min((started for started in reader.started if 0 <= started <= ended), default=ended),
        ended=ended,
        failures=tuple(reader.failures),
        running=tuple(reader.running.values()),
        unfinished=tuple(reader.unfinished.values()),
        vcs=reader.vcs,
    )
