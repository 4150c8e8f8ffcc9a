"""Packages that extend pytest-dvwiki, through objects (mostly modules) in the entry-point group `dvwiki`.

Each object has functions with the names of hooks in `hookspecs`. A pytest run registers the object as a plugin. The
command `dvwiki` registers no plugins; it calls only the hooks for patterns and masks.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_dvwiki.masks import HOOK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_dvwiki.masks import Function
    from pytest_dvwiki.settings import Settings

GROUP = "dvwiki"


def extensions(note: Callable[[str], None]) -> Iterator[tuple[str, object]]:
    """Yield the installed extensions with their names; `note` gets a message for each one that cannot be loaded."""
    from importlib.metadata import entry_points  # noqa: PLC0415  # only a run that names failures needs it

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            yield point.name, point.load()
        except Exception as error:  # noqa: BLE001  # the import of somebody else's module
            note(f"entry point {GROUP}: {point.name} = {point.value} was left out: {type(error).__name__}: {error}")


def further_patterns(settings: Settings, note: Callable[[str], None]) -> tuple[Path, ...]:
    """Return the pattern files of installed packages, for use outside pytest.

    Args:
        settings: Passed to `pytest_dvwiki_patterns`.
        note: Called with a message for each package that cannot be loaded, or whose hook raises an error.
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
    """Yield the name and masking function of each installed package that has one, for use outside pytest.

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
    """Return the result of a pattern hook as a list of paths."""
    if isinstance(given, (str, os.PathLike)):
        return [Path(given)]
    return [Path(path) for path in given or ()]
