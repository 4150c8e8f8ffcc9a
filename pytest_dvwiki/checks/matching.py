"""Compares extracted values with the patterns and waivers of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.expressions import ExpressionError, compile_re2, glob

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_dvwiki.expressions import Expression

_REGEX = "regex:"
_SPECIAL = frozenset("*?")


class ValuePattern:
    """Alternatives separated by `|`, of which a value must match at least one.

    An alternative with `*` or `?` is a glob for the whole value. Any other alternative must be a substring of the
    value. After `regex:`, everything is one expression that may match anywhere in the value.

    Raises:
        ExpressionError: An alternative is empty, or RE2 does not accept the expression.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._searches = [_search(each) for each in _alternatives(text)]

    def matches(self, value: str) -> bool:
        """Return whether a value matches any alternative."""
        return any(each in value if isinstance(each, str) else each.search(value) for each in self._searches)


def _alternatives(text: str) -> Iterator[str]:
    while not text.startswith(_REGEX):
        one, bar, text = text.partition("|")
        yield one.strip()
        if not bar:
            return
    yield text


def _search(alternative: str) -> Expression | str:
    """Return an alternative compiled, if it is a glob or begins with `regex:`; else the alternative as a substring."""
    if not alternative.removeprefix(_REGEX):
        raise ExpressionError("an empty alternative matches every value; remove it")
    if alternative.startswith(_REGEX):
        return compile_re2(alternative.removeprefix(_REGEX))
    return alternative if _SPECIAL.isdisjoint(alternative) else glob(alternative)


def search_for(waiver: str) -> Expression:
    """Return the expression of a waiver: a glob for the whole string or, after `regex:`, a regex anchored at its start.

    Raises:
        ExpressionError: RE2 does not accept the expression.
    """
    if not waiver.startswith(_REGEX):
        return glob(waiver)
    source = waiver.removeprefix(_REGEX)
    compile_re2(source)  # an error message then gives the position in the expression as it was written
    return compile_re2(rf"\A(?:{source})")


class LineWaiver(Struct, frozen=True):
    """An entry of `waive_items`."""

    text: str
    line: int
    """Line of the entry in the file of the check."""
    search: Expression | None
    """Matches the names and values to accept; None in a global waiver, where entries are reasons."""

    def accepts(self, texts: Iterable[str]) -> bool:
        """Return whether the waiver accepts any of the strings."""
        return any(text == self.text or (self.search is not None and self.search.search(text)) for text in texts)
