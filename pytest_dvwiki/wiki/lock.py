"""One lock for a whole wiki: who holds it may write, all others wait."""

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
    """Holds the wiki's lock; the operating system gives it back when the process ends, however it ends.

    Args:
        wiki: The wiki's folder, which is made where it is missing.
        timeout: Seconds to wait for another holder.

    Raises:
        WikiError: Somebody else held it for longer, or the file system has no locks.
    """
    # Takes 20 ms to import, and only who writes needs it.
    from filelock import FileLock, Timeout  # noqa: PLC0415

    path = wiki / NAME
    with explained(path):
        wiki.mkdir(parents=True, exist_ok=True)
    # Without locks the library would take a file's existence for one, which outlives a killed process.
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
    """Takes the lock through a second one, which only who waits next holds.

    A waiter looks again now and then; without the turnstile who has just given the lock back and wants it again, as an
    ingest of many runs does, is faster each time, and the others starve.
    """
    deadline = time.monotonic() + timeout
    with turnstile.acquire(timeout=timeout, poll_interval=_POLL_S):
        lock.acquire(timeout=max(0.0, deadline - time.monotonic()), poll_interval=_POLL_S)


def _sign(path: Path) -> None:
    """Writes who holds the lock into it; only a message to others, so a failure does not matter."""
    began = utc(time.time())
    with contextlib.suppress(OSError):
        path.write_text(f"process {os.getpid()} on {socket.gethostname()} since {began}\n", "utf-8")


def _holder(path: Path) -> str:
    try:
        text = reading.read_bytes(path).decode("utf-8", "replace")[:200]
    except OSError:
        text = ""
    return " ".join(text.split()) or "another process"
