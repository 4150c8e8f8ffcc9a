"""A disposable database file. It is rebuilt if it is missing, broken or of another version.

If no file can be written, the database is in memory and ends with the process.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from pytest_dvwiki.umask import as_open_as

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WAIT_S = 20.0


def open_cache(path: Path | None, schema: str, version: int) -> sqlite3.Connection:
    """Open a cache, empty if there is no usable file.

    Args:
        path: File of the cache; None for a cache in memory.
        schema: The SQL statements that create the tables.
        version: Version of schema and content; a file of another version is deleted.
    """
    if path is not None:
        for _ in range(2):
            try:
                return _open_file(path, schema, version)
            except (sqlite3.OperationalError, OSError):
                # Locked by another process for too long, or in a folder that cannot be written: the file is left alone.
                break
            except sqlite3.DatabaseError:
                with contextlib.suppress(OSError):
                    discard(path)
    connection = _connect(":memory:")
    connection.executescript(schema)
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the body as one transaction: commit at the end, roll back after an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # After errors such as a full disk, SQLite has already rolled back; only the original error matters.
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def discard(path: Path) -> None:
    """Remove the files of a cache."""
    for suffix in ("", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def is_held(path: Path) -> bool:
    """Return whether another process is writing to a cache."""
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as probe:
            probe.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return True
    except sqlite3.DatabaseError:
        return False
    return False


def _connect(place: str) -> sqlite3.Connection:
    return sqlite3.connect(place, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)


def _open_file(path: Path, schema: str, version: int) -> sqlite3.Connection:
    with as_open_as(path.parent):
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.touch()  # SQLite would create a file that nobody else can write
    connection = _connect(str(path))
    try:
        # SQLite does not wait for the disk: a killed process loses nothing, and after a power cut the cache is rebuilt.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN IMMEDIATE")
        _make_tables(connection, schema, version)
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection, schema: str, version: int) -> None:
    """Create the tables of a new cache.

    Raises:
        sqlite3.DatabaseError: The file is a cache of another version.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found not in {0, version}:
        raise sqlite3.DatabaseError(f"cache version {found}")
    if found == 0:
        for statement in schema.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
