"""Blocks of text, and how they are fitted into a token budget."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.tokens import by_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.tokens import Count

MANY = 1000
"""If at least this many pages are left out, the note says `1000 or more` instead of the exact number."""
_GAP = 2  # two line feeds between blocks
_STEP = 8  # number of characters cut at a time from a header that is too long
_SPAN = re.compile(r"(?s)(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_TICKS = re.compile(r"`+")


class PromptBlock(Struct, frozen=True):
    """A search hit: a header, prose lines that can be dropped from the end, and an excerpt that is dropped first."""

    header: str
    lines: tuple[str, ...] = ()
    """Prose after the header."""
    excerpt: str = ""
    """The line that introduces a log excerpt, and the fenced excerpt."""

    def lengths(self, count: Count = by_rule) -> list[tuple[str, int]]:
        """Return shorter and shorter forms of the block, each with its number of tokens.

        The first form is complete, the second has no excerpt, and each further form has one line less.
        """
        forms = ("\n".join((self.header, *self.lines[:kept])) for kept in range(len(self.lines), -1, -1))
        found = [(text, count(text) + _GAP) for text in forms]
        if self.excerpt:
            prose, tokens = found[0]
            found.insert(0, (f"{prose}\n{self.excerpt}", tokens + count(self.excerpt) + 1))
        return found


class _Left(Struct, frozen=True):
    """The note on what was left out to fit a budget."""

    budget: int
    share: str
    """A note that the budget is a share of a larger budget; empty if it is not."""

    def note(self, left_out: int, shortened: int) -> str:
        count = f"{MANY} or more" if left_out >= MANY else str(left_out)
        pages = "1 page" if left_out == 1 else f"{count} pages"
        share = f", {self.share}" if self.share else ""
        return f"(budget of {self.budget} tokens{share}: {pages} left out, {shortened} shortened)"


def fit(blocks: Sequence[PromptBlock], budget: int, more: int = 0, count: Count = by_rule, *, share: str = "") -> str:
    """Join blocks as far as the budget allows.

    Args:
        blocks: The blocks, the best first.
        budget: Maximum number of tokens.
        more: Number of further hits without a block, to be reported as left out.
        count: Counts tokens.
        share: A note that the budget is a share of a larger budget; empty if it is not.

    Returns:
        Each block in the longest form that fits, then a line that says what was left out, if anything. If the best
        hit's header and that line do not fit, only the header is returned, cut if needed. If not even the page's name
        fits, the result is empty.
    """
    if not blocks:
        return ""
    return _within(budget, count, lambda room: _joined(blocks, _Left(budget, share), room, more, count))


def _joined(blocks: Sequence[PromptBlock], left: _Left, room: int, more: int, count: Count) -> str:
    room -= count(left.note(len(blocks) + more, len(blocks)))
    texts: list[str] = []
    shortened = 0
    for block in blocks:
        lengths = block.lengths(count)
        text, tokens = next((pair for pair in lengths if pair[1] <= room), ("", 0))
        if not text:
            if not texts:
                return cut(block.header, left.budget, count)
            continue
        shortened += text != lengths[0][0]
        texts.append(text)
        room -= tokens
    left_out = len(blocks) - len(texts) + more
    if left_out or shortened:
        texts.append(left.note(left_out, shortened))
    return "\n\n".join(texts)


def fit_table(header: str, rows: Sequence[str], budget: int, count: Count = by_rule, *, share: str = "") -> str:
    """Return a table with as many rows as the budget allows.

    Args:
        header: The first two lines of the table.
        rows: The rows, the best first.
        budget: Maximum number of tokens.
        count: Counts tokens.
        share: A note that the budget is a share of a larger budget; empty if it is not.

    Returns:
        The rows that fit, then a line that says how many were left out, if any. If the header and the first row do not
        fit, only that row is returned, cut if needed. Without rows, the result is empty.
    """
    if not rows:
        return ""
    return _within(budget, count, lambda room: _rows(header, rows, _Left(budget, share), room, count))


def _rows(header: str, rows: Sequence[str], left: _Left, room: int, count: Count) -> str:
    texts = [header]
    room -= count(header) + count(f"\n\n{left.note(len(rows), 0)}")
    for row in rows:
        room -= count(f"\n{row}")
        if room < 0:
            break
        texts.append(row)
    if len(texts) == 1:
        return cut(rows[0], left.budget, count)
    left_out = len(rows) - len(texts) + 1
    table = "\n".join(texts)
    return f"{table}\n\n{left.note(left_out, 0)}" if left_out else table


def _within(budget: int, count: Count, make: Callable[[int], str]) -> str:
    """Call `make` with smaller and smaller budgets until its text fits the given budget.

    One call may not be enough, because a tokenizer can count more tokens for joined text than for its parts.
    """
    room = budget
    while (excess := count(text := make(room)) - budget) > 0:
        room -= excess
    return text


def cut(header: str, budget: int, count: Count) -> str:
    """Return a header, cut to a budget and with its code span closed; empty if not even the first word fits."""
    if count(header) <= budget:
        return header
    name = header.partition(" ")[0]
    while len(header) > len(name) and count(_with_ellipsis(header)) > budget:
        header = header[:-_STEP]
    if len(header) > len(name):
        return _with_ellipsis(header)
    return name if count(name) <= budget else ""


def _with_ellipsis(text: str) -> str:
    """Append an ellipsis to text that was cut, and close an open code span."""
    opened = _TICKS.search(_SPAN.sub("", text))
    return f"{text}…{opened[0] if opened else ''}"
