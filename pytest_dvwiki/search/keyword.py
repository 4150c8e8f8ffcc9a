"""Search without an index and without a library: the same ranking, made anew for every question."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from pytest_dvwiki.search.tokenizer import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SATURATION = 1.5
_LENGTH = 0.75
"""The constants of BM25, and its formula as Lucene has it, are those of the library, so that both rank alike."""


def rank(query: str, documents: Mapping[str, Sequence[tuple[str, float]]]) -> list[tuple[str, float]]:
    """Ranks documents by the words that they share with a query, a rare word counting more.

    Args:
        query: What is asked.
        documents: Each by its name, as texts with the weight of a word in them.

    Returns:
        Names with their scores, the best first, equals by name. A document without a word of the query is not in it.
    """
    wanted = set(tokens(query))
    if not wanted:
        return []
    lengths: dict[str, float] = {}
    found: dict[str, dict[str, float]] = {}
    for name, fields in documents.items():
        lengths[name], found[name] = 0.0, {}
        for text, weight in fields:
            words = tokens(text)
            lengths[name] += weight * len(words)
            for word in words:
                if word in wanted:
                    found[name][word] = found[name].get(word, 0.0) + weight
    mean = sum(lengths.values()) / max(1, len(lengths)) or 1.0
    spread = Counter(word for counts in found.values() for word in counts)
    worth = {word: math.log(1 + (len(lengths) - number + 0.5) / (number + 0.5)) for word, number in spread.items()}
    scores = {
        name: round(sum(worth[word] * _share(count, lengths[name] / mean) for word, count in counts.items()), 4)
        for name, counts in found.items()
        if counts
    }
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _share(count: float, length: float) -> float:
    """How far a word that stands so often in a document of that relative length speaks for it, below 1."""
    return count / (count + _SATURATION * (1 - _LENGTH + _LENGTH * length))
