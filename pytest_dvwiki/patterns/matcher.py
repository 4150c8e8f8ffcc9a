"""Find the messages in a text that match patterns.

An engine searches for the literals of all patterns in one pass. The patterns are then tried on the messages around the
lines found, built-in ones with `re` and users' own with RE2. The time is linear in the length of any text.

Texts are read as bytes in UTF-8; a line that is not valid UTF-8 is read as Latin-1.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.logtext.messages import LONGEST, MOST_JOINED, Message, assemble, is_indented, is_logged, strip_line
from pytest_dvwiki.patterns.engines import Engines
from pytest_dvwiki.patterns.kinds import ENOUGH, FAMILIAR, KindCounts, kind
from pytest_dvwiki.patterns.literals import Literals
from pytest_dvwiki.patterns.names import WORDED, nameless
from pytest_dvwiki.patterns.search import compiled, compiled_by_re2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_dvwiki.expressions import Expression
    from pytest_dvwiki.model import Tier
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.patterns.schema import Pattern, RegistryEntry

BEFORE = 4
"""Maximum number of lines from the start of a message to its candidate line."""
MOST_TOGETHER = 64
"""Maximum number of candidates decided together; their results show which kinds of lines to skip."""
_TELLING = 400
"""Number of characters at the start of a line that suffice to see its indentation."""
DEEPEST_BLOCK = 200
"""Maximum number of traceback lines under one log line."""
_MOST_DECIDED = 4096
"""Maximum number of messages whose matching patterns are cached."""
_ANY = "surrogatepass"
_NUMBER = re.compile(r"(?:0x|\d{1,4}'s?h)?0*(0|[\da-f]*[1-9][\da-f]*)", re.ASCII)
_HDL = ("hdl",)
"""Value of `tools` for patterns that match the messages of any HDL tool."""


class Hit(msgspec.Struct, frozen=True):
    """A message that matches a pattern."""

    pattern: Pattern
    line: int
    """Line number of the message's first line, as counted by the caller."""
    text: str
    """The message as one line."""
    groups: dict[str, str]
    head: str = ""
    """The log line above an indented message; empty for a message without such a line."""


class Rule:
    """A pattern with its expressions, which are compiled at first use."""

    __slots__ = ("_compiled", "_match", "_of_hdl", "_together", "_unless", "_user_written", "_worded", "pattern")

    def __init__(self, entry: RegistryEntry) -> None:
        self.pattern = entry.pattern
        self._user_written = entry.user_written
        self._compiled = compiled_by_re2 if entry.user_written else compiled
        self._of_hdl = entry.pattern.tools == _HDL
        self._worded = entry.pattern.failure_subtype in WORDED and not entry.user_written
        self._match: list[Expression | None] = [None] * len(entry.literals)
        self._unless: tuple[Expression, ...] | None = None
        self._together: tuple[Expression, ...] | None = None

    def decide(self, text: str, numbers: Iterable[int]) -> dict[str, str] | None:
        """Return the groups of the first matching expression; None if the pattern does not match.

        Args:
            text: The message.
            numbers: Indices of the expressions whose literals are in the message.
        """
        if self._of_hdl and is_logged(text):
            return None  # a testbench's own messages also have words such as "port" and "width"
        for number in numbers:
            found = self._expression(number).search(text)
            if found is not None and not _agrees(found.groups):
                if self._unless is None:
                    self._unless = tuple(map(self._compiled, self.pattern.unless))
                if any(exception.search(text) is not None for exception in self._unless):
                    return None
                return found.groups if not self._worded or self._without_names(number, text) else None
        return None

    def _without_names(self, number: int, text: str) -> bool:
        """Return whether an expression still matches after masking the names in the message."""
        without_names = nameless(text)
        return without_names == text or self._expression(number).search(without_names) is not None

    def has_companion(self, text: str) -> bool:
        """Return whether any line of a text matches `together_with`; True if the pattern has no such field."""
        if self._together is None:
            self._together = tuple(map(self._compiled, self.pattern.together_with))
        # RE2 reads a limited part of a text, so it gets single lines. `re` gets the whole text: no match spans lines.
        texts = text.split("\n") if self._user_written and self._together else (text,)
        return not self._together or any(each.search(line) is not None for each in self._together for line in texts)

    def _expression(self, number: int) -> Expression:
        expression = self._match[number]
        if expression is None:
            expression = self._match[number] = self._compiled(self.pattern.match[number])
        return expression


def _agrees(groups: Mapping[str, str]) -> bool:
    """Return whether the expected and the actual value are equal, so that the message reports a passed check."""
    return "expected" in groups and "actual" in groups and _value(groups["expected"]) == _value(groups["actual"])


def _value(text: str) -> str:
    """Return a value without brackets and punctuation; a number also without base and leading zeros."""
    bare = text.lstrip('"([{').rstrip("\"')]}.,;:!").lower()
    number = _NUMBER.fullmatch(bare)
    return number[1] if number else bare


class Matcher:
    """Finds the messages that match a registry's patterns, in texts of any size; implements `model.Interest`.

    Args:
        registry: The patterns.
        watched: Lower-case literals of other lines that a caller of `search` wants to see.
    """

    def __init__(self, registry: Registry, watched: Sequence[str] = ()) -> None:
        self.registry = registry
        self._rules = [Rule(entry) for entry in registry.entries]
        chosen = registry.triggers
        self._literals = Literals(registry.entries, chosen.rules)
        self._decided: dict[str, tuple[tuple[Rule, dict[str, str]], ...]] = {}
        self._of_companions = re.compile("|".join(map(re.escape, chosen.companions))) if chosen.companions else None
        self._engine = Engines((*chosen.rules, *watched, *chosen.companions))
        self._dull = KindCounts(FAMILIAR)

    def find(self, text: str) -> Iterator[tuple[int, Tier]]:
        """Yield the offset of the first line of each message that matches a pattern, with the tier of the pattern.

        Benign messages are left out. Offsets are ascending. Of lines of the same kind (`kinds.kind`), about `ENOUGH`
        are yielded.
        """
        block = _encoded(text)
        counted = position = 0
        for offset, hit in self.search(block, KindCounts(ENOUGH), has_companion=_companions(text)):
            position += offset - counted if text.isascii() else len(block[counted:offset].decode("utf-8", _ANY))
            counted = offset
            if hit.pattern.tier != "benign":
                yield position, hit.pattern.tier

    def hits(self, text: str, *, first_line: int = 1, whole: str | None = None) -> list[Hit]:
        """Return the messages of a text that match a pattern, in order; benign ones are left out.

        Args:
            text: Consecutive lines.
            first_line: Number of the first line.
            whole: The complete text, to search for lines that match `together_with`.
        """
        found: list[Hit] = []
        line, counted = first_line, 0
        block = _encoded(text)
        for offset, hit in self.search(block, KindCounts(None), has_companion=_companions(whole or text)):
            line += block.count(b"\n", counted, offset)
            counted = offset
            if hit.pattern.tier != "benign":
                found.append(Hit(hit.pattern, line, hit.text, hit.groups, hit.head))
        return found

    def match(self, message: str) -> Hit | None:
        """Return the match with the highest precedence among `matches`; None if no pattern matches the message."""
        return next(self.matches(message), None)

    def is_benign(self, message: str) -> bool:
        """Return whether a benign pattern matches the message."""
        return any(rule.pattern.tier == "benign" for rule, _ in self._winners(message))

    def is_accepted(self, message: str) -> bool:  # noqa: ARG002  # waivers accept, patterns do not
        """Return False, because only waivers accept errors."""
        return False

    def matches(self, message: str) -> Iterator[Hit]:
        """Return an iterator over the matches of all patterns for one message, in order of precedence.

        Benign patterns are included, and so are patterns whose `together_with` another line has to match.
        """
        return (Hit(rule.pattern, 1, message, groups) for rule, groups in self._matching(message))

    def _matching(self, message: str) -> Iterator[tuple[Rule, dict[str, str]]]:
        for number, expressions in self._literals.fitting(_lowered(message)).items():
            rule = self._rules[number]
            groups = rule.decide(message, expressions)
            if groups is not None:
                yield rule, groups

    def may_be_companion(self, lowered: str) -> bool:
        """Return whether a lower-case line has a literal of the `together_with` of any pattern."""
        return self._of_companions is not None and self._of_companions.search(lowered) is not None

    def is_companion(self, line: str) -> bool:
        """Return whether a line matches the `together_with` of any pattern."""
        return any(rule.has_companion(line) for rule in self._rules if rule.pattern.together_with)

    def search(
        self,
        block: bytes,
        counts: KindCounts,
        *,
        has_companion: Callable[[Rule], bool],
        span: tuple[int, int] | None = None,
        watch: Callable[[int, str], None] | None = None,
    ) -> Iterator[tuple[int, Hit]]:
        """Yield every message that matches a pattern, except benign ones, with the offset of its first line, ascending.

        Args:
            block: Complete lines.
            counts: Counts the yielded lines of each kind, and limits their number.
            has_companion: Returns whether the text has a line that matches the `together_with` of a pattern.
            span: The part of the block to search for candidates; messages may extend beyond it.
            watch: Called with the offset and the lower-case text of each line that contains a literal.
        """
        benign_heads: dict[str, bool] = {}
        decided = -1
        for start, group in _regions(block, self._candidates(block, counts, span or (0, len(block)), watch)):
            lines, offsets = _lines(block, start, max(group))
            for message in assemble([strip_line(line) for line in lines]):
                of_message = offsets[message.first : message.last + 1]
                if of_message[0] <= decided or group.keys().isdisjoint(of_message):
                    continue
                decided = of_message[0]
                if message.head and benign_heads.setdefault(message.head, self.is_benign(message.head)):
                    continue
                hit, certain = self._decide(message, has_companion)
                if hit is not None:
                    for offset in of_message if counts.limit is not None else ():
                        if offset in group:
                            counts.note(group[offset])
                    yield of_message[0], hit
                elif certain and len(of_message) == 1 and not message.head:
                    # Count lines of this kind, to skip further ones. That is right only if this line alone decided.
                    self._dull.note(group[of_message[0]])

    def _candidates(
        self, block: bytes, counts: KindCounts, span: tuple[int, int], watch: Callable[[int, str], None] | None
    ) -> Iterator[tuple[int, str]]:
        """Yield the offset and the kind of each line with a literal, ascending, without lines of skipped kinds."""
        first, after = span
        done = first
        for offset in self._engine.offsets(block):
            if offset < done:
                continue
            if offset >= after:
                break
            start = block.rfind(b"\n", 0, offset) + 1
            done = _line_end(block, offset)
            line = block[start:done].lower().decode("latin-1")
            if watch is not None:
                watch(start, line)
            its_kind = _kind(line)
            if not (self._dull.enough(its_kind) or counts.enough(its_kind)):
                yield start, its_kind

    def _decide(self, message: Message, has_companion: Callable[[Rule], bool]) -> tuple[Hit | None, bool]:
        """Return the match with the highest precedence (None if none), and whether this message alone decided."""
        certain = True
        for rule, groups in self._winners(message.text):
            if rule.pattern.tier == "benign":
                # A benign pattern overrides the patterns after it, and reports nothing.
                return None, certain
            if has_companion(rule):
                return Hit(rule.pattern, 0, message.text, groups, message.head), certain
            certain = False
        return None, certain

    def _winners(self, message: str) -> tuple[tuple[Rule, dict[str, str]], ...]:
        """Return the matching patterns with their groups, up to the first one without `together_with`.

        The results are cached, because the same output occurs in several texts.
        """
        known = self._decided.get(message)
        if known is None:
            if len(self._decided) >= _MOST_DECIDED:
                self._decided.clear()
            winners: list[tuple[Rule, dict[str, str]]] = []
            for rule, groups in self._matching(message):
                winners.append((rule, groups))
                if not rule.pattern.together_with:
                    break
            known = self._decided[message] = tuple(winners)
        return known


def _companions(text: str) -> Callable[[Rule], bool]:
    return functools.cache(lambda rule: rule.has_companion(text))  # searched once per pattern


def _kind(line: str) -> str:
    return kind(line if len(line) <= LONGEST else line[: LONGEST // 2] + line[-LONGEST // 2 :])


def _lowered(text: str) -> str:
    # U+0130 is the only character that becomes longer in lower case; it would shift the offsets.
    return text.replace("\u0130", "i").lower()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", _ANY)


def decoded(line: bytes) -> str:
    """Decode a line as UTF-8 or else as Latin-1."""
    try:
        return line.decode("utf-8", _ANY)
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _regions(block: bytes, candidates: Iterable[tuple[int, str]]) -> Iterator[tuple[int, dict[int, str]]]:
    """Group candidates with overlapping context; yield for each group the offset of the first line to read.

    With the offset comes the group: it maps the offset of each candidate to the candidate's kind.
    """
    group: dict[int, str] = {}
    start = end = 0
    for offset, its_kind in candidates:
        if group and offset <= end and len(group) < MOST_TOGETHER:
            group[offset] = its_kind
        else:
            if group:
                yield start, group
            start, group = _surrounding_start(block, offset), {offset: its_kind}
        end = _lines_on(block, offset)
    if group:
        yield start, group


def _surrounding_start(block: bytes, offset: int) -> int:
    """Return the offset where a candidate's message, or the log line above its traceback, can start."""
    start = offset
    for step in range(DEEPEST_BLOCK):
        line = block[start : start + _TELLING].partition(b"\n")[0]
        if start == 0 or (step >= BEFORE and not is_indented(line.decode("latin-1"))):
            break
        start = block.rfind(b"\n", 0, start - 1) + 1
    return start


def _lines_on(block: bytes, offset: int) -> int:
    for _ in range(MOST_JOINED):
        end = block.find(b"\n", offset)
        if end < 0:
            return len(block)
        offset = end + 1
    return offset


def _lines(block: bytes, start: int, last: int) -> tuple[list[str], list[int]]:
    """Return the lines from an offset to the end of the message at `last`, with their offsets."""
    lines: list[str] = []
    offsets: list[int] = []
    end = _lines_on(block, last)
    at = start
    while at < end:
        stop = _line_end(block, at)
        lines.append(decoded(block[at:stop]))
        offsets.append(at)
        at = stop + 1
    return lines, offsets


def _line_end(block: bytes, offset: int) -> int:
    end = block.find(b"\n", offset)
    return end if end >= 0 else len(block)
