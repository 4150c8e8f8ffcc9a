"""Bounded excerpts of logs: the head, the lines around each candidate for a cause, and the tail."""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.model import Excerpt
from pytest_dvwiki.redact import redact, two_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_dvwiki.logtext.logs import Chunk
    from pytest_dvwiki.model import Interest, Source, Tier


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on the size of an excerpt."""

    chars: int = 32 * 1024
    """Maximum number of characters of all lines together."""
    line: int = 4096
    """Maximum number of characters of one line; of a longer line, only the two ends are kept."""
    head: int = 20
    """Lines at the start of the log."""
    tail: int = 60
    """Lines at the end of the log."""
    candidates: int = 12
    """Maximum number of candidates of each tier."""
    before: int = 3
    """Lines of context before a candidate or a marked line."""
    after: int = 3
    """Lines of context after a candidate."""
    marks: int = 4
    """Maximum number of marked lines."""
    after_mark: int = 40
    """Lines of context after a marked line, enough for a failure's traceback."""


# Ranks of lines: if not all lines fit, lines with a lower rank are kept first.
_MARK, _CAUSE, _MARK_CONTEXT, _TAIL, _CAUSE_CONTEXT, _SYMPTOM, _HEAD, _OTHER = range(8)
_RANK_OF_TIER: dict[Tier, tuple[int, int]] = {
    "cause": (_CAUSE, _CAUSE_CONTEXT),
    "symptom": (_SYMPTOM, _OTHER),
    "rollup": (_OTHER, _OTHER),
}


def excerpt(chunks: Iterable[Chunk], interest: Interest | None, *, source: Source = "log") -> Excerpt:
    """Return the excerpt of a whole log; without `interest`, only the head and the tail are kept."""
    limits = Limits()
    stream = iter(chunks)
    start = list(itertools.islice(stream, 2))
    text = start[0].text if len(start) == 1 else ""
    if text and 2 * len(text) <= limits.chars and text.count("\n") <= limits.tail:
        # Most outputs of tests are short; finding out which of their lines matter would cost more than all other steps.
        # Masking secrets can still make a text too long.
        interest = None
        lines = tuple(_whole(start[0], limits))
        if sum(len(line) + 1 for _, line in lines) <= limits.chars:
            return Excerpt(source=source, lines=lines)
    builder = ExcerptBuilder(interest, limits)
    for chunk in itertools.chain(start, stream):
        builder.feed(chunk.first, chunk.text)
    return Excerpt(source=source, lines=builder.lines())


def _whole(chunk: Chunk, limits: Limits) -> Iterator[tuple[int, str]]:
    """Yield all lines of a chunk, numbered and redacted."""
    for number, line in enumerate(chunk.text.removesuffix("\n").split("\n"), chunk.first):
        yield number, redact(two_ends(line, limits.line)).replace("\n", " ")


class ExcerptBuilder:
    """Builds the excerpt of a log that is fed in order, with a few hundred lines in memory at most."""

    def __init__(self, interest: Interest | None, limits: Limits) -> None:
        self._interest = interest
        self._limits = limits
        self._kept: dict[int, tuple[int, str]] = {}
        self._tail: deque[tuple[int, str]] = deque(maxlen=limits.tail)
        self._found: dict[Tier, int] = {"cause": 0, "symptom": 0, "rollup": 0}
        self._marks = 0
        self._fed = 0
        self._awaited: dict[int, int] = {}
        self.first_cause: int | None = None
        """Number of the first line that matched a pattern of tier cause."""

    def feed(self, first: int, text: str, *, mark: bool = False) -> None:
        """Process the next lines.

        Args:
            first: Number of the first line.
            text: Whole lines, each with a line feed at its end.
            mark: Whether to mark the first line: a marked line takes precedence over all others, and many lines after
                it are kept. Only the first `Limits.marks` marks count.
        """
        if not text:
            return
        self._continue(first, text)
        if mark and self._marks < self._limits.marks:
            self._marks += 1
            self._keep(first, 0, text, (_MARK, _MARK_CONTEXT), self._limits.after_mark)
        if self._interest is not None:
            self._keep_candidates(self._interest, first, text)
        self._remember_tail(first, text)

    def lines(self) -> tuple[tuple[int, str], ...]:
        """Return the excerpt so far: numbered lines in order, redacted, within the limits."""
        ranked = dict(self._kept)
        for number, line in self._tail:
            if number not in ranked or ranked[number][0] > _TAIL:
                ranked[number] = (_TAIL, line)
        room = self._limits.chars
        chosen: list[tuple[int, str]] = []
        for number, (_, line) in sorted(ranked.items(), key=_by_need):
            shown = redact(line).replace("\n", " ")
            if len(shown) < room:
                room -= len(shown) + 1
                chosen.append((number, shown))
        return tuple(sorted(chosen))

    def _continue(self, first: int, text: str) -> None:
        """Keep the head, and the context after a candidate at the end of the previous chunk."""
        missing = self._limits.head - self._fed
        wanted = max(self._awaited, default=0) + 1 - first
        for number, line in _lines(text, 0, first, max(missing, wanted)):
            if number in self._awaited:
                self._put(number, self._awaited.pop(number), line)
            if self._fed < self._limits.head:
                self._put(number, _HEAD, line)
            self._fed += 1
        self._awaited = {n: rank for n, rank in self._awaited.items() if n >= first}

    def _keep_candidates(self, interest: Interest, first: int, text: str) -> None:
        limits, counted, number = self._limits, 0, first
        for offset, tier in interest.find(text):
            if self._found[tier] >= limits.candidates:
                if min(self._found.values()) >= limits.candidates:
                    break
                continue
            self._found[tier] += 1
            number += text.count("\n", counted, offset)
            counted = offset
            if tier == "cause" and self.first_cause is None:
                self.first_cause = number
            self._keep(number, offset, text, _RANK_OF_TIER[tier], limits.after)

    def _keep(self, number: int, offset: int, text: str, ranks: tuple[int, int], after: int) -> None:
        """Keep the line at an offset and the lines of context around it."""
        rank, context_rank = ranks
        start, before = offset, self._limits.before
        while before and start:
            start = text.rfind("\n", 0, start - 1) + 1
            before -= 1
            end = text.find("\n", start)
            self._put(number - (self._limits.before - before), context_rank, text[start:end])
        for earlier, line in list(self._tail)[len(self._tail) - before :] if before else ():
            self._put(earlier, context_rank, line)
        last = number
        for at, line in _lines(text, offset, number, after + 1):
            self._put(at, rank if at == number else context_rank, line)
            last = at
        for at in range(last + 1, number + after + 1):
            self._awaited[at] = min(context_rank, self._awaited.get(at, context_rank))

    def _remember_tail(self, first: int, text: str) -> None:
        starts: list[int] = []
        position = len(text)
        while position and len(starts) < self._limits.tail:
            position = text.rfind("\n", 0, position - 1) + 1
            starts.append(position)
        number = first + text.count("\n", 0, position)
        for at, line in _lines(text, position, number, len(starts)):
            self._tail.append((at, two_ends(line, self._limits.line)))

    def _put(self, number: int, rank: int, line: str) -> None:
        held = self._kept.get(number)
        if held is None or held[0] > rank:
            self._kept[number] = (rank, two_ends(line, self._limits.line) if held is None else held[1])


def _by_need(item: tuple[int, tuple[int, str]]) -> tuple[int, int]:
    number, (rank, _) = item
    return rank, -number if rank == _TAIL else number


def _lines(text: str, offset: int, number: int, count: int) -> Iterator[tuple[int, str]]:
    """Yield up to `count` numbered lines from an offset."""
    while count > 0 and offset < len(text):
        end = text.find("\n", offset)
        yield number, text[offset:end]
        offset, number, count = end + 1, number + 1, count - 1
