"""Packages that extend the project: objects, mostly modules, under the entry-point group `dvwiki`.

Such an object has functions named like the hooks of `hookspecs`. A pytest run registers it as a plugin; the command
line, which has no plugins, calls its hooks for patterns and masks.
"""

from __future__ import annotations

import functools
import importlib.machinery
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.masks import HOOK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_dvwiki.masks import Function
    from pytest_dvwiki.settings import Settings

GROUP = "dvwiki"
_PATHS = importlib.machinery.PathFinder
_METADATA = (".dist-info", ".egg-info", ".egg")
_FILES = ("entry_points.txt", "EGG-INFO/entry_points.txt")


def extensions(note: Callable[[str], None]) -> Iterator[tuple[str, object]]:
    """Yield the extensions in this environment, each with its name.

    Args:
        note: Called with a message for each that cannot be loaded.
    """
    if not _may_be_there():
        return
    # Imported here: the import takes longer than classifying a small log.
    from importlib.metadata import entry_points  # noqa: PLC0415

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            yield point.name, point.load()
        except Exception as error:  # noqa: BLE001  # the import of somebody else's module
            note(f"entry point {GROUP}: {point.name} = {point.value} was left out: {type(error).__name__}: {error}")


def _may_be_there() -> bool:
    """Tell whether an installed package may have entry points of the group, by looking at the metadata files alone."""
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not _PATHS):
        return True
    return any(map(_may_have, sys.path))


def _may_have(entry: str) -> bool:
    try:
        with os.scandir(entry or ".") as found:
            names = [each.name for each in found if each.name.lower().endswith(_METADATA)]
    except FileNotFoundError:
        return False
    except OSError:  # an archive, say
        return True
    return any(map(_names_group, (Path(entry, name, file) for name in names for file in _FILES)))


def _names_group(file: Path) -> bool:
    try:
        return f"[{GROUP}]".encode() in reading.read_bytes(file)
    except OSError:
        return False


def further_patterns(settings: Settings, note: Callable[[str], None]) -> tuple[Path, ...]:
    """Return the pattern files that installed packages bring, without pytest.

    Args:
        settings: Passed to `pytest_dvwiki_patterns`.
        note: Called with a message for each package whose hook cannot be loaded or raises.
    """
    paths: list[Path] = []
    for name, extension in extensions(note):
        hook = getattr(extension, "pytest_dvwiki_patterns", None)
        if hook is None:
            continue
        try:
            paths += files_of(hook(settings=settings))
        except Exception as error:  # noqa: BLE001  # somebody else's function
            note(f"patterns of entry point {GROUP}: {name} were left out: {type(error).__name__}: {error}")
    return tuple(paths)


def further_masks(note: Callable[[str], None]) -> Iterator[tuple[str, Function]]:
    """Yield the masking functions that installed packages bring, each with its name, without pytest.

    Args:
        note: Called with a message for each package that cannot be loaded.
    """
    for name, extension in extensions(note):
        hook = getattr(extension, HOOK, None)
        if hook is not None:
            yield name, functools.partial(_mask, hook)


def _mask(hook: Callable[..., object], text: str) -> object:
    return hook(text=text)


def files_of(given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None) -> list[Path]:
    """Return the result of a pattern hook as a list of paths: none, one, or several."""
    if isinstance(given, (str, os.PathLike)):
        return [Path(given)]
    return [Path(path) for path in given or ()]
