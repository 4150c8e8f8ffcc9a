"""Takes results files and logs out of archives, with bounds on what an archive may unfold to."""

from __future__ import annotations

import gzip
import lzma
import os
import tarfile
import time
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Member = tuple[str, float, Callable[[], IO[bytes] | None]]
    """Name, time of modification, and what opens it."""

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
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


def is_archive(path: Path) -> bool:
    """Whether a file's name is that of an archive or of a compressed file."""
    name = path.name.lower()
    return name.endswith((*_TARS, ".zip", ".gz"))


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
    try:
        with _members(archive) as members:
            for name, modified, opened in members:
                budget.files -= 1
                if budget.files < 0:
                    raise ArchiveError(f"more than {_FILES_LIMIT} files in it")
                inside = _inside(name)
                if inside is None or not wanted(inside):
                    continue
                stream = opened()
                if stream is None:
                    continue
                file = target / inside
                with stream:
                    budget.bytes -= _copy(stream, file, budget.bytes)
                os.utime(file, (modified, modified))
                yield inside, file
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


@contextmanager
def _members(archive: Path) -> Iterator[Iterator[Member]]:
    name = archive.name.lower()
    if name.endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            yield _zipped(zipped)
    elif name.endswith(_TARS):
        with tarfile.open(archive, "r:*") as tar:
            yield _tarred(tar)
    else:
        with gzip.open(archive) as stream:
            yield iter([(archive.name[: -len(".gz")], archive.stat().st_mtime, lambda: cast("IO[bytes]", stream))])


def _zipped(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        if not info.is_dir():
            modified = time.mktime((*info.date_time, 0, 0, -1))
            yield info.filename, modified, lambda info=info: archive.open(info)  # type: ignore[misc]  # bound by name


def _tarred(archive: tarfile.TarFile) -> Iterator[Member]:
    for info in archive:
        if info.isreg():
            yield info.name, info.mtime, lambda info=info: archive.extractfile(info)  # type: ignore[misc]  # bound by name
