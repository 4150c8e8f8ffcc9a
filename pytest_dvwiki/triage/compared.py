"""Finds the values that a check compared, values with unknown bits, and the first difference between two sequences."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LONG = 200
"""Messages with more characters are shown with their sequences shortened to the first difference."""
_SHOWN = 3
"""Number of items shown of a shortened sequence."""
_CONTINUED = 6
"""Number of lines below an exception to search for the compared values."""

_OBJECT = re.compile(r"<[\w.]+(?:: | object at | )[^<>]{0,200}>")
"""An enumeration value or object, as printed by Python."""
_TOKEN = re.compile(
    r"""(?P<string>[rbfu]{0,2}(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)"""
    r"""|(?P<operator>==|!=|<=|>=|<|>|\b(?:not\s+)?in\b|\bis\b(?!\s+(?:not\s+)?None\b)(?:\s+not\b)?)|(?P<for>\bfor\b)"""
    r"""|(?P<word>\b(?:not|and|or|None|True|False|await|if|else|assert|is)\b)|(?P<name>[A-Za-z_]\w*)""",
    re.VERBOSE,
)
_DESIGN = re.compile(r"\.value\b|\bdut\.|\b(?:LogicArray|Logic|BinaryValue|LogicObject)\(")

_TYPED = re.compile(
    r"\b(?:Logic(?:Array)?|BinaryValue|BitVector)\(\s*['\"]?[01_]*[xXzZuUwW]"
    r"|(?<![\w'])\d*'[sS]?[bBoOdDhH] ?[0-9a-fA-F_?]*[xXzZ][0-9a-fA-FxXzZ_?]*(?!\w)"
    r"|(?<![\w.])0[xXbB][0-9a-fA-F_]*[xXzZ][0-9a-fA-FxXzZ_]*(?!\w)"
)
"""An unknown value, recognised by its type or base."""
_VALUE = re.compile(
    r"(?:\b(?:expected|expect|exp|got|actual|act|was|is|were|received|reads?|returned|found|saw|sampled|observed"
    r"|instead of|but(?: (?:got|was|is|read|received|found|saw))?"
    r"|versus|vs\.?|ref|golden|model|dut|value|result|data|assert)(?:_\w{1,30})? ?[:=]?|[=!]=|=)"
    r"[ :=]{0,3}['\"(\[]{0,2}-?(?P<value>[0-9a-zA-Z_]{1,256})(?![\w.])(?=(?P<rest>.{0,16}))",
    re.IGNORECASE,
)
"""Matches a value in the message of a check."""
_BITS = re.compile(r"(?=[01_]*[xzuw])[01xzuw_]{2,}", re.IGNORECASE)
_NUMBER = re.compile(r"0x[0-9a-fA-F_]+")
_PLAIN = 4
"""Minimum number of digits with which a bit string that includes an X or Z is a value in any context."""
_DIGITS = re.compile(r"(?=[0-9a-f]*[xz])[0-9a-fxz]+", re.IGNORECASE)
_ENDS = re.compile(
    r"['\")\]\s]*(?:$|[,;:(|]|(?:got|but|actual|act|instead|expected|exp|vs|versus|Time|at|while)\b)", re.IGNORECASE
)
"""Matches what follows a single letter if the letter is a value and not a name."""
_ASSIGNS = re.compile(r" ?=(?!=)")
"""The equals sign between a name and its value."""

_SEQUENCE = re.compile(
    r"\[[^\[\]]{40,}\]|\((?=[^()]*,)[^()]{40,}\)|b'(?:[^'\\]|\\.){40,}'|b\"(?:[^\"\\]|\\.){40,}\""
    r"|'(?:[^'\\]|\\.){40,}'|\b0x[0-9a-fA-F_]{24,}|\b[01xXzZ]{40,}\b"
)
_COMPARING = re.compile(
    r"[=!]==?|<>|\b(?:expect\w*|exp|got|actual|act|received|returned|found|read|was|is|but|not|vs|versus|instead|ref|reference"
    r"|golden|model|dut)\b",
    re.IGNORECASE,
)
"""Matches the words between two values that a message compares."""
_DIFFERENT = re.compile(r"\b(?:differ\w*|mismatch\w*|unequal|not (?:equal|the same))\b", re.IGNORECASE)
"""Matches a message that says that its two values differ."""
_AT_INDEX = re.compile(r"^(?:E\s+)?\s*At index (?P<index>\d+) diff: (?P<values>.{1,300})$")
_ASSERT = re.compile(r"^(?:E\s+)?\s*assert (?P<values>\S.*)$")
_TRACEBACK = re.compile(r"\s*(?:Traceback \(most recent call last\)|File \"|> )")
"""Prefix of lines that show source code instead of values."""
_ITEM = re.compile(r"\\x[0-9a-fA-F]{2}|\\.|.", re.DOTALL)


def compares(assertion: str, *, shown: bool) -> bool:
    """Return whether the condition of an assertion compares two values.

    Args:
        assertion: The statement from `assert` on, or its rewritten form.
        shown: Whether `assertion` is the rewritten form, with values in place of names. A statement without names
            compares nothing.
    """
    depth = 0
    in_loop: list[int] = []
    named = compared = False
    for token in _TOKEN.finditer(_OBJECT.sub("V", assertion.strip().removeprefix("assert"))):
        kind = token.lastgroup
        if kind == "comma" and depth == 0:
            break
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "for":
            in_loop.append(depth)
        elif kind == "operator":
            if token[0] == "in" and in_loop and in_loop[-1] == depth:
                in_loop.pop()
            elif not _is_of_none(assertion, token[0]):
                compared = True
        named = named or kind == "name"
    return compared and (shown or named)


def _is_of_none(assertion: str, operator: str) -> bool:
    """Return whether an operator in an assertion compares with None."""
    return re.search(rf"{re.escape(operator)}\s+None\b", assertion) is not None


def is_of_design(text: str) -> bool:
    """Return whether a text shows a value of the design, recognised by its type or handle."""
    return _DESIGN.search(text) is not None


def shows_unknown(text: str) -> bool:
    """Return whether a comparison message shows a value with unknown bits, such as X or Z.

    Without a type or base, a word counts as a value if it is clearly a bit string, or if the other value has as many
    digits, all known; otherwise it is a name, such as `x86` or `10x`. The part before an equals sign is also a name: in
    `expected x2=58`, `x2` is a register. A single X or Z next to a number of any length is a decimal value without a
    known bit.
    """
    if _TYPED.search(text):
        return True
    found_values = ((found["value"], found["rest"]) for found in _VALUE.finditer(text))
    values = [(value, rest) for value, rest in found_values if not _ASSIGNS.match(rest)]
    known = {len(value) for value, _ in values if all(digit in "0123456789abcdefABCDEF" for digit in value)}
    return any(_is_unknown(value, rest, known) for value, rest in values)


def _is_unknown(value: str, rest: str, known: set[int]) -> bool:
    """Return whether a value has unknown bits, given the numbers of digits of the known values beside it."""
    like = len(value) in known
    if len(value) == 1:
        beside = bool(known) if value in "xXzZ" else value == "U" and like
        return beside and _ENDS.match(rest) is not None
    if _NUMBER.fullmatch(value):
        return False
    if _BITS.fullmatch(value):
        return like or len(value) >= _PLAIN or set(value.lower()) in ({"x"}, {"z"})
    return like and _DIGITS.fullmatch(value) is not None


def values_below(lines: Sequence[tuple[int, str]], line: int) -> tuple[str, str]:
    """Return the values in the lines below an exception.

    Args:
        lines: Numbered lines.
        line: Number of the exception's line.

    Returns:
        The rewritten assertion, and the first difference that pytest found; each is "" if missing.
    """
    values = difference = ""
    for text in _below(lines, line):
        if not values and (found := _ASSERT.match(text)):
            shown = f"assert {found['values'].strip()}"
            values = shown if compares(shown, shown=True) else ""
        elif found := _AT_INDEX.match(text):
            difference = f"first difference at index {found['index']}: {found['values'].strip()}"
            break
    return values, difference


def _below(lines: Iterable[tuple[int, str]], line: int) -> Iterator[str]:
    for number, text in lines:
        if number > line and (number > line + _CONTINUED or _TRACEBACK.match(text)):
            return
        if number > line:
            yield text


def shortened(text: str) -> str:
    """Return a long message with its sequences cut short, and with the first difference between compared sequences.

    Differences are shown only for sequences that the message compares; others, such as data and key, always differ.
    """
    if len(text) <= LONG:
        return text
    found = list(_SEQUENCE.finditer(text))
    differ = len(found) == 2 and _DIFFERENT.search(text) is not None  # noqa: PLR2004
    pair = next(((one, two) for one, two in pairwise(found) if differ or _are_compared(one, two, text)), None)
    if pair is None or pair[0][0][0] != pair[1][0][0]:
        return text
    if any("..." in each[0] or "…" in each[0] for each in found):
        return text  # neither the index nor the lengths are known
    one, two = (_items(each[0]) for each in pair)
    at = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    if at < min(len(one), len(two)):
        what = f", first difference at index {at}: {one[at]} and {two[at]}"
    elif len(one) != len(two):
        what = f", the first {at} are equal"
    else:
        return text
    parts, end = [], 0
    for each in found:
        parts += [text[end : each.start()], _brief(each[0], _items(each[0])), what if each is pair[1] else ""]
        end = each.end()
    return "".join((*parts, text[end:]))


def _are_compared(one: re.Match[str], two: re.Match[str], text: str) -> bool:
    """Return whether a message compares two sequences of the same kind."""
    return one[0][0] == two[0][0] and _COMPARING.search(text, one.end(), two.start()) is not None


def _items(sequence: str) -> list[str]:
    """Return the items of a printed sequence: list elements, or characters of a string."""
    if sequence[0] in "[(":
        return [item.strip() for item in sequence[1:-1].split(",")]
    if sequence.startswith(("b'", 'b"', "'")):
        return _ITEM.findall(sequence.lstrip("b")[1:-1])
    return list(sequence.removeprefix("0x"))


def _brief(sequence: str, items: list[str]) -> str:
    """Return a sequence as text: its first items or characters, and its length."""
    if sequence[0] in "[(":
        return f"{sequence[0]}{', '.join(items[:_SHOWN])}, … {len(items)} items{sequence[-1]}"
    start = sequence[: 8 + len(sequence) - len(sequence.removeprefix("0x"))]
    return f"{start}… ({len(items)} digits)" if sequence[-1] not in "'\"" else f"{start}… ({len(items)} characters)"
