r"""The data of a run that is not yet archived, written to disk as soon as they are known.

`.agent/journal/{task_id}/` holds one file for each process that runs tests. Each line is a JSON object, written with
one append: `start`, `sources` (the commit and the uncommitted changes), `begin` (an item starts a child: where its
output and files go), `end`, `failure`, and for tests that report from inside a simulator `test_begin` and `test_end`.
The process keeps its file locked, so that the next run can distinguish a killed run from a running one.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from pytest_dvwiki.capture.simulations.reproduce import Call  # noqa: TC001  # msgspec reads the annotations
from pytest_dvwiki.nodeids import stored_command, stored_failure
from pytest_dvwiki.redact import redact, redact_id

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_dvwiki.capture.interrupted.places import JournalFolder
    from pytest_dvwiki.capture.simulations.unfinished import UnfinishedTest
    from pytest_dvwiki.model import Failure, Vcs

MAIN = "main"
SUFFIX = ".jsonl"


class Begin(Struct, frozen=True):
    """The journal entry of a pytest item that started a child process."""

    nodeid: str
    spool: tuple[str, ...]
    """Names of the files beside the journal with the output of the item's children; empty if no output was kept."""
    folder: str
    """Working directory of the item's first child process, as an absolute path."""
    environment: dict[str, str]
    program: str
    time: float
    """Seconds since the epoch."""
    opened: tuple[str, ...] = ()
    simulator: str | None = None
    config: str | None = None
    """12 hex digits of the configuration that the child runs."""
    call: Call | None = None
    """How pytest was called in the session, to build the commands that rerun tests."""


class NoPlaceError(OSError):
    """No journal folder can be written to; the plugin then writes no other files either, and reports this once."""


class Journal:
    """The journal of one process: `main`, or the name of an xdist worker.

    Raises:
        OSError: The journal cannot be written in the folder.
    """

    def __init__(self, folder: Path, process: str = MAIN) -> None:
        self.folder = folder
        self.process = process
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_CREAT | os.O_APPEND | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(folder / f"{process}{SUFFIX}", flags, 0o600)
        try_lock(self._file)
        self._append(event="start", time=time.time(), pid=os.getpid(), host=socket.gethostname())

    def _append(self, **event: object) -> None:
        self._write(json.dumps(event, ensure_ascii=True, separators=(",", ":")).encode("ascii"))

    def _write(self, line: bytes) -> None:
        os.write(self._file, line + b"\n")

    @property
    def spool(self) -> Path:
        """Return the path, without a suffix, of the files with the output of the process's children."""
        return self.folder / self.process

    def sources(self, vcs: Vcs) -> None:
        """Record the state of the repository."""
        self._append(event="sources", **to_builtins(vcs))

    def begin(self, begin: Begin) -> None:
        """Record that an item starts a child process."""
        kept = replace(
            begin,
            nodeid=redact_id(begin.nodeid),
            folder=redact(begin.folder),
            environment={name: _value(name, value) for name, value in begin.environment.items()},
            program=redact(begin.program),
            opened=tuple(map(redact, begin.opened)),
        )
        self._append(event="begin", **to_builtins(kept))

    def end(self, nodeid: str) -> None:
        """Record that the evidence of an item was read."""
        self._append(event="end", nodeid=redact_id(nodeid))

    def failure(self, failure: Failure) -> None:
        """Record a failure."""
        import msgspec  # noqa: PLC0415  # a run without failures does not need it

        kept = stored_failure(failure)
        try:
            self._write(msgspec.json.encode({"event": "failure", "failure": kept}))
        except UnicodeEncodeError:  # a name with bytes that are not UTF-8
            self._append(event="failure", failure=msgspec.to_builtins(kept))

    def begin_test(self, unfinished: UnfinishedTest) -> None:
        """Record that a test began inside a simulator."""
        kept = replace(
            unfinished,
            nodeid=redact_id(unfinished.nodeid),
            runner=redact_id(unfinished.runner),
            command=stored_command(unfinished.command, unfinished.nodeid),
        )
        self._append(event="test_begin", **to_builtins(kept))

    def end_test(self, nodeid: str) -> None:
        """Record that a test inside a simulator ended."""
        self._append(event="test_end", nodeid=redact_id(nodeid))

    def close(self) -> None:
        """Close the file; it stays on disk."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def remove(self) -> None:
        """Remove the run's folder; call this once the whole run is archived."""
        self.close()
        remove(self.folder)


def _value(name: str, value: str) -> str:
    """Return the value of an environment variable, masked if its name marks it as a secret."""
    return redact(f"{name}={value}").partition("=")[2]


def open_journal(places: Sequence[JournalFolder], task_id: str, process: str = MAIN) -> Journal:
    """Open the journal of a process in the first folder that can be written to.

    Raises:
        NoPlaceError: None of the folders can be written to.
    """
    for place in places:
        with suppress(OSError):
            place.make()
            return Journal(place.folder / task_id, process)
    folders = ", ".join(str(place.folder) for place in places)
    raise NoPlaceError(errno.EROFS, "none of the folders can be written to; make one of them writable", folders)


def remove(folder: Path) -> None:
    """Remove a run's folder."""
    shutil.rmtree(folder, ignore_errors=True)


def try_lock(descriptor: int) -> bool:
    """Try to take the lock of an open file, and return whether that succeeded.

    The lock is a record lock, because a forked child does not inherit record locks.
    """
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
