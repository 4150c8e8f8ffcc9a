"""Extraction of results files and logs from archives and compressed files, limited in size and number."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import struct
import sys
import tarfile
import time
import zipfile
import zlib
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any, cast

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Member = tuple[str, float | None, Callable[[], IO[bytes] | None]]
    """One file of an archive: its name, its modification time (None if unknown), and a function that opens it."""

_TARS = (
    ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst",
)  # fmt: skip
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_AGAIN = "pack it again"
_OBJECT = re.compile(r"<[A-Z]\w+ [^>]*>")
_CHUNK = 1 << 20
_BYTES_LIMIT = 8 << 30
_FILES_LIMIT = 100_000
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError, OSError)
_UNUSABLE = (*_BROKEN, RuntimeError, NotImplementedError, ValueError, LookupError, OverflowError, struct.error)
"""Exceptions of the archive libraries for a file that they cannot unpack.

A zip with a password raises RuntimeError, and an unknown compression method NotImplementedError. Malformed data, which
the libraries do not always detect, raises the other exceptions.
"""


class Budget(Struct):
    """How many bytes and files may still be extracted from an archive and the archives inside it."""

    bytes: int = _BYTES_LIMIT
    files: int = _FILES_LIMIT


class ArchiveError(Exception):
    """An archive, or a file in it, cannot be used; the message gives the reason."""


class _LimitError(ArchiveError):
    """An archive exceeds the limits, so no more of it is read."""


def is_archive(name: str) -> bool:
    """Return whether a file has the name of an archive or of a single compressed file."""
    return name.lower().endswith((".zip", *_TARS, *_COMPRESSED))


def single_name(name: str) -> str | None:
    """Return the name of a compressed file without its suffix (`sim.log` for `sim.log.gz`); None for any other file."""
    lower = name.lower()
    if lower.endswith((".zip", *_TARS)):
        return None
    return next((name[: -len(suffix)] for suffix in _COMPRESSED if lower.endswith(suffix)), None)


def may_hold(name: str, wanted: Callable[[str], bool]) -> bool:
    """Return whether a file in a folder is wanted, or is an archive that may contain wanted files."""
    inner = single_name(name)
    return wanted(inner) if inner is not None else is_archive(name) or wanted(name)


def unpack(
    archive: Path,
    wanted: Callable[[str], bool],
    target: Path,
    budget: Budget,
    broken: Callable[[str, ArchiveError], None],
) -> Iterator[tuple[str, Path]]:
    """Extract the wanted files of an archive into a folder.

    Links are skipped, and so are names that lead out of the folder.

    Args:
        archive: The archive, or one compressed file.
        wanted: Returns whether to extract a file, given its name inside the archive.
        target: An empty folder.
        budget: How many bytes and files may still be extracted; reduced by this call.
        broken: Called with the name of each file that cannot be read to its end, and the error. What could be read of
            the file is still yielded.

    Yields:
        The name inside the archive, and the extracted file.

    Raises:
        ArchiveError: The archive is broken, needs a password, or exceeds the limits.
    """
    with archive.open("rb") as file:
        for inside, modified, stream in streams(archive.name, file, wanted, budget, broken):
            copy = target / inside
            try:
                with reading():
                    _copy(stream, copy, budget.bytes)
            except _LimitError:
                raise
            except ArchiveError as error:
                broken(inside, error)
                if not copy.stat().st_size:
                    continue
            finally:
                budget.bytes -= copy.stat().st_size if copy.exists() else 0
            time_of_it = archive.stat().st_mtime if modified is None else modified
            with suppress(OSError, OverflowError, ValueError):  # a date out of range
                os.utime(copy, (time_of_it, time_of_it))
            yield inside, copy


def streams(
    name: str,
    file: IO[bytes],
    wanted: Callable[[str], bool],
    budget: Budget | None = None,
    broken: Callable[[str, ArchiveError], None] | None = None,
) -> Iterator[tuple[str, float | None, IO[bytes]]]:
    """Open the wanted files of an archive, one after the other.

    Args:
        name: The archive's name, which determines its kind.
        file: The archive's bytes.
        wanted: Returns whether to open a file, given its name inside the archive.
        budget: How many files may still be opened, reduced by this call; None for a new budget.
        broken: Called with the name of a file that cannot be opened, and the error; if None, the error is raised.

    Yields:
        The name inside the archive, its modification time if known, and a stream of the file's bytes. A stream can be
        read until the next one is requested. Links and names that lead out of the archive are skipped.

    Raises:
        ArchiveError: The archive is broken, needs a password or a missing library, or holds too many files.
    """
    budget = budget or Budget()
    with reading():
        for member, modified, opened in _members(name, file):
            budget.files -= 1
            if budget.files < 0:
                raise _LimitError(f"holds more than {_FILES_LIMIT} files; unpack it and pass the folder instead")
            inside = _inside(member)
            if inside is None or not wanted(inside):
                continue
            try:
                with reading():
                    stream = opened()
            except ArchiveError as error:
                if broken is None:
                    raise
                broken(inside, error)
                continue
            if stream is not None:
                with stream:
                    yield inside, modified, stream


@contextmanager
def reading() -> Iterator[None]:
    """Turn the exceptions of the archive libraries into `ArchiveError`.

    Raises:
        ArchiveError: The archive cannot be unpacked.
    """
    try:
        yield
    except _UNUSABLE as error:
        raise ArchiveError(f"cannot be unpacked: {_in_words(error)}; {_AGAIN}") from error


def _in_words(error: Exception) -> str:
    """Return an explanation of a library's error for the user."""
    if isinstance(error, NotImplementedError):
        return "it is compressed in a way that Python does not support"
    if isinstance(error, RuntimeError):
        return "it needs a password"
    if isinstance(error, ValueError | LookupError | OverflowError | struct.error):
        return "it is broken"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return _OBJECT.sub("…", " ".join(str(error).split())) or "it is broken"


def _inside(name: str) -> str | None:
    """Return the name of a file in an archive as a relative path; None if the path leads out of the archive."""
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part != "."]
    bad = not parts or parts[0] == "/" or ".." in parts or any("\0" in part for part in parts)
    return None if bad else "/".join(parts)


def pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a stream in pieces; a truncated stream yields everything before the cut."""
    read = getattr(stream, "read1", stream.read)
    while data := read(_CHUNK):
        yield data


def _copy(stream: IO[bytes], file: Path, left: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as copy:
        for data in pieces(stream):
            left -= len(data)
            if left < 0:
                limit = f"{_BYTES_LIMIT >> 30} GiB"
                raise _LimitError(f"expands to more than {limit}; unpack it and pass the folder instead")
            copy.write(data)


def _members(name: str, file: IO[bytes]) -> Iterator[Member]:
    lower = name.lower()
    if lower.endswith(".zip"):
        with zipfile.ZipFile(file) as zipped:
            yield from _zipped(zipped)
    elif lower.endswith(_TARS):
        # Read in one pass: a compressed stream cannot seek.
        with _decompressed(lower, file) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            yield from _tarred(tar)
    else:
        yield single_name(PurePosixPath(name).name) or name, None, lambda: _decompressed(lower, file)


def _decompressed(name: str, file: IO[bytes]) -> IO[bytes]:
    if name.endswith(".tar"):
        return file
    if not file.read(1):
        raise ArchiveError(f"the file is empty, so it is not a compressed file; {_AGAIN}")
    file.seek(0)
    if name.endswith((".gz", ".tgz")):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if name.endswith((".bz2", ".tbz2")):
        return bz2.BZ2File(file)
    if name.endswith((".xz", ".txz")):
        return lzma.LZMAFile(file)
    return io.BufferedReader(_Zstd(file), _CHUNK)


class _Zstd(io.RawIOBase):
    """A stream that decompresses a zstd file; it raises EOFError if the file is truncated."""

    _SMALL = 1024
    """Number of compressed bytes to read at once; small, because 4 bytes can expand to 128 KiB."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self._new, self._error = _zstd()
        self._frame: Any = None
        self._rest = b""
        self._read = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._read:
            data = self._rest or self._file.read(self._SMALL)
            self._rest = b""
            if not data and self._frame is None:
                return 0
            if not data:
                raise EOFError("the compressed file is truncated")
            self._frame = self._frame or self._new()
            try:
                self._read = memoryview(self._frame.decompress(data))
            except self._error as error:
                raise OSError(str(error)) from error
            if self._frame.eof:
                self._frame, self._rest = None, self._frame.unused_data
        count = min(len(buffer), len(self._read))
        buffer[:count] = self._read[:count]
        self._read = self._read[count:]
        return count


def _zstd() -> tuple[Callable[[], Any], type[Exception]]:
    """Return a function that makes a decompressor for one frame, and the exception that decompressors raise."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415  # not every Python is built with it

        return zstd.ZstdDecompressor, zstd.ZstdError
    try:
        import zstandard  # noqa: PLC0415  # few need it
    except ImportError as error:
        raise ArchiveError("is compressed with zstd: pip install zstandard, or use Python 3.14") from error
    return lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError


def _zipped(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        if not info.is_dir():
            modified = _time_of(info)
            yield info.filename, modified, lambda info=info: archive.open(info)  # type: ignore[misc]  # bound by name


def _time_of(info: zipfile.ZipInfo) -> float | None:
    """Return the modification time of a file in a zip archive; None if the stored time is invalid."""
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return None


def _tarred(archive: tarfile.TarFile) -> Iterator[Member]:
    for info in archive:
        if info.isreg():
            yield info.name, info.mtime, lambda info=info: archive.extractfile(info)  # type: ignore[misc]  # bound by name
