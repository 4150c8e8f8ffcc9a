"""Reads archives and compressed files, and takes results files and logs out of them, within bounds."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import tarfile
import time
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Member = tuple[str, float | None, Callable[[], IO[bytes] | None]]
    """Name, time of modification where it is known, and what opens it."""

_TARS = (
    ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst",
)  # fmt: skip
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_CHUNK = 1 << 20
_BYTES_LIMIT = 8 << 30
_FILES_LIMIT = 100_000
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError, OSError)
_UNUSABLE = (*_BROKEN, RuntimeError, NotImplementedError)
"""A zip that needs a password, and a compression that Python does not know, raise the latter two."""


@dataclass(slots=True)
class Budget:
    """What an archive, and all archives inside it, may still unfold to."""

    bytes: int = _BYTES_LIMIT
    files: int = _FILES_LIMIT


class ArchiveError(Exception):
    """An archive that cannot be used; its text is the reason."""


def is_archive(name: str) -> bool:
    """Whether a file's name is that of an archive of files, or of one compressed file."""
    return name.lower().endswith((".zip", *_TARS, *_COMPRESSED))


def single_name(name: str) -> str | None:
    """The name of what a compressed file holds, such as `sim.log` for `sim.log.gz`; None for an archive of files."""
    lower = name.lower()
    if lower.endswith((".zip", *_TARS)):
        return None
    return next((name[: -len(suffix)] for suffix in _COMPRESSED if lower.endswith(suffix)), None)


def may_hold(name: str, wanted: Callable[[str], bool]) -> bool:
    """Whether a file found in a folder is worth opening: one that is wanted, or an archive that may hold one."""
    inner = single_name(name)
    return wanted(inner) if inner is not None else is_archive(name) or wanted(name)


def unpack(
    archive: Path, wanted: Callable[[str], bool], target: Path, budget: Budget | None = None
) -> Iterator[tuple[str, Path]]:
    """Writes the files of an archive that are wanted into a folder.

    Links and names that lead out of the folder are passed over.

    Args:
        archive: The archive, or one compressed file.
        wanted: Tells by the name inside the archive which files to take.
        target: An empty folder.
        budget: What is left of the limits of the archive that this one was in.

    Yields:
        The name inside the archive, and the file.

    Raises:
        ArchiveError: It is broken, needs a password, or holds more than is sensible.
    """
    budget = budget or Budget()
    with archive.open("rb") as file:
        for inside, modified, stream in streams(archive.name, file, wanted, budget):
            copy = target / inside
            with reading():
                budget.bytes -= _copy(stream, copy, budget.bytes)
            time_of_it = archive.stat().st_mtime if modified is None else modified
            os.utime(copy, (time_of_it, time_of_it))
            yield inside, copy


def streams(
    name: str, file: IO[bytes], wanted: Callable[[str], bool], budget: Budget | None = None
) -> Iterator[tuple[str, float | None, IO[bytes]]]:
    """Opens the files of an archive that are wanted, one after the other.

    Args:
        name: The archive's name, which tells its kind.
        file: Its bytes.
        wanted: Tells by the name inside the archive which files to open.
        budget: What is left of the limits of the archive that this one was in.

    Yields:
        The name inside the archive, the time of modification where the archive has it, and the file's bytes, which can
        be read until the next one is asked for. Links and names that lead out of the archive are passed over.

    Raises:
        ArchiveError: It is broken, needs a password or a library that is not there, or holds too many files.
    """
    budget = budget or Budget()
    with reading():
        for member, modified, opened in _members(name, file):
            budget.files -= 1
            if budget.files < 0:
                raise ArchiveError(f"more than {_FILES_LIMIT} files")
            inside = _inside(member)
            stream = opened() if inside is not None and wanted(inside) else None
            if inside is not None and stream is not None:
                with stream:
                    yield inside, modified, stream


@contextmanager
def reading() -> Iterator[None]:
    """Tells of what goes wrong while bytes of `streams` are read.

    Raises:
        ArchiveError: The archive is broken.
    """
    try:
        yield
    except _UNUSABLE as error:
        raise ArchiveError(f"cannot be unpacked: {error}") from error


def _inside(name: str) -> str | None:
    """A member's name as a relative path; None where it would lead out of the folder."""
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part != "."]
    bad = not parts or parts[0] == "/" or ".." in parts or any("\0" in part for part in parts)
    return None if bad else "/".join(parts)


def _copy(stream: IO[bytes], file: Path, left: int) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with file.open("wb") as copy:
        while data := stream.read(_CHUNK):
            written += len(data)
            if written > left:
                raise ArchiveError(f"unfolds to more than {_BYTES_LIMIT >> 30} GiB")
            copy.write(data)
    return written


def _members(name: str, file: IO[bytes]) -> Iterator[Member]:
    lower = name.lower()
    if lower.endswith(".zip"):
        with zipfile.ZipFile(file) as zipped:
            yield from _zipped(zipped)
    elif lower.endswith(_TARS):
        # One pass, without a step back: all that a compressed stream can do.
        with _decompressed(lower, file) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            yield from _tarred(tar)
    else:
        yield single_name(PurePosixPath(name).name) or name, None, lambda: _decompressed(lower, file)


def _decompressed(name: str, file: IO[bytes]) -> IO[bytes]:
    if name.endswith((".gz", ".tgz")):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if name.endswith((".bz2", ".tbz2")):
        return bz2.BZ2File(file)
    if name.endswith((".xz", ".txz")):
        return lzma.LZMAFile(file)
    if name.endswith((".zst", ".tzst")):
        return _zstd(file)
    return file


def _zstd(file: IO[bytes]) -> IO[bytes]:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415  # not every Python is built with it

        return cast("IO[bytes]", zstd.ZstdFile(file))
    try:
        import zstandard  # noqa: PLC0415  # few need it
    except ImportError as error:
        raise ArchiveError("is compressed by zstd: pip install zstandard, or use Python 3.14") from error
    return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=False)


def _zipped(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        if not info.is_dir():
            modified = time.mktime((*info.date_time, 0, 0, -1))
            yield info.filename, modified, lambda info=info: archive.open(info)  # type: ignore[misc]  # bound by name


def _tarred(archive: tarfile.TarFile) -> Iterator[Member]:
    for info in archive:
        if info.isreg():
            yield info.name, info.mtime, lambda info=info: archive.extractfile(info)  # type: ignore[misc]  # bound by name
