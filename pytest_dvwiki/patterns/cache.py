"""The cache folder, for files that can be rebuilt: compiled registries and regex databases.

It can be deleted without loss, and is not required.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from pathlib import Path

from pytest_dvwiki import reading
from pytest_dvwiki.umask import as_open_as

_NAME = "pytest-dvwiki"
_LINUX: bool = sys.platform == "linux"
_MOST = 8
"""Maximum number of files of one kind."""
_wikis: list[Path] = []


def prefer(wiki: Path) -> None:
    """Use the cache folder inside a wiki, if the wiki exists; CI jobs that keep the project then also keep the cache.

    Args:
        wiki: The wiki's folder; its `.cache` is never committed.
    """
    _wikis[:] = [wiki] if wiki.is_dir() else []


def folder() -> Path | None:
    """Return the cache folder: `DVWIKI_CACHE_DIR`, else the wiki's, else the user's; None if no folder can be found."""
    if given := os.environ.get("DVWIKI_CACHE_DIR"):
        return Path(given)
    return _wikis[0] / ".cache" if _wikis else _of_user()


def _of_user() -> Path | None:
    try:
        if _LINUX:
            # platformdirs returns the same folder, but importing it takes longer than reading the whole cache.
            return Path(os.environ.get("XDG_CACHE_HOME", "").strip() or "~/.cache").expanduser() / _NAME
        import platformdirs  # noqa: PLC0415

        return Path(platformdirs.user_cache_dir(_NAME, appauthor=False))
    except (OSError, RuntimeError):
        return None


def read(name: str) -> bytes | None:
    """Return the content of a cached file; None if it is missing or unreadable.

    A file that is not in the wiki's cache is looked up in the user's cache: the run that created the wiki wrote there.
    """
    for where in (folder(), _of_user() if _wikis and not os.environ.get("DVWIKI_CACHE_DIR") else None):
        if where is not None:
            with contextlib.suppress(OSError):
                return reading.read_bytes(where / name)
    return None


def write(name: str, data: bytes) -> None:
    """Write a file to the cache atomically. Errors are ignored."""
    where = folder()
    if where is None:
        return
    with contextlib.suppress(OSError), as_open_as(where):
        where.mkdir(parents=True, exist_ok=True)
        temporary = where / f".{name}.{secrets.token_hex(4)}"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o660)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            temporary.replace(where / name)
            _prune(where, name)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise


def _prune(where: Path, name: str) -> None:
    """Remove the oldest files of one kind; each version of the patterns adds a file."""
    of_sort = where.glob(f"{name.partition('-')[0]}-*")
    for old in sorted(of_sort, key=lambda path: path.stat().st_mtime, reverse=True)[_MOST:]:
        old.unlink(missing_ok=True)
