"""The lock of a wiki: its holder may write, all other processes wait."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import time
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.records.disk import WikiError, explained
from pytest_dvwiki.runs import utc
from pytest_dvwiki.umask import as_open_as

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = ".lock"
TURNSTILE = ".lock.next"
TIMEOUT_S = 30.0
_POLL_S = 0.02
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}


class BusyError(Exception):
    """Another process holds a lock."""


@contextlib.contextmanager
def locked(wiki: Path, timeout: float = TIMEOUT_S) -> Iterator[None]:
    """Hold the wiki's lock; the operating system releases it when the process ends, however it ends.

    Args:
        wiki: The wiki's folder; it is made if missing.
        timeout: Seconds to wait for another holder.

    Raises:
        WikiError: Another process held it for longer, or the file system has no locks.
    """
    with as_open_as(wiki), _held(wiki, timeout):
        yield


@contextlib.contextmanager
def _held(wiki: Path, timeout: float) -> Iterator[None]:
    path = wiki / NAME
    with explained(path):
        wiki.mkdir(parents=True, exist_ok=True)
    try:
        handle = _in_turn(wiki, timeout)
    except BusyError as error:
        raise WikiError(
            f"cannot write {wiki}: {_holder(path)} has held its lock for more than {timeout:g} s;"
            " wait for it to end, or raise `lock_timeout`"
        ) from error
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            with explained(path):
                raise
        raise WikiError(
            f"cannot write {wiki}: its file system has no working locks; put wiki_dir on a local disk"
        ) from error
    try:
        _sign(path)
        yield
    finally:
        os.close(handle)


def _in_turn(wiki: Path, timeout: float) -> int:
    """Take the lock while holding a second one, which only the next process in line can hold.

    Waiters poll. Without the second lock, a process that has just released the lock and wants it again, such as an
    ingest of many runs, would always be faster, and the others would starve.
    """
    deadline = time.monotonic() + timeout
    turn = take(wiki / TURNSTILE, timeout)
    try:
        return take(wiki / NAME, deadline - time.monotonic())
    finally:
        os.close(turn)


def take(path: Path, timeout: float = 0.0) -> int:
    """Lock a file, which is made if missing and stays, and return the handle that holds the lock until it is closed.

    Args:
        path: The file.
        timeout: Seconds to wait for another holder.

    Raises:
        BusyError: Another process held it for longer.
        OSError: The file cannot be opened, or its file system has no locks.
    """
    deadline = time.monotonic() + timeout
    while True:
        # Other users of a shared wiki lock it too.
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        try:
            with contextlib.suppress(OSError):  # its owner has done that
                os.fchmod(handle, 0o666)
            if _is_taken(handle):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if time.monotonic() >= deadline:
            raise BusyError(path)
        time.sleep(_POLL_S)


def _is_taken(handle: int) -> bool:
    """Try to lock an open file, and tell whether it is ours and still in its folder."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # some file systems answer the latter
        return False
    return os.fstat(handle).st_nlink > 0


def _sign(path: Path) -> None:
    """Write the holder into the lock file; this only informs others, so an error is ignored."""
    began = utc(time.time())
    with contextlib.suppress(OSError):
        path.write_text(f"process {os.getpid()} on {socket.gethostname()} since {began}\n", "utf-8")


def _holder(path: Path) -> str:
    try:
        text = reading.read_bytes(path).decode("utf-8", "replace")[:200]
    except OSError:
        text = ""
    return " ".join(text.split()) or "another process"
