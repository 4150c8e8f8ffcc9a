"""Snippets: the excerpt of a text that best matches a query, with the query words marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.search.tokenizer import spans

if TYPE_CHECKING:
    from collections.abc import Collection

MARK = "**"
_LEAD = 40
"""Number of characters before the first marked word."""


def snippet(text: str, wanted: Collection[str], limit: int) -> str:
    """Cut a text to the section with the most query words, and mark these words.

    Args:
        text: One line.
        wanted: The words of the query. A longer word that contains one of them, such as `axi_burst` for `burst`, is
            marked as a whole.
        limit: Maximum length without the marks.

    Returns:
        The first section with the most query words, or the start of the text if it has no query word. A `…` shows where
        the text was cut.
    """
    hits = [(start, end, set(words).intersection(wanted)) for start, end, words in spans(text)]
    hits = [hit for hit in hits if hit[2]]
    begin = _best(hits, limit)
    stop = len(text)
    if begin:
        # Do not begin in the middle of a word.
        begin = text.find(" ", begin) + 1 or begin
    if stop - begin > limit:
        stop = begin + limit
        space = text.rfind(" ", begin, stop)
        stop = space if space > begin else stop
    inside = [(start, end) for start, end, _ in hits if begin <= start and end <= stop]
    return f"{'… ' if begin else ''}{_marked(text, begin, stop, inside)}{' …' if stop < len(text) else ''}"


def _best(hits: list[tuple[int, int, set[str]]], limit: int) -> int:
    """Return the start of the first section with the most distinct query words."""
    best, most = 0, 0
    for number, (start, _, _) in enumerate(hits):
        words: set[str] = set()
        for _, end, found in hits[number:]:
            if end - start > limit - _LEAD:
                break
            words |= found
        if len(words) > most:
            best, most = max(0, start - _LEAD), len(words)
    return best


def _marked(text: str, begin: int, stop: int, hits: list[tuple[int, int]]) -> str:
    parts = []
    for start, end in hits:
        parts += [text[begin:start], MARK, text[start:end], MARK]
        begin = end
    return "".join([*parts, text[begin:stop]])
