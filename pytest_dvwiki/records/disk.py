"""Write files atomically: a reader sees either the old or the new content."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.umask import as_open_as

if TYPE_CHECKING:
    from collections.abc import Iterator

_REMEDIES = {
    errno.EACCES: "give yourself write permission there",
    errno.EPERM: "give yourself write permission there",
    errno.EROFS: "the file system is read-only; put wiki_dir elsewhere",
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the quota is used up; free some space",
    errno.EFBIG: "the file would exceed the size limit; raise it (`ulimit -f`)",
    errno.EIO: "the disk, or the network connection to it, failed; once it works again, run `dvwiki build`",
    errno.EMFILE: "too many files are open; raise the limit (`ulimit -n`)",
    errno.ENOTDIR: "there is a file where a folder should be; move it away",
    errno.EEXIST: "there is a file where a folder should be; move it away",
    errno.EISDIR: "there is a folder where a file should be; move it away",
    errno.ENAMETOOLONG: "the path is too long; put wiki_dir nearer to the root",
    errno.ESTALE: "the network file system lost the file; write again",
}
# A file added in the same clock tick as our listing leaves the folder's modification time as it was.
_SETTLED_NS = 2_000_000_000
_LEFT_OVER = re.compile(r"\..*\.[0-9a-f]{8}\.tmp")


class WikiError(OSError):
    """Raised by all functions that write to a wiki, if they cannot; the message is one line with file and remedy."""


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Convert `OSError` to a `WikiError` with the file and a remedy.

    Args:
        path: The file to report if the error has none.

    Raises:
        WikiError: For any `OSError` from the body.
    """
    try:
        yield
    except WikiError:
        raise
    except reading.UnreadableError as error:
        raise WikiError(str(error)) from error
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "check that the folder exists and can be written")
        reason = error.strerror or type(error).__name__
        raise WikiError(f"cannot write {path}: {reason}; {remedy}") from error


def replace(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Replace the content of a file and keep its mode; a new file gets the umask's mode and the folder's group.

    After a power cut the file has either the old or the new content. A symbolic link stays, and its target is replaced.

    Args:
        path: The file.
        data: Its new content.
        sync: Wait until the data are on the disk; without it, a power cut soon after may leave an empty file.

    Raises:
        WikiError: The file cannot be written; its old content is unchanged.
    """
    with explained(path), as_open_as(path.parent):
        target, mode = path, None
        # A run may make thousands of pages, and each file system call costs time.
        with contextlib.suppress(OSError):
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                target = Path(os.path.realpath(path))
                status = target.stat()
            mode = stat.S_IMODE(status.st_mode)
        if not target.parent.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
        temporary = _temporary(target, data, mode, sync=sync)
        try:
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def has_content(path: Path) -> bool:
    """Return whether a file exists and is not empty."""
    with contextlib.suppress(OSError):
        return path.stat().st_size > 0
    return False


def create(path: Path, data: bytes) -> bool:
    """Create a file that must never change.

    Returns:
        False if the file already exists with the same content.

    Raises:
        WikiError: The file exists with different content, or cannot be written.
    """
    with explained(path), as_open_as(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            return _is_same(path, data)
        temporary = _temporary(path, data, None)
        try:
            # A rename would silently replace a file that another process has just put there; a link fails.
            os.link(temporary, path)
        except FileExistsError:
            return _is_same(path, data)
        except OSError as error:
            if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}:
                raise
            # Some network file systems have no hard links; the wiki's lock keeps other writers out.
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)
        return True


def _is_same(path: Path, data: bytes) -> bool:
    if reading.read_records(path) == data:
        return False
    raise WikiError(f"{path} already exists with different content; records never change, so move the wrong one away")


def is_settled(mtime_ns: int) -> bool:
    """Return whether a folder's modification time is old enough that any later addition is certain to change it.

    Args:
        mtime_ns: The modification time in nanoseconds, read before the folder was listed.
    """
    return time.time_ns() - mtime_ns > _SETTLED_NS


def append_line(path: Path, line: str) -> None:
    """Append one line in one write, adding a missing line feed first.

    The caller must hold the wiki's lock. If the line is only partly written, that part is removed.

    Raises:
        WikiError: The file cannot be written.
    """
    with explained(path):
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            size = os.fstat(handle).st_size
            data = f"{line}\n".encode()
            if size and _last_byte(handle, size) != b"\n":
                data = b"\n" + data
            if os.write(handle, data) != len(data):
                os.ftruncate(handle, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(handle)
        finally:
            os.close(handle)


def _last_byte(handle: int, size: int) -> bytes:
    os.lseek(handle, size - 1, os.SEEK_SET)
    return os.read(handle, 1)


def sweep(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder; no other process may be writing there."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _LEFT_OVER.fullmatch(path.name):
                path.unlink(missing_ok=True)


def _temporary(target: Path, data: bytes, mode: int | None, *, sync: bool = True) -> Path:
    """Write a temporary file in the target's folder, and return its path."""
    path = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            group = target.parent.stat().st_gid
            if group != os.fstat(handle).st_gid:
                with contextlib.suppress(OSError):  # the user may not be in the group
                    os.chown(handle, -1, group)
            file.write(data)
            file.flush()
            if mode is not None:
                path.chmod(mode)
            if sync:
                os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _sync_folder(folder: Path) -> None:
    """Sync a folder's entries to the disk, if the file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
