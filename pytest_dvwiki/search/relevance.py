"""How well a document answers a query: BM25 as Lucene has it, with the constants of bm25s, so that all rank alike.

A document is what its words count: each word with the number of times that it stands there, or more where it stands in
a place of weight.
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
"""Names of documents with their scores, the best first, equals by name."""
_SATURATION = 1.5
_LENGTH = 0.75
_DIGITS = 4


class Statistics(NamedTuple):
    """What a score has to know of all documents."""

    documents: int
    """How many there are."""
    mean_length: float
    frequency: Callable[[str], int]
    """In how many of them a word stands."""


def score(words: Words, length: float, wanted: Iterable[str], statistics: Statistics) -> float:
    """How well one document answers.

    Args:
        words: Of the document; those that are not wanted may be left out.
        length: What all its words count together.
        wanted: The words of the query, each once.
        statistics: Of all documents.

    Returns:
        0 where it has none of the words.
    """
    share = _SATURATION * (1 - _LENGTH + _LENGTH * length / (statistics.mean_length or 1.0))
    found = ((word, words[word]) for word in wanted if word in words)
    return sum(
        _worth(statistics.frequency(word), statistics.documents) * count / (count + share) for word, count in found
    )


def _worth(frequency: int, documents: int) -> float:
    """What a word counts that stands in so many of the documents."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def ranked(scores: Iterable[tuple[str, float]]) -> Ranking:
    """Documents in order; one that scored nothing is no hit."""
    # By name first, which they nearly are, then by score: equals stay as they are.
    found = sorted((name, round(value, _DIGITS)) for name, value in scores if value > 0)
    found.sort(key=itemgetter(1), reverse=True)
    return found
