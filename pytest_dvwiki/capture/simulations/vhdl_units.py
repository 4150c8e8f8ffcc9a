"""The design units of VHDL sources: which files a tool needs that analyses only the units below a top."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_NO_CODE = re.compile(r"--[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|(?<![\w)\]])'[^\n]'|(\\[^\\\n]+\\)", re.DOTALL)
"""Matches a comment, a string or a character, which may contain anything, or an extended identifier as its group."""
_DEFINES = re.compile(
    r"\b(?:entity |context |package (?:body )?|architecture \w+ of |configuration (?=\w+ of\b))(\w+)(?= (?:is|of)\b)"
)
"""Matches the beginning of a unit; for an architecture or a body, the name is that of the unit to which it belongs."""
_REFERS = re.compile(
    r"(?:(?<=[.:])|(?<=[.:] )|(?<=\bcomponent )|(?<=\bconfiguration )|(?<=\bcontext )|(?<=\bentity )|(?<=\bis )"
    r"|(?<=\bnew )|(?<=\bof )|(?<=\buse ))\w+|\b\w+(?= ?\.)"
)
"""Matches a name where VHDL may refer to a unit; elsewhere it is a signal with the name of a unit, or the like."""
_FROM_LIBRARY = re.compile(r"\b(\w+) ?\. ?(\w+)")
_COMPONENT = re.compile(r"(?<!\bend )\bcomponent (\w+)(?= (?:is|port|generic|end)\b)")
_ALL_UNITS = re.compile(r"\buse [^;]*?\b(?<!\.)(?<!\. )\w+ ?\. ?all\b")
"""Matches a clause that makes all units of a library visible without a prefix."""
_UNCLEAR = re.compile(r"`protect|\b(?:vunit|vmode|vprop)\b|\b(?:entity|package|configuration|context|component) \\")
"""Matches code that hides units, or binds to them by rules of its own, and units with extended identifiers."""
_WORD = re.compile(r"\w+")
_WORK = "work"


class _Source(NamedTuple):
    """The units that a file defines, and the names by which it may refer to others, all in lower case."""

    defines: frozenset[str]
    refers: frozenset[str]
    required: frozenset[str]
    """Names for which there must be a unit: components, and what the text takes from its own library."""


def needed(texts: Mapping[str, str], always: Iterable[str], tops: Iterable[str], library: str) -> set[str] | None:
    """Return the sources that a tool needs for a top, of all those whose units it knows; None if that is unclear.

    More files than needed may be returned: if several files define a unit, all of them are, and a name counts as that
    of a unit wherever VHDL allows one. It is unclear if no source has a unit that others need, for example because a
    commit renamed it, or if a source hides its units.

    Args:
        texts: The texts of the sources by path.
        always: Sources that the tool needs in any case.
        tops: The top, or several of them.
        library: Name of the library of all sources.
    """
    if not all(map(str.strip, texts.values())):
        return None
    codes = {path: _code(text) for path, text in texts.items()}
    if any(map(_UNCLEAR.search, codes.values())):
        return None
    any_word = any(map(_ALL_UNITS.search, codes.values()))
    sources = {path: _source(code, {_WORK, library.lower()}, any_word=any_word) for path, code in codes.items()}
    homes: dict[str, list[str]] = {}
    for path, source in sources.items():
        for unit in source.defines:
            homes.setdefault(unit, []).append(path)
    wanted = {top.lower() for top in tops}
    if not wanted <= homes.keys():
        return None
    without_unit = (path for path, source in sources.items() if not source.defines)
    waiting = [*_homes(wanted, homes), *(path for path in always if path in sources), *without_unit]
    found = set[str]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            if not sources[path].required <= homes.keys():
                return None
            waiting += _homes(sources[path].refers, homes)
    return found


def _homes(names: Collection[str], homes: Mapping[str, list[str]]) -> list[str]:
    return [path for name in names for path in homes.get(name, ())]


def _code(text: str) -> str:
    """Return VHDL in lower case without comments, strings and superfluous white space."""
    return " ".join(_NO_CODE.sub(lambda found: found[1] or " ", text).lower().split())


def _source(code: str, libraries: Collection[str], *, any_word: bool) -> _Source:
    defines = _DEFINES.findall(code)
    refers = _WORD.findall(code) if any_word else _REFERS.findall(code)
    own = [name for prefix, name in _FROM_LIBRARY.findall(code) if prefix in libraries and name != "all"]
    return _Source(frozenset(defines), frozenset(refers), frozenset((*own, *_COMPONENT.findall(code))))
