"""Compares extracted values with the patterns and waivers of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.expressions import ExpressionError, given, glob

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_dvwiki.expressions import Expression

_REGEX = "regex:"
_SPECIAL = frozenset("*?")


class ValuePattern:
    """Alternatives separated by `|`; a value must match one of them.

    An alternative with `*` or `?` is a glob for the whole value; any other alternative is a text that the value must
    contain. All text after `regex:` is one expression, which may match anywhere in the value.

    Raises:
        ExpressionError: An alternative is empty, or RE2 does not accept the expression.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._searches = [_search(each) for each in _alternatives(text)]

    def matches(self, value: str) -> bool:
        """Tell whether a value matches an alternative."""
        return any(each in value if isinstance(each, str) else each.search(value) for each in self._searches)


def _alternatives(text: str) -> Iterator[str]:
    while not text.startswith(_REGEX):
        one, bar, text = text.partition("|")
        yield one.strip()
        if not bar:
            return
    yield text


def _search(alternative: str) -> Expression | str:
    """Return the expression for a glob or after `regex:`; for any other alternative, the text a value must contain."""
    if not alternative.removeprefix(_REGEX):
        raise ExpressionError("an empty alternative matches every value; remove it")
    if alternative.startswith(_REGEX):
        return given(alternative.removeprefix(_REGEX))
    return alternative if _SPECIAL.isdisjoint(alternative) else glob(alternative)


def search_for(waiver: str) -> Expression:
    """Return the expression of a waiver: a glob for the whole text, or, after `regex:`, one for the text's start.

    Raises:
        ExpressionError: RE2 does not accept the expression.
    """
    if not waiver.startswith(_REGEX):
        return glob(waiver)
    source = waiver.removeprefix(_REGEX)
    given(source)  # an error message then gives the position in the expression as it was written
    return given(rf"\A(?:{source})")


class LineWaiver(Struct, frozen=True):
    """An entry of `waive_items`."""

    text: str
    line: int
    """Line of the entry in the file of the check."""
    search: Expression | None
    """Matches the names and values that the waiver accepts; None in a global waiver, whose entries are reasons."""

    def accepts(self, texts: Iterable[str]) -> bool:
        """Tell whether the waiver accepts one of the texts."""
        return any(text == self.text or (self.search is not None and self.search.search(text)) for text in texts)
