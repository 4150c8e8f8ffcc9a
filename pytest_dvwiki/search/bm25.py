"""Ranks documents by BM25. This is the only module that uses the library `bm25s`, and with it numpy.

The library computes the score of each word in each document when an index is made. A query only adds up the scores of
its words. That needs numpy, but not the library, whose import would double the time. Index files are memory-mapped, so
that only the parts for the query's words are read. An index also has the sorted vocabulary and the word counts of each
document, so that the next index can be made without reading unchanged documents again.
"""

from __future__ import annotations

import bisect
from functools import cached_property
from importlib import metadata, util
from typing import TYPE_CHECKING, Any, Self

from pytest_dvwiki.search.relevance import DIGITS, Statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.search.relevance import Words

_FIRST = 100
_NO_WORD = "\0"
"""Placeholder word for empty documents; no query contains it."""
_SCORES = ("data", "indices", "indptr")
"""Arrays from the library: the scores, the document of each score, and the start of each word's scores."""
_FILES = (*_SCORES, "names", "name_ends", "lengths", "word_ids", "word_counts", "word_ends")
DOCUMENTS = frozenset({"word_ids.npy", "word_counts.npy", "word_ends.npy"})
"""Files needed only for the method `documents`."""


def is_installed() -> bool:
    """Return whether the library is installed."""
    return util.find_spec("bm25s") is not None and util.find_spec("numpy") is not None


def version() -> str:
    """Return the name and version of the library. Index files of other versions may be unreadable."""
    return f"bm25s {metadata.version('bm25s')}"


class Bm25:
    """An index of documents, numbered from 0 by their position in the sequence passed to `of`."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self._arrays = arrays

    @classmethod
    def of(cls, documents: Iterable[Words]) -> Self:
        """Make an index of at least one document. Documents are read once, one at a time."""
        import numpy as np  # noqa: PLC0415 (0.3 s with the library, which only a search should cost)
        from bm25s import BM25  # noqa: PLC0415 (only to make an index)

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
        scores = BM25().build_index_from_ids(range(len(names)), texts, show_progress=False)
        encoded = [name.encode() for name in names]
        arrays = {name: scores[name] for name in _SCORES} | {
            "names": np.frombuffer(b"".join(encoded), np.uint8),
            "name_ends": np.cumsum([len(name) for name in encoded], dtype=np.int64),
            "lengths": np.array([counts.sum() for _, counts in rows], np.uint32),
            "word_ids": np.concatenate([ids for ids, _ in texts.rows]),
            "word_counts": np.concatenate([counts for _, counts in rows]),
            "word_ends": np.cumsum([len(ids) for ids, _ in rows], dtype=np.int64),
        }
        return cls(arrays)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Memory-map the files written by `save`.

        Raises:
            OSError: A file is missing.
            ValueError: A file is damaged.
        """
        import numpy as np  # noqa: PLC0415

        return cls({name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _FILES})

    def save(self, folder: Path) -> None:
        """Write the index into an otherwise empty folder."""
        import numpy as np  # noqa: PLC0415

        for name, array in self._arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)

    @property
    def count(self) -> int:
        """Return the number of documents."""
        return len(self._arrays["lengths"])

    @cached_property
    def statistics(self) -> Statistics:
        """Return the statistics needed to compute scores."""
        return Statistics(self.count, float(self._arrays["lengths"].mean()), self._frequency)

    def best(self, words: Iterable[str]) -> Iterator[tuple[int, float]]:
        """Yield the documents with at least one word of the query, and their scores, the best first.

        Documents with equal scores are sorted by number.
        """
        import numpy as np  # noqa: PLC0415

        known = [number for word in dict.fromkeys(words) if (number := self._number(word)) is not None]
        if not known:
            return
        scores = np.zeros(self.count, self._arrays["data"].dtype)
        for number in known:
            begin, end = self._arrays["indptr"][number : number + 2]
            scores[self._arrays["indices"][begin:end]] += self._arrays["data"][begin:end]
        found = scores.nonzero()[0]
        values = scores[found].astype(np.float64).round(DIGITS)
        # Few callers want more than the first documents, so the others are sorted only when asked for.
        least = np.partition(values, -_FIRST)[-_FIRST] if len(values) > 2 * _FIRST else 0
        for part in (values >= least, values < least):
            order = np.argsort(-values[part], kind="stable")
            yield from zip(found[part][order].tolist(), values[part][order].tolist(), strict=True)

    def documents(self, numbers: Iterable[int]) -> Iterator[Words]:
        """Yield the words of the documents with the given numbers."""
        names = [self._name(number) for number in range(len(self._arrays["name_ends"]))]
        for number in numbers:
            begin, end = _span(self._arrays["word_ends"], number)
            ids, counts = (self._arrays[name][begin:end].tolist() for name in ("word_ids", "word_counts"))
            yield {names[each]: count for each, count in zip(ids, counts, strict=True)}

    def _frequency(self, word: str) -> int:
        number = self._number(word)
        if number is None:
            return 0
        begin, end = self._arrays["indptr"][number : number + 2]
        return int(end - begin)

    def _number(self, word: str) -> int | None:
        """Return the position of a word in the vocabulary; None if the vocabulary lacks the word."""
        total = len(self._arrays["name_ends"])
        # Compare code points, because the vocabulary is sorted by them.
        number = bisect.bisect_left(range(total), word, key=self._name)
        return number if number < total and self._name(number) == word else None

    def _name(self, number: int) -> str:
        begin, end = _span(self._arrays["name_ends"], number)
        return bytes(self._arrays["names"][begin:end]).decode()


class _Texts:
    """Documents in the form that the library expects, made on demand: word numbers, each repeated by its count."""

    def __init__(self, rows: list[tuple[Any, Any]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[list[int]]:
        return (ids.repeat(counts).tolist() for ids, counts in self.rows)


def _span(ends: Sequence[int], number: int) -> tuple[int, int]:
    """Return the start and end of one part of an array, given the ends of all parts."""
    return int(ends[number - 1]) if number else 0, int(ends[number])
