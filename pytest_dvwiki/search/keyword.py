"""Search without an index and without a library: the same ranking, made anew for every question."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_dvwiki.search.relevance import Statistics, ranked, score
from pytest_dvwiki.search.tokenizer import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.search.relevance import Ranking, Words


def rank(query: str, documents: Iterable[tuple[str, Words]]) -> Ranking:
    """Ranks documents by the words that they share with a query, a rare word counting more.

    Args:
        query: What is asked.
        documents: Each with its name.

    Returns:
        The documents that have a word of the query.
    """
    wanted = dict.fromkeys(tokens(query))
    if not wanted:
        return []
    # Of a document nothing is kept but what the query asks for.
    found = [
        (name, sum(words.values()), {word: words[word] for word in wanted if word in words})
        for name, words in documents
    ]
    frequency = Counter(word for _, _, words in found for word in words)
    mean = sum(length for _, length, _ in found) / max(1, len(found))
    statistics = Statistics(len(found), mean, frequency.__getitem__)
    return ranked((name, score(words, length, wanted, statistics)) for name, length, words in found)
