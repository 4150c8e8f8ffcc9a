"""Find the pattern example most similar to an unknown message.

Words are weighted by their rarity (tf-idf), and two messages are compared by their cosine similarity. Names, numbers
and paths are masked, so that only the tool's own words are compared.

The label of the most similar example is shown to the user, but never used as a verdict: it is not reliable at any
similarity (`docs/naming.md` shows the curve, `tests/bench/nearest.py` measures it).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_dvwiki.fingerprint import mask
from pytest_dvwiki.logtext.report_parts import parse_report
from pytest_dvwiki.model import Like
from pytest_dvwiki.patterns.schema import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.patterns.registry import Registry

LEAST = 0.3
"""Minimum similarity that is meaningful."""
_WORD = re.compile(r"[a-z][a-z'-]+")
_EMPTY = frozenset({"the", "an", "of", "to", "in", "at", "is", "on", "for", "and", "by", "error", "fatal", "warning"})


class Nearest:
    """Labelled examples, searchable by words.

    Args:
        examples: Text, label `class/subtype` and pattern id of each example.
    """

    def __init__(self, examples: Iterable[tuple[str, str, str]]) -> None:
        self._examples = [(text, label, source, Counter(words(text))) for text, label, source in examples]
        seen = Counter(word for *_, counted in self._examples for word in counted)
        count = len(self._examples)
        self._weights = {word: math.log((1 + count) / (1 + often)) + 1 for word, often in seen.items()}
        self._unseen = math.log(1 + count) + 1
        self._lengths = [self._length(counted) for *_, counted in self._examples]
        self._with: dict[str, list[int]] = {}
        for number, (*_, counted) in enumerate(self._examples):
            for word in counted:
                self._with.setdefault(word, []).append(number)

    def like(self, message: str) -> Like | None:
        """Return the example most similar to a message; None if no example is similar enough."""
        counted = Counter(words(message))
        products: dict[int, float] = {}
        for word, often in counted.items():
            for number in self._with.get(word, ()):
                weight = self._weights[word] ** 2
                products[number] = products.get(number, 0.0) + weight * often * self._examples[number][3][word]
        length = self._length(counted)
        best = max(((product / (length * self._lengths[n]), -n) for n, product in products.items()), default=None)
        if best is None or best[0] < LEAST:
            return None
        text, label, source, _ = self._examples[-best[1]]
        return Like(example=text, label=label, pattern=source, similarity=round(best[0], 2))

    def _length(self, counted: Counter[str]) -> float:
        return math.sqrt(sum((self._weights.get(word, self._unseen) * often) ** 2 for word, often in counted.items()))


def words(message: str) -> Sequence[str]:
    """Return the words of a message that are compared: no source locations, names or values."""
    masked = mask(parse_report(message).text).lower()
    return [word for word in _WORD.findall(masked) if word not in _EMPTY and len(word) > 1]


@lru_cache(maxsize=2)
def of_registry(registry: Registry) -> Nearest:
    """Return the examples of all patterns that give a failure a known label."""
    return Nearest(
        (example, f"{pattern.error_class}/{pattern.failure_subtype}", pattern.id)
        for pattern in registry
        if pattern.tier != "benign" and UNKNOWN not in {pattern.error_class, pattern.failure_subtype}
        for example in pattern.examples
    )
