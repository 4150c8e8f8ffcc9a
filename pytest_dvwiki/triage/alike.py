"""Find failures of a run that differ only in unimportant values, so that classifying one of them is enough.

A testbench fails thousands of times with the same words and different numbers. The words decide which patterns match,
which message is the first cause, and which fingerprint it gets. Two failures are alike if their texts differ only in
free-standing numbers, and if these numbers have the same length and kind of digits and repeat in the same places.
Numbers of one digit, and numbers that a pattern may know (`signal 15`, `code 137`), count as words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from pytest_dvwiki.model import Excerpt, Failure
    from pytest_dvwiki.patterns.schema import Pattern, RegistryEntry

_VALUE = re.compile(r"(?<=[ =])(0x[0-9a-fA-F]{2,}|[1-9][0-9]+)(?![^\s,;)])")
"""A number after a space or an equals sign; a number within a name, a place, a date or a code is a word."""
_PART = re.compile(r"\\(?P<escaped>.)|\{\d+(?:,\d*)?\}|(?P<any>\[\^?\]?(?:\\.|[^\]\\])*\])")
"""The parts of an expression whose digits need not be in a text: escapes, repetitions, sets of characters."""
_ALL_DIGITS = re.compile(r"0-9|\\d")
_KNOWN = re.compile(r"\d{2,}")
_BINARY = frozenset("01")
_LONGEST = 1 << 13
"""Number of characters above which a failure is not compared: long ones are rarely alike, and slow to compare."""
_MOST_VALUES = 1 << 14
"""Number of values whose kinds are cached."""
_GAP = "\n\0\n"


class Likeness:
    """Tells which failures are alike.

    Args:
        entries: The patterns by which failures are classified.
    """

    def __init__(self, entries: Sequence[RegistryEntry]) -> None:
        own = [entry.pattern for entry in entries if entry.of_people]
        self._compares = not any(map(_distinguishes_digits, _expressions(own)))
        """False if an expression that people gave may require a particular digit; failures are then not compared."""
        expressions = _expressions(entry.pattern for entry in entries if not entry.of_people)
        self._letters_matter = bool(own)
        """Whether an expression may require decimal digits in a hexadecimal number; no built-in expression does."""
        self._known = {number for source in expressions for number in _KNOWN.findall(_bare(source))}
        self._kinds: dict[str, tuple[str, str]] = {}
        """Maps each value to its kind, and to its digits without prefix and leading zeros."""

    def key(self, failure: Failure) -> Hashable | None:
        """Return the same key for failures that are alike; None for a failure that is not compared with others.

        Failures in a simulation are not compared: the tests of a simulation are judged together, and run far longer
        than their classification takes.
        """
        if not self._compares or failure.in_simulator or not failure.started:
            return None
        text = _GAP.join((failure.message, *(excerpt.text for excerpt in failure.excerpts)))
        if len(text) > _LONGEST:
            return None
        words = _VALUE.split(text)
        first: dict[str, int] = {}
        for at in range(1, len(words), 2):
            kind, number = self._kinds.get(words[at]) or self._kind(words[at])
            words[at] = f"{kind} {first.setdefault(number, len(first))}"
        return (
            _GAP.join(words),
            failure.frame,
            failure.exception,
            failure.phase,
            failure.sim_time,
            failure.reads,
            *map(_shape, failure.excerpts),
        )

    def _kind(self, value: str) -> tuple[str, str]:
        """Return the kind of a value, and its digits without prefix and leading zeros; cache both."""
        if len(self._kinds) >= _MOST_VALUES:
            self._kinds.clear()
        known = self._kinds[value] = self._kind_of(value), value.removeprefix("0x").lstrip("0").lower()
        return known

    def _kind_of(self, value: str) -> str:
        """Return the length of a value and the kind of its digits; a number that a pattern may know is its own kind."""
        if value.startswith("0x"):
            digits = value[2:]
            letters = f" {digits.isdecimal()} {digits.isupper()}" if self._letters_matter else ""
            return value if digits.startswith("0") else f"0x {len(value)}{letters}"
        if value in self._known:
            return value
        return f"{len(value)}{' binary' if _BINARY.issuperset(value) else ''}"


def _shape(excerpt: Excerpt) -> Hashable:
    """Return the source of an excerpt and the numbers of its lines."""
    lines = excerpt.lines
    if not lines:
        return excerpt.source
    first, last = lines[0][0], lines[-1][0]
    numbers = () if last - first + 1 == len(lines) else tuple(number for number, _ in lines)
    return excerpt.source, first, last, numbers


def _expressions(patterns: Iterable[Pattern]) -> Iterator[str]:
    for pattern in patterns:
        yield from (*pattern.match, *pattern.unless, *pattern.together_with)


def _bare(source: str) -> str:
    """Return the words of an expression."""
    return _PART.sub(" ", source)


def _distinguishes_digits(source: str) -> bool:
    """Return whether an expression may match a number but not another number with as many digits."""
    parts = (part["escaped"] or _ALL_DIGITS.sub("", part["any"] or "") for part in _PART.finditer(source))
    return any(map(str.isdigit, "".join((_bare(source), *parts))))
