"""Files behind URLs, on any file system that fsspec supports: S3, GCS, HTTP, SFTP, archives."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

_URL = re.compile(r"[a-z][a-z0-9+.-]+://")
_CHUNK = 1 << 20


class RemoteError(Exception):
    """A URL cannot be read; the message gives the reason."""


class RemoteFile(Struct, frozen=True):
    """One file behind a URL."""

    url: str
    shown: str
    """The URL without credentials and query."""
    size: int
    """Size in bytes; 0 if the server does not report a size."""
    modified: float | None = None
    """Seconds since the epoch; None if the server does not report a time."""

    @property
    def name(self) -> str:
        """Return the name of the file, without its folders."""
        return PurePosixPath(self.shown.partition("::")[0]).name


def is_url(given: str) -> bool:
    """Return whether a command-line argument is a URL."""
    return _URL.match(given) is not None


def find(given: str, is_wanted: Callable[[str], bool]) -> list[RemoteFile]:
    """Return the files behind a URL: a single file, the matches of a glob, or the wanted files in a folder.

    Args:
        given: The URL; `zip://*.log::https://host/nightly.zip` matches files in an archive.
        is_wanted: Returns whether a file in a folder is wanted, given its name.

    Raises:
        RemoteError: The URL cannot be read.
    """
    with _as_remote_error():
        system, path = _library().core.url_to_fs(given)
        chain = given.partition("::")[2]
        if "*" in path or "?" in path.partition("::")[0].rpartition("/")[2]:
            names = [name for name in system.glob(path) if not system.isdir(name)] or [path]
        elif system.isdir(path):
            names = [name for name in system.find(path) if is_wanted(PurePosixPath(name).name)]
        else:
            names = [path]
        return [_file(system, name, given, chain) for name in sorted(names)]


def open_url(url: str) -> IO[bytes]:
    """Open a file behind a URL. The stream's methods can raise `RemoteError`, too.

    Raises:
        RemoteError: The file cannot be opened.
    """
    with _as_remote_error():
        return io.BufferedReader(_RemoteStream(_opener(url)), _CHUNK)


class _RemoteStream(io.RawIOBase):
    """A library's stream that raises `RemoteError` for all errors."""

    def __init__(self, opener: Any) -> None:
        # The object that opened a file in an archive closes the archive when it is garbage-collected.
        self._opener = opener
        self._stream = opener.open()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._stream.seekable())

    def readinto(self, buffer: Any) -> int:
        with _as_remote_error():
            data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with _as_remote_error():
            return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def close(self) -> None:
        super().close()
        self._stream.close()


def fetch(url: str) -> IO[bytes]:
    """Return a temporary, seekable copy of a file behind a URL.

    Raises:
        RemoteError: The file cannot be read to its end.
    """
    target = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    with _as_remote_error(), _opener(url) as stream:
        shutil.copyfileobj(stream, target, _CHUNK)
    target.seek(0)
    return target


def _opener(url: str) -> Any:
    # Reading in blocks needs range requests, which some servers do not support.
    options = {"block_size": 0} if url.startswith("http") else {}
    return _library().open(url, "rb", **options)


@contextlib.contextmanager
def _as_remote_error() -> Iterator[None]:
    """Turn every exception into a `RemoteError`, because each file system raises exceptions of its own."""
    try:
        yield
    except RemoteError:
        raise
    except ImportError as error:
        raise RemoteError(f"cannot be read: {error}") from error
    except FileNotFoundError as error:
        raise RemoteError("no such file; check the URL") from error
    except Exception as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]
        problem = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
        raise RemoteError(f"cannot be read: {problem}; check the URL and your access to it") from error


def _library() -> Any:
    try:
        import fsspec  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise RemoteError("reading URLs needs fsspec: pip install 'pytest-dvwiki[farm]'") from error
    return fsspec


def _file(system: Any, name: str, given: str, chain: str) -> RemoteFile:
    known = system.info(name)
    protocol = given.partition("://")[0]
    url = f"{protocol}://{name}::{chain}" if chain else str(system.unstrip_protocol(name))
    modified = next((known[key] for key in ("mtime", "LastModified", "created") if known.get(key) is not None), None)
    seconds = getattr(modified, "timestamp", lambda: modified)()
    return RemoteFile(
        url=url,
        shown="::".join(map(_without_secrets, url.split("::"))),
        size=known.get("size") or 0,
        modified=float(seconds) if isinstance(seconds, int | float) else None,
    )


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
