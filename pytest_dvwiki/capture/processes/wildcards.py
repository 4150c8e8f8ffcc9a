"""Expansion of the wildcards in a logged command's paths, against the files that exist now."""

from __future__ import annotations

import fnmatch
import os
import re

_WILDCARD = re.compile(r"[*?]|\[[^\[\]/]++\]")
_BRACES = re.compile(r"\{([^{},]*+,[^{}]*+)\}")
"""Matches a list of alternatives, which only some shells expand: `{fifo,top}.vhd`."""
_BY_SHELL = re.compile(r"[$`]")
"""Matches `$` or a back-tick, which start the expansion of a variable or a command substitution."""
_MOST_ENTRIES = 20_000
"""Maximum number of folder entries that are compared with the wildcards of one word."""
_MOST_WORDS = 64
_LONGEST = 4096
"""Maximum length of a path."""


def is_pattern(word: str) -> bool:
    """Return whether a shell may expand a word into other words."""
    return any(each.search(word) for each in (_WILDCARD, _BRACES, _BY_SHELL))


def expanded(path: str) -> list[str]:
    """Return the existing paths into which a shell expands an absolute path.

    The paths are sorted, but those of the first alternative in braces come first. The list is empty if any alternative
    matches no file, if there are too many alternatives or files, or if the path needs the shell's variables.
    """
    if os.path.lexists(path):
        return [path]
    if len(path) > _LONGEST or _BY_SHELL.search(path):
        return []
    words = [path]
    while any(map(_BRACES.search, words)):
        words = [one for word in words for one in _alternatives(word)]
        if len(words) > _MOST_WORDS:
            return []
    left = _MOST_ENTRIES
    found: dict[str, None] = {}
    for word in words:
        fitting, left = _fitting(word, left)
        if not fitting:
            return []
        found |= dict.fromkeys(fitting)
    return list(found)


def _alternatives(word: str) -> list[str]:
    braces = _BRACES.search(word)
    if braces is None:
        return [word]
    return [f"{word[: braces.start()]}{one}{word[braces.end() :]}" for one in braces[1].split(",")]


def _fitting(path: str, left: int) -> tuple[list[str], int]:
    """Return the existing paths that match a path with wildcards, and how many more entries may be compared.

    No paths are returned if more than `left` entries would have to be compared.
    """
    found = [os.sep]
    for part in path.strip("/").split("/"):
        if not _WILDCARD.search(part):
            found = [one for folder in found if os.path.lexists(one := os.path.join(folder, part))]  # noqa: PTH118
            continue
        fits = re.compile(fnmatch.translate(part))
        inside: list[str] = []
        for folder in found:
            names = _names_in(folder)
            left -= len(names)
            if left < 0:
                return [], 0
            shown = (name for name in names if part.startswith(".") or not name.startswith("."))
            inside += [os.path.join(folder, name) for name in shown if fits.match(name)]  # noqa: PTH118
        found = inside
    return sorted(found), left


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  # names alone, for many entries
    except OSError:
        return []
