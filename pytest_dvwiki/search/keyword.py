"""Search without an index: pages by the words that they share with a query."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from pytest_dvwiki.search.tokenizer import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
    weights: dict[str, dict[str, float]] = {}
    for name, fields in documents.items():
        found: dict[str, float] = {}
        for text, weight in fields:
            for word in wanted.intersection(tokens(text)):
                found[word] = found.get(word, 0.0) + weight
        if found:
            weights[name] = found
    spread = Counter(word for found in weights.values() for word in found)
    total = len(documents)
    scores = {
        name: sum(weight * math.log(1 + total / spread[word]) for word, weight in found.items())
        for name, found in weights.items()
    }
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
