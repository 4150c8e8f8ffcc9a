"""What killed runs left behind: journals whose processes are gone."""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_dvwiki.capture.interrupted.journal import SUFFIX, Begin, runs_in, try_lock
from pytest_dvwiki.capture.simulations.flight import Flight
from pytest_dvwiki.model import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_OTHER_HOST_SILENCE = 3600.0
"""Seconds without a write after which another machine's journal is left behind: locks do not always cross NFS."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """What a killed run left behind."""

    folder: Path
    task_id: str
    started: float
    ended: float
    """Time of the last write, seconds since the epoch."""
    failures: tuple[Failure, ...]
    running: tuple[Begin, ...]
    in_flight: tuple[Flight, ...]
    """Tests of cocotb's own plugin that had begun in a simulation of one of those."""


def find_orphans(place: Path, *, except_for: str) -> Iterator[Orphan]:
    """Finds the runs in a folder of journals whose processes are gone.

    Each is held locked while the caller works on it, so that two runs do not take over the same one.

    Args:
        place: The folder of journals.
        except_for: The present run's task_id.
    """
    for folder in runs_in(place):
        if folder.name != except_for:
            with suppress(OSError), left_behind(folder, silence=_OTHER_HOST_SILENCE) as orphan:
                if orphan is not None:
                    yield orphan


@contextmanager
def left_behind(folder: Path, *, silence: float = 0.0) -> Iterator[Orphan | None]:
    """Reads the journal in a run's folder, and holds it locked meanwhile.

    Args:
        folder: Of the run.
        silence: Seconds without a write after which a journal of another machine counts as left behind.

    Yields:
        What a killed run left; None where there is no journal, or its run still goes on.

    Raises:
        OSError: It cannot be read.
    """
    files = sorted(folder.glob(f"*{SUFFIX}"))
    held: dict[Path, int] = {}
    try:
        is_over = bool(files) and all(_is_left_behind(path, held, silence) for path in files)
        yield _read(folder, held) if is_over else None
    finally:
        for descriptor in held.values():
            os.close(descriptor)


def moved(orphan: Orphan) -> Orphan:
    """A journal that came from elsewhere: what its children printed stands beside it, no other path in it is read."""
    running = tuple(
        replace(begin, spool=tuple(str(orphan.folder / PureWindowsPath(name).name) for name in begin.spool), opened=())
        for begin in orphan.running
    )
    return replace(orphan, running=running)


def _is_left_behind(path: Path, held: dict[Path, int], silence: float) -> bool:
    descriptor = held[path] = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    if not try_lock(descriptor):
        return False
    start = next(_events(descriptor), {})
    if start.get("host") == socket.gethostname():
        return True
    return time.time() - path.stat().st_mtime >= silence


def _events(descriptor: int) -> Iterator[dict[str, Any]]:
    """Reads a journal's lines; one that was cut off by a kill or a full disk is passed over.

    Through the descriptor that holds the lock: to close another one of that file would let the lock go.
    """
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, encoding="utf-8", errors="replace", closefd=False) as lines:
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event


def _read(folder: Path, held: Mapping[Path, int]) -> Orphan:
    failures: list[Failure] = []
    running: dict[str, Begin] = {}
    in_flight: dict[str, Flight] = {}
    started = float("inf")
    for descriptor in held.values():
        for event in _events(descriptor):
            try:
                match event.pop("event", None):
                    case "start":
                        started = min(started, float(event["time"]))
                    case "begin":
                        begin = msgspec.convert(event, Begin)
                        running[begin.nodeid] = begin
                    case "end":
                        running.pop(str(event["nodeid"]), None)
                    case "takeoff":
                        flight = msgspec.convert(event, Flight)
                        in_flight[flight.nodeid] = flight
                    case "landing":
                        in_flight.pop(str(event["nodeid"]), None)
                    case "failure":
                        failures.append(msgspec.convert(event["failure"], Failure))
            except (KeyError, TypeError, ValueError):
                continue
    ended = max(path.stat().st_mtime for path in folder.iterdir())
    return Orphan(
        folder=folder,
        task_id=folder.name,
        started=min(started, ended),
        ended=ended,
        failures=tuple(failures),
        running=tuple(running.values()),
        in_flight=tuple(in_flight.values()),
    )
