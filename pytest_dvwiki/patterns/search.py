"""Search a message for an expression in time linear in the message's length.

For an expression `head.*rest`, `re` scans the remaining line after every match of the head. If there are a thousand
heads and no rest, the line is scanned a thousand times. So an expression is split at its gaps (`.*`, `.{0,300}` outside
groups), and the part after a gap is searched for only once, after the first match of the part before it.

A gap therefore ends at the first match of the rest, whether written `.*` or `.*?`. This changes only the groups after
it: in `got id=1, id=2` the group of `got.*id=(?P<id>.)` is 2 with `re`, and 1 here.
"""

from __future__ import annotations

import re
from typing import Protocol

import msgspec

from pytest_dvwiki.expressions import Expression, FirstMatch, compile_re2

WIDE = 16
"""A part that can be repeated at least this often has matches that end almost anywhere."""

_PART = re.compile(
    r"(?P<atom>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\(\?:|.)"
    r"(?P<repeat>(?:(?P<sign>[*+?])|\{(?P<low>\d+)(?P<to>,(?P<high>\d*))?\})\??)?",
    re.DOTALL,
)
_IGNORE_CASE = "(?i)"
_NAMED = "(?P<"


class Search(Protocol):
    """A compiled expression."""

    def search(self, text: str, at: int = 0) -> FirstMatch | None:
        """Return the first match at or after an offset; None if nothing matches there."""


def compiled(source: str) -> Search:
    """Compile an expression that `expression.check` accepts, for `re`."""
    flag = _IGNORE_CASE if source.startswith(_IGNORE_CASE) else ""
    gap = _gap(source, len(flag))
    if gap is None:
        plain = _with_short_gaps(source, len(flag)) if _NAMED in source else source
        return _Plain(re.compile(plain, re.ASCII))
    head = re.compile(source[: gap.start], re.ASCII)
    return _Gapped(head, compiled(flag + source[gap.end :]), gap.low, gap.high)


def compiled_by_re2(source: str) -> Expression:
    """Compile a user's expression for RE2; its matches have the same groups as those of `compiled`.

    Args:
        source: The expression, accepted by `expression.check`.

    Raises:
        ExpressionError: RE2 does not accept the expression.
    """
    flag = len(_IGNORE_CASE) if source.startswith(_IGNORE_CASE) else 0
    return compile_re2(_with_short_gaps(source, flag) if _NAMED in source else source)


class _Plain(msgspec.Struct, frozen=True, gc=False):
    """An expression that is not split, because it has no suitable gap."""

    _expression: re.Pattern[str]

    def search(self, text: str, at: int = 0) -> FirstMatch | None:
        found = self._expression.search(text, at)
        return FirstMatch(found.start(), _groups(found)) if found is not None else None


class _Gapped(msgspec.Struct, frozen=True, gc=False):
    """An expression split into a head, a gap, and the part after the gap."""

    _head: re.Pattern[str]
    _rest: Search
    _low: int
    _high: int | None

    def search(self, text: str, at: int = 0) -> FirstMatch | None:
        rest: FirstMatch | None = None
        head = self._head.search(text, at)
        while head is not None:
            first = head.end() + self._low
            if rest is None or rest.start < first:
                rest = self._rest.search(text, first)
                if rest is None:
                    return None
            if self._high is None or rest.start <= head.end() + self._high:
                return FirstMatch(head.start(), _groups(head) | rest.groups)
            head = self._head.search(text, head.start() + 1)
        return None


def _groups(found: re.Match[str]) -> dict[str, str]:
    return {name: value for name, value in found.groupdict().items() if value is not None}


class _Gap(msgspec.Struct, frozen=True):
    start: int
    end: int
    low: int
    high: int | None


def _gap(source: str, at: int) -> _Gap | None:
    """Return the first gap where an expression can be split; None if it cannot be split.

    The gap is the first part that can repeat `WIDE` times. The expression cannot be split if this part is not a `.`
    outside groups, if nothing precedes or follows the part, or if the expression has alternatives outside groups.
    """
    depth = 0
    gap: _Gap | None = None
    for part in _PART.finditer(source, at):
        atom = part["atom"]
        if atom == "|" and depth == 0:
            return None
        depth += {"(": 1, ")": -1}.get(atom[0], 0)
        if part["repeat"] and gap is None:
            low, high = _times(part)
            if _is_wide(high):
                if atom != "." or depth > 0 or part.start() == at or part.end() == len(source):
                    return None
                gap = _Gap(part.start(), part.end(), low, high)
    return gap


def _with_short_gaps(source: str, at: int) -> str:
    """Return the expression with all gaps outside groups made lazy, to match like a split expression."""
    depth = 0
    parts = [source[:at]]
    for part in _PART.finditer(source, at):
        depth += {"(": 1, ")": -1}.get(part["atom"][0], 0)
        greedy = depth == 0 and part["atom"] == "." and part["repeat"] and not part["repeat"].endswith("?")
        parts.append(f"{part[0]}?" if greedy and _is_wide(_times(part)[1]) else part[0])
    return "".join(parts)


def _is_wide(high: int | None) -> bool:
    """Return whether a part can repeat so often that a match can end almost anywhere."""
    return high is None or high >= WIDE


def _times(part: re.Match[str]) -> tuple[int, int | None]:
    """Return the minimum and maximum number of repetitions; None for no maximum."""
    if part["sign"]:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[part["sign"]]
    low = int(part["low"])
    if not part["to"]:
        return low, low
    return low, int(part["high"]) if part["high"] else None
