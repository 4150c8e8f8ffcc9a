"""Copies the output of a test's child processes into files, and forwards it to its destination.

From the start of a test's first child to the end of the phase, file descriptors 1 and 2 refer to two files opened for
appending. A thread forwards the data; if nobody watches the output, the data are forwarded at the end of the phase
instead. A pipe would break a child that outlives pytest, and would leave no evidence after a kill: under pytest's
default capture, these files are all that remains of a killed test's output.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Place = tuple[int, int]
"""Device and inode of an open file."""

_CHUNK = 1 << 18
_PERIOD = 0.05


def place_of(descriptor: int) -> Place | None:
    """Return the device and inode of a file descriptor; None if it is closed."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Redirected:
    """A file descriptor that can be redirected to a file."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._place = place_of(self._file)
        self._saved: int | None = None
        self._passed = 0
        self._lost = False

    def attach(self) -> None:
        self._saved = os.dup(self._descriptor)
        os.dup2(self._file, self._descriptor)

    def detach(self) -> None:
        """Restore the descriptor, unless somebody else has redirected it in the meantime."""
        if self._saved is None:
            return
        if place_of(self._descriptor) == self._place:
            os.dup2(self._saved, self._descriptor)
        self.forward()
        os.close(self._saved)
        self._saved = None

    def forward(self) -> None:
        """Forward the data since the last call."""
        target = self._descriptor if self._saved is None else self._saved
        while chunk := os.pread(self._file, _CHUNK, self._passed):
            self._passed += len(chunk)
            self._write(target, memoryview(chunk))

    def _write(self, target: int, data: memoryview) -> None:
        while data and not self._lost:
            try:
                data = data[os.write(target, data) :]
            except BlockingIOError:
                threading.Event().wait(_PERIOD)
            except OSError:
                # The reader is gone (`pytest -s | head`): the run goes on, as it would without the redirection.
                self._lost = True

    def clear(self) -> None:
        """Empty the file; a child that still writes continues at its new end."""
        self.forward()
        os.ftruncate(self._file, 0)
        self._passed = 0

    def close(self) -> None:
        self.detach()
        self.forward()
        os.close(self._file)


class Spool:
    """Two files that receive the output to file descriptors 1 and 2 while a test's children run.

    Each process that runs tests has one spool. It holds the output of one test at a time.

    Args:
        base: Path of the files, without their suffixes `.out` and `.err`.
        live: Whether somebody watches the output as it is printed.

    Raises:
        OSError: The files cannot be created.
    """

    def __init__(self, base: Path, *, live: bool) -> None:
        self.paths = (base.with_name(f"{base.name}.out"), base.with_name(f"{base.name}.err"))
        self._streams = (_Redirected(1, self.paths[0]), _Redirected(2, self.paths[1]))
        self.attached = False
        """Whether the descriptors are redirected to the files."""
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        if live:
            self._thread = threading.Thread(target=self._run, name="dvwiki-spool", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(_PERIOD):
            self.forward()

    def attach(self) -> None:
        """Redirect the descriptors to the files."""
        if not self.attached:
            _flush()
            self._do(_Redirected.attach)
            self.attached = True

    def detach(self) -> None:
        """Restore the descriptors and forward the remaining data."""
        if self.attached:
            _flush()
            self._do(_Redirected.detach)
            self.attached = False

    def forward(self) -> None:
        """Forward the data since the last call, including those of a child that outlived its test."""
        self._do(_Redirected.forward)

    def clear(self) -> None:
        """Empty the files for the next test."""
        self._do(_Redirected.clear)

    def close(self) -> None:
        """Restore the descriptors and close the files, which stay on disk."""
        self.detach()
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self._do(_Redirected.close)

    def _do(self, action: Callable[[_Redirected], None]) -> None:
        with self._lock:
            for stream in self._streams:
                action(stream)


def _flush() -> None:
    """Flush Python's buffers for both descriptors, so that no data end up on the wrong side of a redirection."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]  # None where there is no terminal at all
