"""The folder for what can be made again: compiled registries. Nothing is lost with it, and nothing fails without it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def folder() -> Path | None:
    """Where caches stand: `DVWIKI_CACHE_DIR`, else the user's cache folder; None where there is neither."""
    if given := os.environ.get("DVWIKI_CACHE_DIR"):
        return Path(given)
    # Imported here: a caller with DVWIKI_CACHE_DIR set does without.
    import platformdirs  # noqa: PLC0415

    try:
        return Path(platformdirs.user_cache_dir("pytest-dvwiki", appauthor=False))
    except (OSError, RuntimeError):
        return None


def read(name: str) -> bytes | None:
    """The content of a cached file; None where there is none that can be read."""
    where = folder()
    if where is None:
        return None
    try:
        return (where / name).read_bytes()
    except OSError:
        return None


def write(name: str, data: bytes) -> None:
    """Puts a file into the cache whole or not at all; a cache that cannot be written is no error."""
    where = folder()
    if where is None:
        return
    with contextlib.suppress(OSError):
        where.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=where)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
            Path(temporary).replace(where / name)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
