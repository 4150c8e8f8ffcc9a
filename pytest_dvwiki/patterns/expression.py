r"""Check the syntax of a pattern's expression, and extract the literals used to find candidates.

Only syntax with the same meaning in Hyperscan, RE2 and `re` is allowed: literals, classes, `. * + ? {m,n}`, groups,
`(?P<name>)`, `(?:)`, `(?i)` at the start, `|`, `^ $ \b \d \w \s` and their opposites.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.expressions import ExpressionError
from pytest_dvwiki.patterns import search

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ALTERNATIVES = 64
"""Maximum number of strings that a part of an expression may match to be treated as literal."""
WIDEST_CLASS = 4
"""Size of the largest character class that is expanded, such as `[EF]` into E and F."""
LONGEST_REPEAT = 1000
SHORTEST_LITERAL = 3
_CLASSES = "dDwWsS"
_CONTROLS = {"t": "\t"}


class _Part(msgspec.Struct, frozen=True):
    """Properties of a part of an expression."""

    shortest: int
    """Length of the shortest match."""
    texts: tuple[str, ...] = ()
    """All strings that the part can match, in lower case; empty if there are too many."""
    needs: tuple[tuple[str, ...], ...] = ()
    """Sets of literals; every match contains at least one literal of each set."""

    def all_needs(self) -> tuple[tuple[str, ...], ...]:
        """Return `needs`, and `texts` as a further set unless the part can match the empty string."""
        return (*self.needs, self.texts) if self.texts and all(self.texts) else self.needs


Needs = tuple[tuple[str, ...], ...]
"""Sets of lower-case literals, most selective first; every match contains at least one literal of each set."""


def check(source: str, *, needs_literal: bool = True, user_written: bool = True) -> Needs:
    """Check the syntax of an expression.

    Args:
        source: The expression.
        needs_literal: Whether the expression must contain a literal to scan for.
        user_written: Whether a user wrote the expression, so that RE2 has to accept it; built-in ones are for `re`.

    Returns:
        The sets of literals: the expression is tried only on texts with a literal of each set.

    Raises:
        ExpressionError: The syntax is not allowed; the message gives the problem and its position.
    """
    if user_written:
        search.compiled_by_re2(source)
    parser = _Parser(source)
    whole = parser.parse()
    if not user_written:
        search.compiled(source)
    if whole.shortest == 0:
        raise ExpressionError("matches the empty string; add a part that is required")
    needs = {literals for literals in whole.all_needs() if min(map(len, literals)) >= SHORTEST_LITERAL}
    if needs_literal and not needs:
        raise ExpressionError(f"needs a literal of at least {SHORTEST_LITERAL} characters outside optional parts")
    return tuple(sorted(needs, key=lambda literals: (-_worth(literals), literals)))


def _worth(literals: tuple[str, ...]) -> float:
    """Return how selective a set of literals is: long and few literals are best."""
    return min(map(len, literals)) - len(literals) / 8


class _Parser:
    """A recursive-descent parser for the allowed syntax."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

    def parse(self) -> _Part:
        if self.source.startswith("(?i)"):
            self.at = 4
        part = self._alternation()
        if self.at < len(self.source):
            raise ExpressionError(f"unbalanced ) at {self.at}; write \\) for the character")
        return part

    def _alternation(self) -> _Part:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        shortest = min(branch.shortest for branch in branches)
        if all(branch.texts for branch in branches):
            texts = _union(branch.texts for branch in branches)
            if len(texts) <= MOST_ALTERNATIVES:
                return _Part(shortest, texts=texts)
        best = [max(branch.all_needs(), key=_worth, default=()) for branch in branches]
        return _Part(shortest, needs=(_union(best),) if all(best) else ())

    def _sequence(self) -> _Part:
        shortest, pure = 0, True
        run: tuple[str, ...] = ("",)
        needs: list[tuple[str, ...]] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            part = self._repeated()
            shortest += part.shortest
            if part.texts and len(run) * len(part.texts) <= MOST_ALTERNATIVES:
                run = tuple(head + tail for head in run for tail in part.texts)
                continue
            pure = False
            if all(run):
                needs.append(run)
            needs.extend(part.needs)
            # The next part can still be joined to this one, but not to the parts before it.
            run = part.texts or ("",)
        if pure:
            return _Part(shortest, texts=_union([run]))
        if all(run):
            needs.append(run)
        return _Part(shortest, needs=tuple(needs))

    def _repeated(self) -> _Part:
        part = self._atom()
        low, high = self._repeat()
        if (low, high) == (1, 1):
            return part
        # Lazy repetition is allowed, since engines only find candidates. Not all engines know possessive repetition.
        self._take("?")
        if self.source[self.at : self.at + 1] in {"+", "*"}:
            raise ExpressionError(f"repeat of a repeat at {self.at}; put a group (?:…) between them")
        if (low, high) == (0, 1) and part.texts and len(part.texts) < MOST_ALTERNATIVES:
            return _Part(0, texts=_union([part.texts, ("",)]))
        return _Part(part.shortest * low, needs=part.all_needs() if low else ())

    def _repeat(self) -> tuple[int, int | None]:
        if self._take("*"):
            return 0, None
        if self._take("+"):
            # A literal that can repeat is not joined to the literal after it, because further copies may be in between.
            return 1, None
        if self._take("?"):
            return 0, 1
        found = re.compile(r"\{(\d+)(,(\d*))?\}").match(self.source, self.at)
        if found is None:
            return 1, 1
        low = int(found[1])
        high = low if found[2] is None else int(found[3]) if found[3] else None
        if max(low, high or 0) > LONGEST_REPEAT:
            raise ExpressionError(f"repeats more than {LONGEST_REPEAT} times at {self.at}; write * or +")
        self.at = found.end()
        return low, high

    def _atom(self) -> _Part:
        char = self.source[self.at]
        self.at += 1
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape()
        if char == ".":
            return _Part(1)
        if char in "^$":
            return _NOTHING
        if char in "*+?":
            raise ExpressionError(f"nothing to repeat at {self.at - 1}; write \\{char} for the character")
        return _literal(char)

    def _group(self) -> _Part:
        if self._take("?"):
            name = re.compile(r"P<[A-Za-z_]\w*>|:").match(self.source, self.at)
            if name is None:
                raise ExpressionError(
                    f"(?{self.source[self.at : self.at + 2]} at {self.at - 2} is not allowed: only (?:…), (?P<name>…), "
                    "and (?i) at the start"
                )
            self.at = name.end()
        part = self._alternation()
        if not self._take(")"):
            raise ExpressionError("missing ); write \\( for the character")
        return part

    def _escape(self) -> _Part:
        char = self.source[self.at : self.at + 1]
        self.at += 1
        if not char:
            raise ExpressionError("ends in a backslash; write two for the character")
        if char in _CLASSES:
            return _Part(1)
        if char == "b":
            return _NOTHING
        if char in _CONTROLS:
            return _literal(_CONTROLS[char])
        if char.isalnum():
            raise ExpressionError(f"\\{char} at {self.at - 2} is not allowed; write out the characters that it matches")
        return _literal(char)

    def _class(self) -> _Part:
        found = re.compile(r"\^?\]?(?:\\.|[^\]\\])*\]").match(self.source, self.at)
        if found is None:
            raise ExpressionError(f"missing ] for [ at {self.at - 1}; write \\[ for the character")
        body = found[0][:-1]
        if "[:" in body:
            raise ExpressionError(f"[: in a class at {self.at - 1} is not allowed; write its characters, as in [a-z]")
        self.at = found.end()
        # To a scan in lower case, [Ee] is one letter, and [EF] is two.
        letters = tuple(dict.fromkeys(body.lower()))
        if len(letters) <= WIDEST_CLASS and all(map(_is_plain, body)) and not {"^", "\\", "-"} & set(letters):
            return _Part(1, texts=letters)
        return _Part(1)

    def _take(self, char: str) -> bool:
        if self.source.startswith(char, self.at):
            self.at += 1
            return True
        return False


_NOTHING = _Part(0, texts=("",))
"""A part that matches no characters, such as `^`."""


def _literal(char: str) -> _Part:
    return _Part(1, texts=(char.lower(),) if _is_plain(char) else ())


def _is_plain(char: str) -> bool:
    """Return whether a scan can search for a character. A scan reads bytes, and ignores the case of ASCII letters only.

    A Latin-1 character may be encoded as Latin-1 or UTF-8, any other character only as UTF-8.
    """
    return char.isascii() or (char > "\xff" and char.lower() == char.upper())


def _union(sets: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for texts in sets for text in texts))
