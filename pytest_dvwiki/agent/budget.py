"""Blocks of text within a budget of tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_dvwiki.agent.tokens import by_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.agent.tokens import Count

_GAP = 2  # two line feeds between blocks
_STEP = 8  # characters by which a header that is too long is cut
_SPAN = re.compile(r"(?s)(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Block:
    """One hit: a header that stays, prose that may go line by line from its end, an excerpt that goes first."""

    header: str
    lines: tuple[str, ...] = ()
    """Prose that follows the header."""
    excerpt: str = ""
    """Fenced log text after the line that names it."""

    def lengths(self, count: Count = by_rule) -> list[tuple[str, int]]:
        """The block whole, without its excerpt, then with ever fewer lines of prose, each with its tokens."""
        forms = ("\n".join((self.header, *self.lines[:kept])) for kept in range(len(self.lines), -1, -1))
        found = [(text, count(text) + _GAP) for text in forms]
        if self.excerpt:
            prose, tokens = found[0]
            found.insert(0, (f"{prose}\n{self.excerpt}", tokens + count(self.excerpt) + 1))
        return found


@dataclass(frozen=True, slots=True)
class _Left:
    """Says what a budget left out."""

    budget: int
    share: str
    """What it is a share of, and for what; empty where it is the whole."""

    def told(self, left_out: int, shortened: int) -> str:
        pages = "1 page" if left_out == 1 else f"{left_out} pages"
        share = f", {self.share}" if self.share else ""
        return f"(budget of {self.budget} tokens{share}: {pages} left out, {shortened} shortened)"


def fit(blocks: Sequence[Block], budget: int, more: int = 0, count: Count = by_rule, *, share: str = "") -> str:
    """Joins blocks as far as a budget goes.

    Args:
        blocks: The best first.
        budget: Tokens.
        more: Hits beyond the blocks, which are left out in any case.
        count: Counts tokens.
        share: What the budget is a share of, and for what, where it is not the whole.

    Returns:
        Each block in the longest form that fits; the last line says what was left out. A budget too small for the best
        hit's header and that line gives the header, cut if need be; empty where not even the page's name fits.
    """
    if not blocks:
        return ""
    return _within(budget, count, lambda room: _joined(blocks, _Left(budget, share), room, more, count))


def _joined(blocks: Sequence[Block], left: _Left, room: int, more: int, count: Count) -> str:
    room -= count(left.told(len(blocks) + more, len(blocks)))
    texts: list[str] = []
    shortened = 0
    for block in blocks:
        lengths = block.lengths(count)
        text, tokens = next((pair for pair in lengths if pair[1] <= room), ("", 0))
        if not text:
            if not texts:
                return _cut(block.header, left.budget, count)
            continue
        shortened += text != lengths[0][0]
        texts.append(text)
        room -= tokens
    left_out = len(blocks) - len(texts) + more
    if left_out or shortened:
        texts.append(left.told(left_out, shortened))
    return "\n\n".join(texts)


def fit_table(header: str, rows: Sequence[str], budget: int, count: Count = by_rule, *, share: str = "") -> str:
    """A table as far as a budget goes.

    Args:
        header: Its first two lines.
        rows: The best first.
        budget: Tokens.
        count: Counts tokens.
        share: What the budget is a share of, and for what, where it is not the whole.

    Returns:
        As many rows as fit, and a last line that says how many were left out. A budget too small for the first row with
        the header gives the row alone, cut if need be; empty where there are no rows.
    """
    if not rows:
        return ""
    return _within(budget, count, lambda room: _rows(header, rows, _Left(budget, share), room, count))


def _rows(header: str, rows: Sequence[str], left: _Left, room: int, count: Count) -> str:
    texts = [header]
    room -= count(header) + count(f"\n\n{left.told(len(rows), 0)}")
    for row in rows:
        room -= count(f"\n{row}")
        if room < 0:
            break
        texts.append(row)
    if len(texts) == 1:
        return _cut(rows[0], left.budget, count)
    left_out = len(rows) - len(texts) + 1
    table = "\n".join(texts)
    return f"{table}\n\n{left.told(left_out, 0)}" if left_out else table


def _within(budget: int, count: Count, make: Callable[[int], str]) -> str:
    """The longest text that keeps a budget, made of parts that do.

    Parts put together may cost a tokeniser more than they do one by one; then there is less room for them.
    """
    room = budget
    while (excess := count(text := make(room)) - budget) > 0:
        room -= excess
    return text


def _cut(header: str, budget: int, count: Count) -> str:
    if count(header) <= budget:
        return header
    name = header.partition(" ")[0]
    while len(header) > len(name) and count(_ended(header)) > budget:
        header = header[:-_STEP]
    if len(header) > len(name):
        return _ended(header)
    return name if count(name) <= budget else ""


def _ended(text: str) -> str:
    """A text that was cut, with the end of the code span in which it was."""
    opened = _TICKS.search(_SPAN.sub("", text))
    return f"{text}…{opened[0] if opened else ''}"
