"""Packages that extend the project: the objects, mostly modules, that the entry-point group `dvwiki` names.

Such an object has functions named like the hooks of `hookspecs`. A run of pytest registers it as a plugin; the command
line, which has no plugins, asks it for further patterns.
"""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_dvwiki.settings import Settings

GROUP = "dvwiki"


def extensions(note: Callable[[str], None]) -> Iterator[tuple[str, object]]:
    """What the packages of this environment give, by name.

    Args:
        note: Told of each that cannot be loaded.
    """
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            yield point.name, point.load()
        except Exception as error:  # noqa: BLE001  # the import of somebody else's module
            note(f"entry point {GROUP}: {point.name} = {point.value} was left out: {type(error).__name__}: {error}")


def further_patterns(settings: Settings, note: Callable[[str], None]) -> tuple[Path, ...]:
    """The pattern files that the packages of this environment give, without pytest.

    Args:
        settings: Handed to `pytest_dvwiki_patterns`.
        note: Told of each package that cannot be loaded or asked.
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


def files_of(given: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None) -> list[Path]:
    """What a hook of patterns gave, as paths: nothing, one, or several."""
    if isinstance(given, (str, os.PathLike)):
        return [Path(given)]
    return [Path(path) for path in given or ()]
