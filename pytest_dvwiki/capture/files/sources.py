"""Logs from files, folders, globs, archives and URLs as byte streams, read once and never unpacked to disk."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct, field

from pytest_dvwiki.capture.files.archives import (
    ArchiveError,
    is_archive,
    may_hold,
    pieces,
    reading,
    single_name,
    streams,
)
from pytest_dvwiki.capture.files.artefacts import expanded, may_be_log, walk
from pytest_dvwiki.capture.files.remote import RemoteError, fetch, find, is_url, open_url
from pytest_dvwiki.reading import reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import IO


class SourceError(Exception):
    """A file cannot be read to its end; the message gives the reason."""


class Source(Struct, frozen=True):
    """A file to read: a log, or an archive or compressed file with logs."""

    place: Path | str
    """Absolute path, or URL."""
    shown: str
    """Displayed name: the path or URL as the user gave it, or a path below it."""
    size: int
    """Size in bytes before decompression; 0 if a server does not report a size."""

    @property
    def name(self) -> str:
        """Return the name of the file, without its folders."""
        return PurePosixPath(self.shown.partition("::")[0]).name

    def open(self) -> IO[bytes]:
        """Open the file.

        Raises:
            OSError: The file cannot be opened.
            RemoteError: The file behind the URL cannot be opened.
        """
        if isinstance(self.place, str):
            # The directory of a zip archive is at its end, so the file must be seekable.
            return fetch(self.place) if self.name.lower().endswith(".zip") else open_url(self.place)
        return self.place.open("rb", buffering=0)


class Sources(Struct):
    """Files to read, and messages about paths without logs."""

    files: list[Source] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Messages about paths that cannot be read or hold no logs; each begins with the path."""


def find_sources(paths: Iterable[str]) -> Sources:
    """Find the files to read, without duplicates, in the order given; the files of a folder are sorted by name.

    In folders and archives, only files that are named like a log are read; hidden folders are skipped.

    Args:
        paths: Files, folders, archives, compressed files, URLs, or globs with `*`, `**`, `?` and `[…]`.
    """
    found = Sources()
    seen: set[str] = set()
    for given in paths:
        if is_url(given):
            _take_url(given, found, seen)
            continue
        expansion = expanded(given)
        if not expansion:
            found.problems.append(f"{given}: no file matches; check the path")
        for path in expansion:
            _take(path, found, seen)
    return found


def _take_url(given: str, result: Sources, seen: set[str]) -> None:
    try:
        files = find(given, lambda name: may_hold(name, may_be_log))
    except RemoteError as error:
        result.problems.append(f"{given}: {error}")
        return
    if not files:
        result.problems.append(f"{given}: no log in this folder; pass another folder")
    for file in files:
        if file.url not in seen:
            seen.add(file.url)
            result.files.append(Source(file.url, file.shown, file.size))


def _take(path: Path, result: Sources, seen: set[str]) -> None:
    try:
        if path.is_dir():
            files = [file for file in walk(path) if may_hold(file.name, may_be_log)]
            if not files:
                result.problems.append(f"{path}: no log in this folder; pass another folder")
        elif path.exists():
            files = [path]
        else:
            result.problems.append(f"{path}: no such file; check the name")
            return
        for file in files:
            # Symlinks are not resolved: the displayed name is the one that the user chose.
            absolute = os.path.abspath(file)  # noqa: PTH100
            if absolute not in seen:
                seen.add(absolute)
                result.files.append(Source(Path(absolute), str(file), file.stat().st_size))
    except OSError as error:
        result.problems.append(f"{error.filename or path}: {reason(error)}")


def read_source(source: Source, progress: Callable[[int], None]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Open the logs of a source one after the other.

    Args:
        source: The file to read.
        progress: Called after each read with the number of bytes read from the file so far.

    Yields:
        The log's name, and an iterator of its bytes; consume it before requesting the next log.

    Raises:
        SourceError: The file cannot be opened or is broken; the iterators of bytes raise it, too.
    """
    try:
        with source.open() as file:
            if is_archive(source.name):
                yield from _logs_in_archive(source, file, progress)
            else:
                yield source.shown, _pieces(file, file, progress)
    except (ArchiveError, RemoteError) as error:
        raise SourceError(str(error)) from error
    except OSError as error:
        raise SourceError(reason(error)) from error


def _logs_in_archive(
    source: Source, file: IO[bytes], progress: Callable[[int], None]
) -> Iterator[tuple[str, Iterator[bytes]]]:
    single = single_name(source.name) is not None
    opened = streams(source.name, file, lambda name: single or may_be_log(name.rpartition("/")[2]))
    empty = True
    for inside, _, stream in opened:
        empty = False
        yield source.shown if single else f"{source.shown}/{inside}", _pieces(stream, file, progress)
    if empty:
        raise SourceError("no log in this archive; pass another archive")


def _pieces(stream: IO[bytes], file: IO[bytes], progress: Callable[[int], None]) -> Iterator[bytes]:
    try:
        with reading():
            for piece in pieces(stream):
                progress(file.tell())
                yield piece
    except (ArchiveError, RemoteError) as error:
        raise SourceError(str(error)) from error
