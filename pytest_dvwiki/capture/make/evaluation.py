"""The values that make gives a Makefile's variables, as far as they follow from its text.

Functions of make are not evaluated, because they may run commands. A value that depends on a function is unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

OF_MAKE = re.compile(r"MAKE\w*|CURDIR|SHELL|PATH|HOME|PWD|OLDPWD|USER|LOGNAME|TERM|LANG|LC_\w+|TMPDIR|HOSTNAME")
"""Matches the names of variables that make or the shell sets."""
_PART = re.compile(r"\$(?:\$|\(([A-Za-z_]\w*)\)|\{([A-Za-z_]\w*)\})?", re.ASCII)
_CONDITION = re.compile(r"(else\b[ \t]*)?(ifn?eq|ifn?def|endif)?\b[ \t]*(.*)", re.DOTALL)
_SIDES = re.compile(
    r"\((?P<a>[^,()]*(?:\([^()]*\)[^,()]*)*),(?P<b>.*)\)|(?P<q>[\"'])(?P<c>.*?)(?P=q)[ \t]*[\"'](?P<d>.*)[\"']"
)
_MOST_STEPS = 20_000
_LONGEST = 4096
_DEPTH = 16


class Evaluation:
    """The variables of a Makefile, given by its `statements`, after make has read it.

    `unknown` are the names of variables from outside whose values are unknown.
    """

    def __init__(
        self,
        statements: Iterable[tuple[str, str, str]],
        environment: Mapping[str, str],
        command_line: Mapping[str, str],
        unknown: Collection[str] = (),
    ) -> None:
        self._fixed = command_line.keys()
        self._values: dict[str, tuple[str, bool] | None] = dict.fromkeys(unknown)
        """Maps a name to its text, and whether references in it are already replaced; None if the text is unknown."""
        self._values |= {name: (value, True) for name, value in {**environment, **command_line}.items()}
        self._left = _MOST_STEPS
        statements = tuple(statements)
        self._later = {name for name, how, _ in statements if how}
        branches: list[tuple[bool | None, bool | None]] = []
        for name, how, value in statements:
            if not how:
                self._condition(name, branches)
                continue
            states = [state for state, _ in branches]
            if False not in states and name not in self._fixed:
                self._assign(name, how, value, is_certain=None not in states)
        self._later.clear()

    def value(self, name: str) -> str | None:
        """Return the value of a variable; None if it is unknown or not set."""
        if name not in self._values:
            return None
        found = self._expanded(f"$({name})")
        return None if found is None else found.strip()

    def _assign(self, name: str, how: str, value: str, *, is_certain: bool) -> None:
        old = self._values.get(name, ("", False))
        if how == "?=" and name in self._values:
            return
        if not is_certain or how == "!=":
            self._values[name] = None
        elif how == "+=" and name in self._values:
            more = self._expanded(value) if old is not None and old[1] else value
            self._values[name] = None if old is None or more is None else (f"{old[0]} {more}", old[1])
        elif how in {"=", "?=", "+="}:
            self._values[name] = (value, False)
        else:
            now = self._expanded(value)
            self._values[name] = None if now is None else (now, True)

    def _condition(self, line: str, branches: list[tuple[bool | None, bool | None]]) -> None:
        """Process a line of a condition.

        Args:
            line: The line, such as `ifeq ($(SIM),icarus)`, `else` or `endif`.
            branches: For each open condition, whether the current branch is taken, and whether this or an earlier
                branch is; None if unknown. Updated in place.
        """
        found = _CONDITION.match(line)
        if found is None:
            return
        otherwise, word, rest = found.groups()
        if word == "endif" or (otherwise and not branches):
            del branches[-1:]
            return
        holds = self._holds(word, rest) if word else True
        taken = branches.pop()[1] if otherwise else False
        if taken:
            branches.append((False, True))
        elif taken is None:
            branches.append((None if holds is not False else False, None if holds is not True else True))
        else:
            branches.append((holds, holds))

    def _holds(self, word: str, rest: str) -> bool | None:
        if word.endswith("def"):
            name = self._expanded(rest.strip())
            known = self._values.get(name, ("", True)) if name is not None else None
            return None if known is None else bool(known[0]) == (word == "ifdef")
        sides = _SIDES.match(rest.strip())
        if sides is None:
            return None
        texts = [self._expanded(sides[one] if sides[one] is not None else sides[other]) for one, other in ("ac", "bd")]
        if texts[0] is None or texts[1] is None:
            return None
        return (texts[0].strip() == texts[1].strip()) == (word == "ifeq")

    def _expanded(self, text: str, depth: int = 0) -> str | None:
        """Return a text with the variables in it replaced; None if any of them is unknown."""
        self._left -= 1
        if depth > _DEPTH or self._left < 0 or len(text) > _LONGEST:
            return None
        parts, end = [], 0
        for found in _PART.finditer(text):
            parts.append(text[end : found.start()])
            end = found.end()
            name = found[1] or found[2]
            if name is None:
                if found[0] != "$$":
                    return None
                parts.append("$")
                continue
            known = self._values.get(name, ("", True))
            if known is None or (name not in self._values and (name in self._later or OF_MAKE.fullmatch(name))):
                return None
            now = known[0] if known[1] else self._expanded(known[0], depth + 1)
            if now is None or sum(map(len, parts)) + len(now) > _LONGEST:
                return None
            parts.append(now)
        return "".join((*parts, text[end:]))
