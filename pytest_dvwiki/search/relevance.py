"""Relevance of a document to a query: Lucene's variant of BM25, with the constants of bm25s for all backends.

A document maps each word to a count: the number of occurrences, or more for a word at a prominent position.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pytest_dvwiki.search.tokenizer import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Words = Mapping[str, int]
Ranking = list[tuple[str, float]]
"""Document names with scores, sorted by score (highest first), then by name."""
_SATURATION = 1.5
_LENGTH = 0.75
DIGITS = 4
"""Number of decimals in a score."""


class Statistics(NamedTuple):
    """The properties of the whole set of documents that scores depend on."""

    documents: int
    """Number of documents."""
    mean_length: float
    frequency: Callable[[str], int]
    """Returns the number of documents with a given word."""


def score(words: Words, length: float, wanted: Iterable[str], statistics: Statistics) -> float:
    """Return the relevance of one document to a query.

    Args:
        words: The words of the document; words that are not in the query can be omitted.
        length: The sum of all word counts of the document.
        wanted: The distinct words of the query.
        statistics: The statistics of all documents.

    Returns:
        The score; 0 if the document contains none of the words.
    """
    share = _SATURATION * (1 - _LENGTH + _LENGTH * length / (statistics.mean_length or 1.0))
    found = ((word, words[word]) for word in wanted if word in words)
    return sum(
        _worth(statistics.frequency(word), statistics.documents) * count / (count + share) for word, count in found
    )


def _worth(frequency: int, documents: int) -> float:
    """Return the weight of a word, given the number of documents with it and in total."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def ranked(scores: Iterable[tuple[str, float]]) -> Ranking:
    """Return the documents sorted by score; documents with a score of 0 are left out."""
    # Sort by name (nearly sorted already), then by score; the sort is stable, so equal scores stay in order of name.
    found = sorted((name, round(value, DIGITS)) for name, value in scores if value > 0)
    found.sort(key=itemgetter(1), reverse=True)
    return found


def rank(query: str, documents: Iterable[tuple[str, Words]]) -> Ranking:
    """Rank documents by the query words they contain, without an index; rare words have more weight.

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
