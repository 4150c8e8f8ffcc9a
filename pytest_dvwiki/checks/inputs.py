"""The input files of a check: resolves variables and globs in their names, and reads plain and compressed files."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from pytest_dvwiki import reading
from pytest_dvwiki.capture.files import archives
from pytest_dvwiki.checks.schema import CheckError
from pytest_dvwiki.logtext.logs import LogStream, LogText

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from io import BufferedReader

    from pytest_dvwiki.checks.schema import Check

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_MOST_FILES = 1000


class InputError(Exception):
    """A file cannot be read completely. The message has the reason."""


class Input(Struct, frozen=True):
    """An entry of `input_files` and its matching files."""

    entry: str
    files: tuple[Path, ...]


def inputs_of(check: Check, environment: Mapping[str, str]) -> list[Input]:
    """Return the input files of a check. Relative names are resolved in the check's folder.

    Raises:
        CheckError: A variable is not set, or a glob matches too many files.
    """
    found = []
    for entry, line in check.input_files:
        unset = next((name for name in _VARIABLE.findall(entry) if not environment.get(name)), None)
        if unset is not None:
            raise CheckError(f"{check.path}:{line}: the variable {unset} is not set; export it, or write the path out")
        # As in all globs of the project, `[` is an ordinary character. In a variable's value, every character is.
        parts = _VARIABLE.split(entry.replace("[", "[[]"))
        parts[1::2] = [glob.escape(environment[name]) for name in parts[1::2]]
        matches = glob.iglob(os.path.join(glob.escape(str(check.path.parent)), "".join(parts)), recursive=True)  # noqa: PTH118, PTH207  # a glob
        files = [Path(name) for name, _ in zip(matches, range(_MOST_FILES + 1), strict=False)]
        if len(files) > _MOST_FILES:
            raise CheckError(
                f"{check.path}:{line}: {entry!r} matches more than {_MOST_FILES} files; make it more specific"
            )
        has_magic = "*" in entry or "?" in entry
        found.append(Input(entry, tuple(sorted(each for each in files if each.is_file() or not has_magic))))
    return found


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a file, unpacked if compressed, and decoded as UTF-8 or else Latin-1.

    Raises:
        InputError: The file cannot be read completely.
    """
    try:
        if archives.single_name(path.name) is None:
            yield from _numbered(LogText(source="log", path=path))
            return
        with reading.open_regular(path) as file, archives.reading():
            for _, _, stream in archives.streams(path.name, file, lambda _: True):
                opened = cast("BufferedReader", stream)
                yield from _numbered(LogText(source="log", path=path, open=lambda _, opened=opened: opened))  # type: ignore[misc]  # bound by name
    except archives.ArchiveError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(reading.reason(error)) from error


def _numbered(log: LogText) -> Iterator[tuple[int, str]]:
    for chunk in LogStream(log):
        yield from enumerate(chunk.text.removesuffix("\n").split("\n"), chunk.first)
