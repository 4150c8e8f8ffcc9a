"""The lock of a wiki: its holder may write, all other processes wait."""

from __future__ import annotations

import contextlib
import errno
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

    from filelock import FileLock

NAME = ".lock"
TURNSTILE = ".lock.next"
TIMEOUT_S = 30.0
_POLL_S = 0.02
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}


@contextlib.contextmanager
def locked(wiki: Path, timeout: float = TIMEOUT_S) -> Iterator[None]:
    """Hold the wiki's lock; the operating system releases it even if the process is killed.

    Args:
        wiki: The wiki's folder; created if missing.
        timeout: Seconds to wait for the lock.

    Raises:
        WikiError: Another process held the lock for longer than `timeout`, or the file system has no locks.
    """
    with as_open_as(wiki), _held(wiki, timeout):
        yield


@contextlib.contextmanager
def _held(wiki: Path, timeout: float) -> Iterator[None]:
    # The import takes 20 ms, and only writers need it.
    from filelock import FileLock, Timeout  # noqa: PLC0415

    path = wiki / NAME
    with explained(path):
        wiki.mkdir(parents=True, exist_ok=True)
    # Without file locks, the library would only check whether a file exists, and a killed process leaves it behind.
    lock, turnstile = (
        FileLock(wiki / name, thread_local=False, mode=0o666, fallback_to_soft=False) for name in (NAME, TURNSTILE)
    )
    try:
        _in_turn(lock, turnstile, timeout)
    except Timeout as error:
        raise WikiError(
            f"cannot write {wiki}: {_holder(path)} has held its lock for more than {timeout:g} s;"
            " wait for it to end, or raise `lock_timeout`"
        ) from error
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
            with explained(path):
                raise
        raise WikiError(
            f"cannot write {wiki}: its file system has no working locks; put wiki_dir on a local disk"
        ) from error
    try:
        _sign(path)
        yield
    finally:
        lock.release()


def _in_turn(lock: FileLock, turnstile: FileLock, timeout: float) -> None:
    """Take the lock while holding a second lock, which marks this process as the next in line.

    Waiting processes poll. Without the second lock, a process that releases the lock and takes it again at once, such
    as an ingest of many runs, would always win. Other processes would starve.
    """
    deadline = time.monotonic() + timeout
    with turnstile.acquire(timeout=timeout, poll_interval=_POLL_S):
        lock.acquire(timeout=max(0.0, deadline - time.monotonic()), poll_interval=_POLL_S)


def _sign(path: Path) -> None:
    """Write this process's id and host into the lock file, for information only; errors are ignored."""
    began = utc(time.time())
    with contextlib.suppress(OSError):
        path.write_text(f"process {os.getpid()} on {socket.gethostname()} since {began}\n", "utf-8")


def _holder(path: Path) -> str:
    return " ".join(reading.text_or_empty(path)[:200].split()) or "another process"
