"""Find failures of a run that differ only in values, so that one classification is enough for all.

A testbench may fail thousands of times with the same message and different numbers. Patterns, first cause and
fingerprint depend on the words. Two failures are alike if their texts differ only in standalone numbers of the same
length and kind of digits; where one text repeats a number, the other must repeat its number at the same places. Single
digits, and numbers that occur in patterns (`signal 15`, `code 137`), are treated as words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from pytest_dvwiki.model import Excerpt, Failure
    from pytest_dvwiki.patterns.schema import Pattern, RegistryEntry

_VALUE = re.compile(r"(?<=[ =])(0x[0-9a-fA-F]{2,}|[1-9][0-9]+)(?![^\s,;)])")
"""Matches a standalone number after a space or an equals sign, not digits within a name, location, date or code."""
_PART = re.compile(r"\\(?P<escaped>.)|\{\d+(?:,\d*)?\}|(?P<any>\[\^?\]?(?:\\.|[^\]\\])*\])")
"""The parts of an expression whose digits are not literal text: escapes, repetitions, character sets."""
_ALL_DIGITS = re.compile(r"0-9|\\d")
_KNOWN = re.compile(r"\d{2,}")
_BINARY = frozenset("01")
_LONGEST = 1 << 13
"""A failure whose texts have more characters is not compared: such failures are rarely alike, and slow to compare."""
_MOST_VALUES = 1 << 10
"""Maximum number of cached values."""
_GAP = "\n\0\n"


class Likeness:
    """Finds failures that are alike.

    Args:
        entries: The patterns used to classify failures.
    """

    def __init__(self, entries: Sequence[RegistryEntry]) -> None:
        own = [entry.pattern for entry in entries if entry.user_written]
        self._compares = not any(map(_distinguishes_digits, _expressions(own)))
        """False if an expression of the project may require a certain digit; then no failures are compared."""
        expressions = _expressions(entry.pattern for entry in entries if not entry.user_written)
        self._letters_matter = bool(own)
        """Whether an expression may tell hexadecimal numbers apart by their letters; no built-in expression does."""
        self._known = {number for source in expressions for number in _KNOWN.findall(_bare(source))}
        self._kinds: dict[str, tuple[str, str]] = {}
        """Caches what `_kind` returns for a value."""

    def key(self, failure: Failure) -> Hashable | None:
        """Return a key that is equal for failures that are alike; None for a failure that must not be compared.

        Failures in a simulation are not compared: the tests of one simulation are judged together, and running them
        takes far longer than classifying them.
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
            failure.ran_simulator,
            *map(_shape, failure.excerpts),
        )

    def _kind(self, value: str) -> tuple[str, str]:
        """Return the kind of a value, and the value's digits without `0x` and leading zeros."""
        if len(self._kinds) >= _MOST_VALUES:
            self._kinds.clear()
        known = self._kinds[value] = self._kind_of(value), value.removeprefix("0x").lstrip("0").lower()
        return known

    def _kind_of(self, value: str) -> str:
        """Return the kind of a value, from its length and digits.

        A number that occurs in a pattern has a kind of its own.
        """
        if value.startswith("0x"):
            digits = value[2:]
            letters = f" {digits.isdecimal()} {digits.isupper()}" if self._letters_matter else ""
            return value if digits.startswith("0") else f"0x {len(value)}{letters}"
        if value in self._known:
            return value
        return f"{len(value)}{' binary' if _BINARY.issuperset(value) else ''}"


def _shape(excerpt: Excerpt) -> Hashable:
    """Return the source and the line numbers of an excerpt, in a form that is fast to compare."""
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
    """Return the literal text of an expression."""
    return _PART.sub(" ", source)


def _distinguishes_digits(source: str) -> bool:
    """Return whether an expression may match one number, and not another number of the same length."""
    parts = (part["escaped"] or _ALL_DIGITS.sub("", part["any"] or "") for part in _PART.finditer(source))
    return any(map(str.isdigit, "".join((_bare(source), *parts))))
