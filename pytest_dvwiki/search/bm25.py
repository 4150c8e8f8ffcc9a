"""Documents ranked by BM25: the only place that knows the library, and with it numpy."""

from __future__ import annotations

from importlib import metadata, util
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_NO_WORD = "\0"
"""Stands for a document without words; no query has it."""


def is_installed() -> bool:
    """Whether the library is there."""
    return util.find_spec("bm25s") is not None and util.find_spec("numpy") is not None


def version() -> str:
    """The library and its version: another one may not read what this one wrote."""
    return f"bm25s {metadata.version('bm25s')}"


class Bm25:
    """An index of documents, each a list of words; a document has the number of its place in the list."""

    def __init__(self, engine: Any, count: int) -> None:
        self._engine = engine
        self.count = count

    @classmethod
    def of(cls, documents: Sequence[Sequence[str]]) -> Self:
        """Makes an index of documents, of which there must be one at least."""
        from bm25s import BM25  # noqa: PLC0415 (0.3 s that only a search pays)

        engine = BM25()
        engine.index([list(words) or [_NO_WORD] for words in documents], show_progress=False)
        return cls(engine, len(documents))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Loads what `save` wrote."""
        from bm25s import BM25  # noqa: PLC0415

        engine = BM25.load(folder, show_progress=False, verbosity=0)
        return cls(engine, int(engine.scores["num_docs"]))

    def save(self, folder: Path) -> None:
        """Writes the index into a folder of its own."""
        self._engine.save(folder, show_progress=False)

    def scores(self, words: Sequence[str]) -> list[tuple[int, float]]:
        """Documents that share a word with the query, in order of their numbers, each with its score."""
        known = [word for word in dict.fromkeys(words) if word in self._engine.vocab_dict]
        if not known:
            return []
        scores = self._engine.get_scores(known)
        return [(int(number), round(float(scores[number]), 4)) for number in scores.nonzero()[0]]
