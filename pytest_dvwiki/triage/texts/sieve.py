"""Select the lines needed for a verdict: all lines of a small log, few of a huge one.

A sieve keeps the lines around the first messages of each kind in each test; the nearest boundaries, which are cocotb's
lines at the start and end of tests, to know whether the test passed; the last line that reports success; and the first
lines, to recognise the kind of log. Omitted lines leave a gap in the numbers, and their messages are counted.
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
"""Maximum size in bytes of a text that is kept completely."""
OF_A_KIND = 8
"""Maximum number of messages of one kind kept per test."""
ROOM = 2 << 20
"""Maximum number of bytes kept for the messages of one tier."""
MOST_SUMMARIES = 1000
_HEAD = 20
_BEFORE = 14
_AFTER = 30
_HELD = 40
"""Number of lines at the end of a block to process with the next block, because a message may continue."""
_FARTHEST = 1 << 14
"""Maximum number of bytes from the start of a traceback to its exception."""
_CARRY = 1 << 18
_TRACEBACK = b"Traceback (most recent call last)"


def watched() -> tuple[str, ...]:
    """Return lower-case strings; each line that may show the result of a test or run contains at least one."""
    return (*sections.WORDS, *success.words())


class Kept(Struct, frozen=True, kw_only=True):
    """The lines of a text kept by a sieve."""

    lines: tuple[tuple[int, str], ...]
    """The kept lines with their numbers, from 1."""
    hits: Mapping[int, int] | None = None
    """Maps the line number of each kept message to the number of messages of its kind, including skipped ones.

    None for a text that was kept completely.
    """
    left_out: int = 0
    """Number of messages left out to limit memory."""
    count: int = 0
    """Number of lines in the whole text."""
    folds: Folds = field(default_factory=Folds)
    """Maps the numbers of unfolded lines to the original ones."""


class Sieve:
    """Reads a text in blocks, and keeps at most a few megabytes of it.

    Args:
        matcher: The patterns. It must watch for `watched()`.
    """

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._waiting: list[bytes] = []
        self._size = 0
        self._scan: _Scan | None = None
        self._folds = Folds()

    def feed(self, block: bytes) -> None:
        """Add the next complete lines, each ending with a line feed."""
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
        """Return the kept lines; called once, after the last block."""
        if self._scan is not None:
            kept = self._scan.finish()
        else:
            text = b"".join(self._waiting)
            lines = self._folds.part([*map(decoded, text.split(b"\n"))])
            kept = Kept(lines=tuple(enumerate(lines, start=1)), count=text.count(b"\n"))
        return replace(kept, count=kept.count - self._folds.added, folds=self._folds)


class _Kinds(KindCounts):
    """Counts messages by kind: a skipped message is added to the count of the last kept message of its kind."""

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
        """Note that the last message was kept, with the number of its line."""
        self.hits[line] += 1
        # The other lines of a message are not messages of their own.
        for kind in self._fresh[:1]:
            self._line[kind] = line
        for kind in self._fresh[1:]:
            self._line.pop(kind, None)
        self._fresh.clear()

    def lost(self) -> None:
        """Note that the last message was not kept."""
        self._fresh.clear()

    def forget(self) -> None:
        super().forget()
        self._line.clear()


class _Scan:
    """The sieve for a text that is too large to keep completely."""

    def __init__(self, matcher: Matcher, start: bytes) -> None:
        self._matcher = matcher
        self._kinds = _Kinds()
        self._kept: dict[int, str] = {}
        self._room: dict[Tier, int] = {"cause": ROOM, "symptom": ROOM, "rollup": ROOM}
        self._left_out = 0
        self._summaries = 0
        self._boundary: tuple[int, str] | None = None
        """Number and text of the last line so far that starts or ends a test, or summarises all tests."""
        self._wants_boundary = False
        """Whether a message was kept after the last boundary."""
        self._ends: dict[Canceller, tuple[int, str]] = {}
        """The last lines that report the success of a test and of a run."""
        self._carry = b""
        self._settled = 0
        """Offset in the carried-over lines at which the search continues."""
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

        found = self._matcher.search(
            block, self._kinds, has_companion=_assumed, span=(self._settled, stop), watch=watch
        )
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
            self._matcher.may_be_companion(lowered)
            and self._summaries < MOST_SUMMARIES
            and self._matcher.is_companion(numbered.line(offset))
        ):
            self._summaries += 1
            self._keep(numbered, offset, numbered.down(offset, 1))

    def _pass_boundaries(self, numbered: _Numbers, boundaries: list[int], until: int) -> None:
        """Process the boundaries before an offset: keep summaries, and the first boundary after a kept message."""
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
    """Return True, because a line required elsewhere in the log may still follow."""
    return True


class _Numbers:
    """The lines of a block and their numbers."""

    def __init__(self, block: bytes, first: int) -> None:
        self.block = block
        self._at, self._number = 0, first
        self._first = first

    def of(self, offset: int) -> int:
        """Return the number of the line at an offset; fast for ascending offsets."""
        if offset < self._at:
            back = self.block.count(b"\n", offset, self._at)
            return self._number - back
        self._number += self.block.count(b"\n", self._at, offset)
        self._at = offset
        return self._number

    def up(self, offset: int, lines: int) -> int:
        """Return the offset of the line that is `lines` lines above the one at `offset`; 0 if there are fewer lines."""
        start = self.block.rfind(b"\n", 0, offset) + 1
        for _ in range(lines):
            if start == 0:
                break
            start = self.block.rfind(b"\n", 0, start - 1) + 1
        return start

    def down(self, offset: int, lines: int) -> int:
        """Return the offset of the line that is `lines` lines below the one at `offset`, or the end of the block."""
        for _ in range(lines):
            end = self.block.find(b"\n", offset)
            if end < 0:
                return len(self.block)
            offset = end + 1
        return offset

    def line(self, offset: int) -> str:
        """Return the line at an offset, shortened to its two ends if it is long."""
        end = self.block.find(b"\n", offset)
        line = self.block[offset : end if end >= 0 else None]
        return two_ends(decoded(line).removesuffix("\r"), LONGEST)
