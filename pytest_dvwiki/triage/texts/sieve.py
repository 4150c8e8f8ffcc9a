"""Keep the lines of a text that a verdict needs: all lines of a small text, few of a huge one.

A sieve keeps the lines around the first few messages of each kind in each test; the nearest lines with which cocotb
begins or ends a test (boundaries), which show whether a message belongs to a test that passed; the last line that
reports success; and the first lines, which show what kind of log it is. Lines left out leave a gap in the numbers, and
their messages are counted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki.logtext.messages import LONGEST
from pytest_dvwiki.patterns.kinds import KindCounts
from pytest_dvwiki.patterns.matcher import DEEPEST_BLOCK, decoded
from pytest_dvwiki.redact import two_ends
from pytest_dvwiki.triage.texts import sections, success
from pytest_dvwiki.triage.texts.escaped_lines import Folds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_dvwiki.model import Canceller, Tier
    from pytest_dvwiki.patterns.matcher import Matcher

WHOLE = 1 << 20
"""Size in bytes up to which a text is kept whole."""
OF_A_KIND = 8
"""Number of messages of one kind that are kept per test."""
ROOM = 2 << 20
"""Number of bytes of lines that are kept for messages of one tier."""
MOST_SUMMARIES = 1000
_HEAD = 20
_BEFORE = 14
_AFTER = 30
_HELD = 40
"""Number of lines at the end of a block that wait for the next one: a message may continue there."""
_FARTHEST = 1 << 14
"""Number of bytes before an exception within which its traceback begins."""
_CARRY = 1 << 18
_TRACEBACK = b"Traceback (most recent call last)"


def watched() -> tuple[str, ...]:
    """Return lower-case words; every line that may show the outcome of a test or a run contains one of them."""
    return (*sections.WORDS, *success.words())


class Kept(Struct, frozen=True, kw_only=True):
    """What a sieve kept of a text."""

    lines: tuple[tuple[int, str], ...]
    """The kept lines, each with its number, from 1."""
    hits: Mapping[int, int] | None = None
    """Maps the line number of each kept message to the number of messages of its kind that it stands for.
    None for a text that was kept whole."""
    left_out: int = 0
    """Number of messages that were left out to limit memory."""
    count: int = 0
    """Number of lines of the whole text."""
    folds: Folds = field(default_factory=Folds)
    """Maps the numbers of unfolded lines to line numbers of the text."""


class Sieve:
    """Takes a text block by block, and keeps at most a few megabytes of it.

    Args:
        matcher: The patterns; it has to watch for `watched()`.
    """

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._waiting: list[bytes] = []
        self._size = 0
        self._scan: _Scan | None = None
        self._folds = Folds()

    def feed(self, block: bytes) -> None:
        """Take the next whole lines, each with a line feed at its end."""
        block = self._folds.feed(block, self._count)
        if self._scan is not None:
            self._scan.feed(block)
            return
        self._waiting.append(block)
        self._size += len(block)
        if self._size > WHOLE:
            start = b"".join(self._waiting)
            self._waiting.clear()
            self._scan = _Scan(self._matcher, start)

    def _count(self) -> int:
        """Return the number of lines so far."""
        return self._scan.count if self._scan is not None else sum(block.count(b"\n") for block in self._waiting)

    def finish(self) -> Kept:
        """Return the kept lines after the last block."""
        if self._scan is not None:
            kept = self._scan.finish()
        else:
            text = b"".join(self._waiting)
            lines = self._folds.part([*map(decoded, text.split(b"\n"))])
            kept = Kept(lines=tuple(enumerate(lines, start=1)), count=text.count(b"\n"))
        return replace(kept, count=kept.count - self._folds.added, folds=self._folds)


class _Kinds(KindCounts):
    """Adds each skipped message to the count of the last kept message of the same kind."""

    def __init__(self) -> None:
        super().__init__(OF_A_KIND)
        self.hits: Counter[int] = Counter()
        self._fresh: list[str] = []
        self._line: dict[str, int] = {}

    def enough(self, kind: str) -> bool:
        if not super().enough(kind):
            return False
        if kind in self._line:
            self.hits[self._line[kind]] += 1
        return True

    def note(self, kind: str) -> None:
        super().note(kind)
        self._fresh.append(kind)

    def kept(self, line: int) -> None:
        """Record that the message noted last was kept, at this line number."""
        self.hits[line] += 1
        # The other lines of a message are not messages of their own.
        for kind in self._fresh[:1]:
            self._line[kind] = line
        for kind in self._fresh[1:]:
            self._line.pop(kind, None)
        self._fresh.clear()

    def lost(self) -> None:
        """Record that the message noted last was not kept."""
        self._fresh.clear()

    def forget(self) -> None:
        super().forget()
        self._line.clear()


class _Scan:
    """The sieve for a text that is too large to be kept whole."""

    def __init__(self, matcher: Matcher, start: bytes) -> None:
        self._matcher = matcher
        self._kinds = _Kinds()
        self._kept: dict[int, str] = {}
        self._room: dict[Tier, int] = {"cause": ROOM, "symptom": ROOM, "rollup": ROOM}
        self._left_out = 0
        self._summaries = 0
        self._boundary: tuple[int, str] | None = None
        """The last boundary of tests before the current line: number and text."""
        self._wants_boundary = False
        """Whether a message was kept since the last boundary."""
        self._ends: dict[Canceller, tuple[int, str]] = {}
        """The last line that reports the success of a test, and the last one that reports that of a run."""
        self._carry = b""
        self._settled = 0
        """Offset, in the lines carried over to the next block, at which the search goes on."""
        self._first = 1
        self._cocotb = False
        self._keep_start(start)
        self.feed(start)

    def _keep_start(self, block: bytes) -> None:
        numbered = _Numbers(block, 1)
        self._keep(numbered, 0, numbered.down(0, _HEAD))
        text = block[:WHOLE].decode("latin-1")
        for offset in (*sections.signs(text), *success.signs(text)):
            start = numbered.up(offset, 0)
            self._keep(numbered, start, numbered.down(start, 1))
        self._cocotb = sections.is_cocotb(text)

    def feed(self, block: bytes) -> None:
        self._read(self._carry + block if self._carry else block, final=False)

    @property
    def count(self) -> int:
        """Return the number of lines so far."""
        return self._first - 1 + self._carry.count(b"\n")

    def finish(self) -> Kept:
        count = self.count
        if self._carry:
            self._read(self._carry, final=True)
        return Kept(
            lines=tuple(sorted({**self._kept, **dict(self._ends.values())}.items())),
            hits=self._kinds.hits,
            left_out=self._left_out,
            count=count,
        )

    def _read(self, block: bytes, *, final: bool) -> None:
        numbered = _Numbers(block, self._first)
        end = len(block)
        oldest = numbered.down(end - _CARRY, 1) if end > _CARRY else 0
        stop = end if final else max(numbered.up(end, _HELD), oldest)
        boundaries: list[int] = []
        ends: dict[Canceller, int] = {}

        def watch(offset: int, lowered: str) -> None:
            if success.has_word(lowered) and (ended := success.success_of(numbered.line(offset))):
                ends[ended] = offset
            self._watch(numbered, offset, lowered, boundaries)

        found = self._matcher.search(block, self._kinds, company=_assumed, span=(self._settled, stop), watch=watch)
        for offset, hit in found:
            self._pass_boundaries(numbered, boundaries, offset)
            if hit.pattern.tier != "benign":
                self._keep_message(numbered, offset, hit.pattern.tier)
        self._pass_boundaries(numbered, boundaries, end)
        for ended, offset in ends.items():
            self._ends[ended] = (numbered.of(offset), numbered.line(offset))
        back = min(max(numbered.up(stop, DEEPEST_BLOCK), oldest), stop)
        self._first = numbered.of(back)
        self._carry = block[back:]
        self._settled = stop - back

    def _watch(self, numbered: _Numbers, offset: int, lowered: str, boundaries: list[int]) -> None:
        if self._cocotb and sections.has_word(lowered) and sections.is_boundary(numbered.line(offset)):
            boundaries.append(offset)
            self._kinds.forget()
        elif (
            self._matcher.may_be_company(lowered)
            and self._summaries < MOST_SUMMARIES
            and self._matcher.is_company(numbered.line(offset))
        ):
            self._summaries += 1
            self._keep(numbered, offset, numbered.down(offset, 1))

    def _pass_boundaries(self, numbered: _Numbers, boundaries: list[int], until: int) -> None:
        """Process the boundaries before an offset; keep the one after a kept message, and summaries."""
        while boundaries and boundaries[0] < until:
            offset = boundaries.pop(0)
            self._boundary = (numbered.of(offset), numbered.line(offset))
            summary = sections.is_summary(self._boundary[1]) and self._summaries < MOST_SUMMARIES
            self._summaries += summary
            if self._wants_boundary or summary:
                self._kept[self._boundary[0]] = self._boundary[1]
            self._wants_boundary = False

    def _keep_message(self, numbered: _Numbers, offset: int, tier: Tier) -> None:
        if self._room[tier] <= 0:
            self._kinds.lost()
            self._left_out += 1
            return
        start = numbered.up(offset, _BEFORE)
        traceback = numbered.block.find(_TRACEBACK, max(0, offset - _FARTHEST), offset)
        if traceback >= 0:
            start = min(start, numbered.up(traceback, 1))
        self._room[tier] -= self._keep(numbered, start, numbered.down(offset, _AFTER))
        if self._boundary is not None:
            self._kept[self._boundary[0]] = self._boundary[1]
        self._wants_boundary = True
        self._kinds.kept(numbered.of(offset))

    def _keep(self, numbered: _Numbers, start: int, end: int) -> int:
        """Keep lines; return the number of characters added."""
        size = 0
        number = numbered.of(start)
        while start < end:
            if number not in self._kept:
                self._kept[number] = line = numbered.line(start)
                size += len(line)
            start = numbered.down(start, 1)
            number += 1
        return size


def _assumed(_rule: object) -> bool:
    """Return True: the line that a pattern needs besides its message may follow later."""
    return True


class _Numbers:
    """The lines of a block and their numbers."""

    def __init__(self, block: bytes, first: int) -> None:
        self.block = block
        self._at, self._number = 0, first
        self._first = first

    def of(self, offset: int) -> int:
        """Return the number of the line that begins at an offset; cheap for ascending offsets."""
        if offset < self._at:
            back = self.block.count(b"\n", offset, self._at)
            return self._number - back
        self._number += self.block.count(b"\n", self._at, offset)
        self._at = offset
        return self._number

    def up(self, offset: int, lines: int) -> int:
        """Return the offset of the line that is `lines` lines above the one at an offset."""
        start = self.block.rfind(b"\n", 0, offset) + 1
        for _ in range(lines):
            if start == 0:
                break
            start = self.block.rfind(b"\n", 0, start - 1) + 1
        return start

    def down(self, offset: int, lines: int) -> int:
        """Return the offset of the line that is `lines` lines below the one at an offset."""
        for _ in range(lines):
            end = self.block.find(b"\n", offset)
            if end < 0:
                return len(self.block)
            offset = end + 1
        return offset

    def line(self, offset: int) -> str:
        """Return the line that begins at an offset; only the two ends of a long one."""
        end = self.block.find(b"\n", offset)
        line = self.block[offset : end if end >= 0 else None]
        return two_ends(decoded(line).removesuffix("\r"), LONGEST)
