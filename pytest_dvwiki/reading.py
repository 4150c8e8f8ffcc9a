"""Reads files that are under the control of users or git: only regular files of limited size.

A pull request can replace a file by a FIFO, a device, or a symlink to either. Reading one of these may never end.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BufferedReader

MOST = 64 << 20
"""Maximum size, in bytes, of a file to read completely."""
MOST_BY_HAND = 1 << 20
"""Maximum size, in bytes, of a hand-written file: settings, patterns, waivers, schema.yaml."""
MOST_OF_RECORDS = 256 << 20
"""Maximum size, in bytes, of a monthly file of records."""
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}
_DANGLING = "is a symlink to a missing file; restore the file, or remove the symlink"
_REMEDIES = {
    errno.EACCES: "give yourself read permission",
    errno.EPERM: "give yourself read permission",
    errno.ELOOP: "the symlink refers to itself; replace it with a file",
    errno.ENOENT: "check the name",
    errno.ENOTDIR: "there is a file where a folder should be; move it away",
    errno.ENAMETOOLONG: "give it a shorter name",
}


class UserError(Exception):
    """An error that a user can correct: one line that says what is wrong, where, and how to correct it."""


class UnreadableError(OSError):
    """A file that cannot be read. The message has the file, the reason and a remedy."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def reason(error: OSError) -> str:
    """Return why a file cannot be read, and a remedy, without the file's name."""
    if isinstance(error, UnreadableError):
        return str(error.strerror)
    remedy = _REMEDIES.get(error.errno or 0, "check that it exists and can be read")
    return f"cannot be read ({(error.strerror or type(error).__name__).lower()}); {remedy}"


def described(error: Exception) -> str:
    """Return the message for an error: an OS error with its file and a remedy, any other error with its type."""
    if not isinstance(error, OSError):
        return f"{type(error).__name__}: {error}"
    if isinstance(error, UnreadableError) or error.errno is None:
        return str(error)
    return f"{error.filename}: {reason(error)}" if error.filename else reason(error)


def text_or_empty(path: Path, most: int = MOST) -> str:
    """Return the text of a file, with replacement characters for invalid bytes; empty if it cannot be read."""
    try:
        return read_bytes(path, most).decode("utf-8", "replace")
    except OSError:
        return ""


def open_regular(path: Path | str) -> BufferedReader:
    """Open a regular file for reading.

    Raises:
        FileNotFoundError, NotADirectoryError: There is no such file.
        UnreadableError: The file is not a regular file, is a dangling symlink, or cannot be opened.
    """
    try:
        # Without O_NONBLOCK, opening a FIFO blocks until somebody opens it for writing.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError) as error:
        if not os.path.islink(path):  # noqa: PTH114  # may be given as a text
            raise
        raise UnreadableError(errno.ENOENT, _DANGLING, os.fspath(path)) from error
    except (OSError, ValueError) as error:
        system = error if isinstance(error, OSError) else OSError(errno.EINVAL, "its name contains a NUL character")
        raise UnreadableError(system.errno, reason(system), os.fspath(path)) from error
    return os.fdopen(_regular(handle, path), "rb")


def open_below(folder: Path, path: Path, *, owner: int) -> BufferedReader:
    """Open a regular file below a folder, by a path from an untrusted source. The file must not be a symlink.

    Args:
        folder: Folder that must contain the file.
        path: The file's absolute path. It may pass through symlinked folders that stay inside `folder`.
        owner: Id of the user who must own the file.

    Raises:
        UnreadableError: There is no such file, or it is refused or cannot be opened.
    """
    handle = handle_below(folder, path, os.O_RDONLY)
    if os.fstat(handle).st_uid != owner:
        os.close(handle)
        raise UnreadableError(errno.EPERM, "belongs to another user; remove it", os.fspath(path))
    return os.fdopen(handle, "rb")


def handle_below(folder: Path, path: Path, flags: int) -> int:
    """Open a regular file below a folder as `open_below` does, but with any owner; return a file descriptor.

    Raises:
        UnreadableError: As in `open_below`.
    """
    try:
        handle = _descend(folder, path, flags)
    except ValueError as error:
        raise UnreadableError(errno.EINVAL, "has an invalid file name; remove it", os.fspath(path)) from error
    except UnreadableError:
        raise
    except OSError as error:
        problem = "is a symlink; replace it with the file itself" if error.errno == errno.ELOOP else reason(error)
        raise UnreadableError(error.errno, problem, os.fspath(path)) from error
    return _regular(handle, path)


def _descend(folder: Path, path: Path, flags: int) -> int:
    """Resolve the path, and open it folder by folder without following symlinks that were created in the meantime."""
    base = os.path.realpath(folder)
    inner = Path(os.path.relpath(os.path.realpath(path.parent), base)).parts
    if os.pardir in inner[:1]:
        raise UnreadableError(errno.EPERM, f"leads out of {folder}; remove it", os.fspath(path))
    always = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    at = os.open(base, os.O_RDONLY | os.O_DIRECTORY | always)
    try:
        for name in inner:
            before, at = at, os.open(name, os.O_RDONLY | os.O_DIRECTORY | always, dir_fd=at)
            os.close(before)
        return os.open(path.name, flags | always, dir_fd=at)
    finally:
        os.close(at)


def _regular(handle: int, path: Path | str) -> int:
    """Return the descriptor if it refers to a regular file; otherwise close it and raise an error."""
    kind = stat.S_IFMT(os.fstat(handle).st_mode)
    if kind != stat.S_IFREG:
        os.close(handle)
        what = _KINDS.get(kind, "not a regular file")
        raise UnreadableError(errno.EINVAL, f"is {what}; replace it with a regular file", os.fspath(path))
    return handle


def read_bytes(path: Path, most: int = MOST) -> bytes:
    """Return the content of a regular file.

    Raises:
        FileNotFoundError: There is no such file.
        UnreadableError: It is not a regular file, has more than `most` bytes, or cannot be read.
    """
    with open_regular(path) as file:
        try:
            # Python allocates as many bytes as it is asked for, so ask for the file's size.
            expected = min(os.fstat(file.fileno()).st_size, most) + 1
            data = file.read(expected)
            if len(data) == expected:  # the file has grown, or states no size, like the files of /proc
                data += file.read(most + 1 - expected)
        except OSError as error:
            raise UnreadableError(error.errno, reason(error), os.fspath(path)) from error
    if len(data) > most:
        size = f"{most >> 20} MiB" if most >> 20 else f"{most} bytes"
        raise UnreadableError(errno.EFBIG, f"is larger than {size}; shorten or split it", os.fspath(path))
    return data


def start_of(path: Path | str, most: int) -> str:
    """Return up to `most` bytes from the start of a file as text; empty if the file cannot be read."""
    with suppress(OSError), open_regular(path) as stream:
        return stream.read(most).decode("utf-8", "replace")
    return ""


def read_records(path: Path) -> bytes:
    """Return the content of a file with one record or a month of records.

    Raises:
        FileNotFoundError: There is no such file.
        UnreadableError: As in `read_bytes`.
    """
    return read_bytes(path, MOST_OF_RECORDS)


def read_text(path: Path, most: int = MOST_BY_HAND) -> str:
    """Return the content of a regular file in UTF-8, without a byte order mark.

    Raises:
        FileNotFoundError: There is no such file.
        UnreadableError: As in `read_bytes`, or the file is not UTF-8.
    """
    try:
        text = read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"is not UTF-8 (byte {error.start}); save it as UTF-8"
        raise UnreadableError(errno.EILSEQ, where, os.fspath(path)) from error
    # Universal newlines, as in Python's text mode.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
