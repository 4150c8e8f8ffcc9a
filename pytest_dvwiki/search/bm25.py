"""Documents ranked by BM25: the only place that knows the library, and with it numpy.

An index on disk is mapped, not read: a query touches the pages of memory that hold its words. Beside the arrays of the
library stand the vocabulary, in order, and the documents themselves as numbers of words, so that the next index can be
made without reading what did not change.
"""

from __future__ import annotations

import bisect
from functools import cached_property
from importlib import metadata, util
from typing import TYPE_CHECKING, Any, Self

from pytest_dvwiki.search.relevance import Statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.search.relevance import Words

_NO_WORD = "\0"
"""Stands for a document without words; no query has it."""
_FILES = ("names", "name_ends", "lengths", "word_ids", "word_counts", "word_ends")
DOCUMENTS = frozenset({"word_ids.npy", "word_counts.npy", "word_ends.npy"})
"""Files that only `documents` needs."""


def is_installed() -> bool:
    """Whether the library is there."""
    return util.find_spec("bm25s") is not None and util.find_spec("numpy") is not None


def version() -> str:
    """The library and its version: another one may not read what this one wrote."""
    return f"bm25s {metadata.version('bm25s')}"


class Bm25:
    """An index of documents; a document has the number of its place among those that it was made of."""

    def __init__(self, engine: Any, arrays: dict[str, Any]) -> None:
        self._engine = engine
        self._arrays = arrays

    @classmethod
    def of(cls, documents: Iterable[Words]) -> Self:
        """Makes an index of documents, of which there must be one at least; each is read once, and not kept."""
        import numpy as np  # noqa: PLC0415 (0.3 s with the library, that only a search pays)
        from bm25s import BM25  # noqa: PLC0415

        numbers: dict[str, int] = {}
        rows = []
        for words in documents:
            counts = words or {_NO_WORD: 1}
            ids = (numbers.setdefault(word, len(numbers)) for word in counts)
            rows.append(
                (np.fromiter(ids, np.uint32, len(counts)), np.fromiter(counts.values(), np.uint32, len(counts)))
            )
        names = sorted(numbers)
        places = np.empty(len(names), np.uint32)
        places[[numbers[name] for name in names]] = np.arange(len(names), dtype=np.uint32)
        texts = _Texts([(places[ids], counts) for ids, counts in rows])
        engine = BM25()
        engine.scores = engine.build_index_from_ids(range(len(names)), texts, show_progress=False)
        encoded = [name.encode() for name in names]
        arrays = {
            "names": np.frombuffer(b"".join(encoded), np.uint8),
            "name_ends": np.cumsum([len(name) for name in encoded], dtype=np.int64),
            "lengths": np.array([counts.sum() for _, counts in rows], np.uint32),
            "word_ids": np.concatenate([ids for ids, _ in texts.rows]),
            "word_counts": np.concatenate([counts for _, counts in rows]),
            "word_ends": np.cumsum([len(ids) for ids, _ in rows], dtype=np.int64),
        }
        return cls(engine, arrays)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Maps what `save` wrote.

        Raises:
            OSError: A file is missing.
            ValueError: A file is not what it should be.
        """
        import numpy as np  # noqa: PLC0415
        from bm25s import BM25  # noqa: PLC0415

        engine = BM25.load(folder, mmap=True, load_vocab=False, show_progress=False, verbosity=0)
        return cls(engine, {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _FILES})

    def save(self, folder: Path) -> None:
        """Writes the index into a folder of its own."""
        import numpy as np  # noqa: PLC0415

        self._engine.vocab_dict = {}  # ours can be mapped
        self._engine.save(folder, show_progress=False)
        for name, array in self._arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self._arrays["lengths"])

    @cached_property
    def statistics(self) -> Statistics:
        """What the scores are made with."""
        return Statistics(self.count, float(self._arrays["lengths"].mean()), self._frequency)

    def scores(self, words: Iterable[str]) -> list[tuple[int, float]]:
        """Documents that share a word with the query, in order of their numbers, each with its score."""
        known = [number for word in dict.fromkeys(words) if (number := self._number(word)) is not None]
        if not known:
            return []
        scores = self._engine.get_scores(known)
        found = scores.nonzero()[0]
        return list(zip(found.tolist(), scores[found].tolist(), strict=True))

    def documents(self, numbers: Iterable[int]) -> Iterator[Words]:
        """The words of documents."""
        names = [self._name(number) for number in range(len(self._arrays["name_ends"]))]
        for number in numbers:
            begin, end = _span(self._arrays["word_ends"], number)
            ids, counts = (self._arrays[name][begin:end].tolist() for name in ("word_ids", "word_counts"))
            yield {names[each]: count for each, count in zip(ids, counts, strict=True)}

    def _frequency(self, word: str) -> int:
        number = self._number(word)
        if number is None:
            return 0
        begin, end = self._engine.scores["indptr"][number : number + 2]
        return int(end - begin)

    def _number(self, word: str) -> int | None:
        """The place of a word in the vocabulary, None where it is not in it."""
        total = len(self._arrays["name_ends"])
        # By bytes, as in the order of the vocabulary.
        number = bisect.bisect_left(range(total), word, key=self._name)
        return number if number < total and self._name(number) == word else None

    def _name(self, number: int) -> str:
        begin, end = _span(self._arrays["name_ends"], number)
        return bytes(self._arrays["names"][begin:end]).decode()


class _Texts:
    """Documents as the library takes them, a number for each time that a word counts, made when they are asked for."""

    def __init__(self, rows: list[tuple[Any, Any]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[list[int]]:
        return (ids.repeat(counts).tolist() for ids, counts in self.rows)


def _span(ends: Sequence[int], number: int) -> tuple[int, int]:
    """Where a part begins and ends of which the ends are known."""
    return int(ends[number - 1]) if number else 0, int(ends[number])
