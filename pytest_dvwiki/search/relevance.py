"""Relevance of a document to a query: Lucene's variant of BM25 with the constants of bm25s, so that all backends agree.

A document maps each word to a count: how often the word occurs, or more if the word is in a prominent place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Words = Mapping[str, int]
Ranking = list[tuple[str, float]]
"""Names of documents with their scores, the best first; equal scores are ordered by name."""
_SATURATION = 1.5
_LENGTH = 0.75
DIGITS = 4
"""Number of decimals of a score."""


class Statistics(NamedTuple):
    """The properties of all documents that a score depends on."""

    documents: int
    """Number of documents."""
    mean_length: float
    frequency: Callable[[str], int]
    """Returns the number of documents that contain a word."""


def score(words: Words, length: float, wanted: Iterable[str], statistics: Statistics) -> float:
    """Return the relevance of one document to a query.

    Args:
        words: The words of the document; those not in the query may be left out.
        length: The sum of all word counts of the document.
        wanted: The words of the query, without repetition.
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
    """Return the weight of a word that occurs in `frequency` of all documents."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def ranked(scores: Iterable[tuple[str, float]]) -> Ranking:
    """Sort documents by score; those with a score of 0 are left out."""
    # Sort by name (nearly sorted already), then by score; the sort is stable, so equal scores stay in order of name.
    found = sorted((name, round(value, DIGITS)) for name, value in scores if value > 0)
    found.sort(key=itemgetter(1), reverse=True)
    return found
