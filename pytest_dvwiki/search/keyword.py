"""Searches without an index and without bm25s. The ranking is the same, but it is computed for each query."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_dvwiki.search.relevance import Statistics, ranked, score
from pytest_dvwiki.search.tokenizer import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.search.relevance import Ranking, Words


def rank(query: str, documents: Iterable[tuple[str, Words]]) -> Ranking:
    """Rank documents by the query words they contain; rare words have more weight.

    Args:
        query: The words to look for.
        documents: The name and the word counts of each document.

    Returns:
        The documents with at least one query word, the best first.
    """
    wanted = dict.fromkeys(tokens(query))
    if not wanted:
        return []
    # Keep only the words of the query, to save memory.
    found = [
        (name, sum(words.values()), {word: words[word] for word in wanted if word in words})
        for name, words in documents
    ]
    frequency = Counter(word for _, _, words in found for word in words)
    mean = sum(length for _, length, _ in found) / max(1, len(found))
    statistics = Statistics(len(found), mean, frequency.__getitem__)
    return ranked((name, score(words, length, wanted, statistics)) for name, length, words in found)
