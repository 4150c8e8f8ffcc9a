r"""Regular expressions written by people, matched by RE2 in time linear in the length of the text.

A file in a pull request can contain any expression, and `re` takes exponential time for some, such as `(a+)+$`. On
ASCII lines, RE2 finds the same matches as `re`, with two exceptions:

* `$` matches at the end of the text only; `re` also matches it before a final line feed.
* `\s` does not match a vertical tab.

On other lines, `\d`, `\w`, `\s` and `\b` still know only ASCII characters.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Protocol

import msgspec

from pytest_dvwiki.redact import two_ends

LONGEST = 4096
"""Maximum number of characters searched in a line; of a longer line, the first and last `LONGEST // 2`."""
_MEMORY = 16 << 20
"""Memory limit for one RE2 expression, in bytes."""
_REMEDIES = (
    (r"\(\?<?[=!]", "{} (a look-around)", "match the text around it in the same expression, or in a second one"),
    (r"\\[1-9]|\(\?P=\w*\)?", "{} (a back reference)", "list the texts that can be there, as in (?:one|two)"),
    (r"\(\?>", "{} (an atomic group)", "write (?:"),
    (r"\(\?\(", "{} (a condition)", "write two expressions"),
    (r"\(\?#", "{} (a comment)", "leave it out; YAML has comments"),
    (r"(?<!\\)(?:[*+?]|\{\d*,?\d*\})\+", "{} (a possessive repeat)", "leave the last + out"),
    (r"(?<!\\)(?:[*+]|\{\d*,?\d*\})[*+{]", "{} (a repeat of a repeat)", "put a group (?:…) between them"),
    (r"\\Z", r"{}", "write $"),
    (r"\\[uUN]", "{} (an escape by number or name)", "write the character itself"),
)
"""Constructs that `re` supports but RE2 does not. Each has an expression that finds it, its name, and a remedy."""


class ExpressionError(ValueError):
    """An invalid expression. The message has the reason and says what to write instead."""


class FirstMatch(msgspec.Struct, frozen=True):
    """The first match of an expression."""

    start: int
    groups: dict[str, str]
    """The named groups that matched."""


class Expression(Protocol):
    """A compiled expression."""

    def search(self, text: str) -> FirstMatch | None:
        """Return the first match, or None."""


class Re2Expression:
    """An expression compiled by RE2."""

    __slots__ = ("_expression", "_groups", "names")

    def __init__(self, expression: Any) -> None:
        self._expression = expression
        self._groups = tuple(expression.groupindex.items())
        self.names = tuple(name for name, _ in self._groups)
        """The names of the expression's named groups."""

    def search(self, text: str) -> FirstMatch | None:
        """Return the first match, or None."""
        text = two_ends(text, LONGEST)
        data = text.encode("utf-8", "replace")
        found = self._expression.search(data)
        if found is None:
            return None
        groups = ((name, found[number]) for name, number in self._groups)
        return FirstMatch(
            start=found.start() if len(data) == len(text) else len(data[: found.start()].decode("utf-8", "replace")),
            groups={name: value.decode("utf-8", "replace") for name, value in groups if value is not None},
        )


@functools.lru_cache(maxsize=1024)
def compile_re2(source: str) -> Re2Expression:
    """Compile an expression for RE2, usually one that a person wrote.

    Raises:
        ExpressionError: RE2 does not accept the expression.
    """
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415  # takes 12 ms; loaded only where an expression is given

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return Re2Expression(re2.compile(source, options))
    except UnicodeEncodeError:
        raise ExpressionError("it contains an unpaired surrogate; type it again") from None
    except re2.error as error:
        words = error.args[0] if error.args else ""
        reason = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
        raise ExpressionError(_explained(source, reason)) from None


def glob(source: str) -> Re2Expression:
    """Compile a glob. Only `*` and `?` are special: `[` occurs in names of parametrized tests."""
    parts = (".*" if each == "*" else "." if each == "?" else re.escape(each) for each in re.sub(r"\*+", "*", source))
    return compile_re2(rf"(?s)\A{''.join(parts)}\z")


def _explained(source: str, reason: str) -> str:
    """Return a message about an invalid expression: RE2's reason or the unsupported construct, and a remedy."""
    if "repetition size" in reason:
        return f"{reason}; use m <= n <= 1000 (for nested repeats, their product), or * or +"
    for construct, name, remedy in _REMEDIES:
        found = re.search(construct, source)
        if found:
            return f"{name.format(found[0])} at {found.start()} is not supported by RE2; {remedy}"
    if "too large" in reason:
        return "it expands too far; use fewer or smaller repeats {m,n}"
    return f"{reason or 'wrong syntax'}; correct it, or put a \\ before each special character that is meant literally"
