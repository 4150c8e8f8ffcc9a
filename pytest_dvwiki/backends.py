"""The search backends, selected by the setting `search_backend`.

A package can add a backend through an entry point in the group `dvwiki.search`. The entry point has the backend's name
and refers to a class with the interface of `pytest_dvwiki.WikiSearchIndex`. The class is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.reading import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "dvwiki.search"
_HOME = "pytest_dvwiki.wiki.finding"
_BUILT_IN = {
    "bm25": f"{_HOME}.indexed:bm25_search",
    "keyword": f"{_HOME}.search:KeywordIndex",
    "none": f"{_HOME}.search:NoIndex",
}


class BackendError(UserError, ValueError):
    """A search backend does not exist (the message lists all backends) or cannot be loaded (the message says why)."""


def names() -> list[str]:
    """Return the names of all backends: the built-in ones first, then those of installed packages."""
    return [*_BUILT_IN, *sorted(_entry_points().keys() - _BUILT_IN.keys())]


def check(name: str) -> None:
    """Check that a backend exists, without loading it.

    Raises:
        BackendError: No backend has this name.
    """
    if name not in _BUILT_IN and name not in _entry_points():
        raise BackendError(f"expected one of {', '.join(names())}, got {name!r}")


def load(name: str) -> Any:
    """Return the class of a backend.

    Raises:
        BackendError: No backend has this name, or the backend cannot be loaded.
    """
    check(name)
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    point = _entry_points()[name]
    try:
        return point.load()
    except Exception as error:
        raise BackendError(
            f"{name!r}, entry point {GROUP}: {point.value}, cannot be loaded: {type(error).__name__}: {error}; fix"
            f" that package, or set another backend"
        ) from error


def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # noqa: PLC0415 (only a name that is not ours needs it)

    return {point.name: point for point in entry_points(group=GROUP)}
