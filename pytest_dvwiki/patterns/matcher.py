"""Finds the patterns' messages in a text.

A scan looks for the patterns' literals over the whole text at once; `re` decides on the messages round the lines
where one stands. The time is linear in the text, whatever stands in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_dvwiki.patterns.kinds import ENOUGH, Dull, Found, kind
from pytest_dvwiki.patterns.messages import MOST_JOINED, Message, assemble, is_indented, strip_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_dvwiki.model import Tier
    from pytest_dvwiki.patterns.expression import Needs
    from pytest_dvwiki.patterns.registry import Registry
    from pytest_dvwiki.patterns.schema import Entry, Pattern

SHARED = (
    "error", "fail", "fatal", "assert", "exception", "licens", "licenc", "*e,", "*f,", "*s,", "timeout", "timed out",
    "traceback", "killed", "terminated", "abort", "not found", "cannot", "could not", "unable", "no such", "denied",
    "exceed", "signal ", "fault", "cancel", "limit", "mismatch", "expect", "exp ", "exp=", "exp:", "violat", "memory",
    "interrupt", "not set", "not defined", "undefined", "sorry", "crash", "quota", ".vhd", "missing", "unmatched",
    "converge", "exit", "checkout", "unbound", "space", "disk ", "oom", "term_", "sigterm", "sigint", "sigsegv",
    "dumped", "corrupt", "connection", "stale", "network", "multiple ", ": ***", "stopped", "quit count", "critical",
    "simulat", "non-0/1", "invalid", "contains no ", "read", "illegal", "out of range", "root handle", "no tests",
    "received trans", "axiresp", "coroutine", "%warning", "delta", "malformed", "no declaration", "top level",
    "not in", "yield", "watchdog ", "has no key", "*se,", "(vlog-", "(vcom-", "(vopt-", "(vsim-", "[vrfc 10-",
    "fehler", "erreur", "nicht gefunden", "aucun ", "moire", "speicher", "commande", "verweis auf",
    "=e:[", "=f:[",
)  # fmt: skip
"""Parts that many literals have in common: one scan for each of them serves all those patterns."""
CHUNK = 1 << 18
"""Characters that are scanned at once."""
BEFORE = 4
"""Lines before a candidate that may begin its message."""
MOST_TOGETHER = 64
"""Candidates that are looked at together; what they come to decides which of the next ones are worth a look."""
_TELLING = 400
"""Characters of a line that tell how deep it stands."""
_DIGITS = str.maketrans("123456789", "000000000")
DEEPEST_BLOCK = 200
"""Lines that a traceback under one log line may have."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that a pattern knows."""

    pattern: Pattern
    line: int
    """Number of the message's first line, as the caller counts."""
    text: str
    """The message as one line."""
    groups: dict[str, str]
    head: str = ""
    """The log line under which the message stands, where it does."""


class Rule:
    """A pattern with its expressions compiled at first use."""

    __slots__ = ("_match", "_together", "_unless", "literals", "pattern")

    def __init__(self, entry: Entry) -> None:
        self.pattern = entry.pattern
        self.literals = entry.literals
        self._match: list[re.Pattern[str] | None] = [None] * len(entry.literals)
        self._unless: tuple[re.Pattern[str], ...] | None = None
        self._together: tuple[re.Pattern[str], ...] | None = None

    def decide(self, text: str, lowered: str) -> dict[str, str] | None:
        """The groups of the first expression that is found in a message; None where the pattern does not count."""
        for number, needs in enumerate(self.literals):
            for literals in needs:
                for literal in literals:
                    if literal in lowered:
                        break
                else:
                    break
            else:
                found = self._expression(number).search(text)
                if found is not None and not _agrees(found):
                    if self._unless is None:
                        self._unless = _compiled(self.pattern.unless)
                    if any(exception.search(text) for exception in self._unless):
                        return None
                    return {name: value for name, value in found.groupdict().items() if value is not None}
        return None

    def company(self, text: str) -> bool:
        """Whether the text has what the pattern needs beside its own message."""
        if self._together is None:
            self._together = _compiled(self.pattern.together_with)
        return not self._together or any(expression.search(text) for expression in self._together)

    def _expression(self, number: int) -> re.Pattern[str]:
        expression = self._match[number]
        if expression is None:
            expression = self._match[number] = re.compile(self.pattern.match[number], re.ASCII)
        return expression


def _agrees(found: re.Match[str]) -> bool:
    """Whether the message compares two values that are the same: it then tells of a check that held."""
    groups = found.groupdict()
    return "expected" in groups and groups["expected"] == groups.get("actual")


def _compiled(sources: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(source, re.ASCII) for source in sources)


class Matcher:
    """The patterns of a registry over texts of any size; implements `model.Interest`."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._rules = [Rule(entry) for entry in registry.entries]
        self._benign = [rule for rule in self._rules if rule.pattern.tier == "benign"]
        self._triggers = _triggers(registry)
        self._shapes = tuple(dict.fromkeys(trigger.translate(_DIGITS) for trigger in self._triggers))
        self._dull = Dull()

    def find(self, text: str) -> Iterator[tuple[int, Tier]]:
        """Offsets of the lines at which a message of interest starts, ascending, with the tier of its pattern.

        Of lines that differ in their numbers only the first `ENOUGH` are given.
        """
        for offset, hit in self._scan(text, Found(ENOUGH)):
            if hit.pattern.tier != "benign":
                yield offset, hit.pattern.tier

    def hits(self, text: str, *, first_line: int = 1) -> list[Hit]:
        """The messages of a text that a pattern knows, in their order; benign ones are left out.

        Args:
            text: Lines without a gap.
            first_line: The number of its first line.
        """
        found: list[Hit] = []
        line, counted = first_line, 0
        for offset, hit in self._scan(text, Found(None)):
            line += text.count("\n", counted, offset)
            counted = offset
            if hit.pattern.tier != "benign":
                found.append(Hit(hit.pattern, line, hit.text, hit.groups, hit.head))
        return found

    def match(self, message: str) -> Hit | None:
        """The pattern that wins for one message, benign ones included."""
        return next(self.matches(message), None)

    def is_benign(self, message: str) -> bool:
        """Whether a benign pattern knows the message."""
        lowered = _lowered(message)
        return any(rule.decide(message, lowered) is not None for rule in self._benign)

    def matches(self, message: str) -> Iterator[Hit]:
        """All patterns that match one message, the winner first."""
        lowered = _lowered(message)
        for rule in self._rules:
            groups = rule.decide(message, lowered)
            if groups is not None:
                yield Hit(rule.pattern, 1, message, groups)

    def _scan(self, text: str, found: Found) -> Iterator[tuple[int, Hit]]:
        """Every message that a pattern knows, with the offset of its first line."""
        benign_heads: dict[str, bool] = {}
        company: dict[str, bool] = {}
        decided = -1
        for start, group in _regions(text, self._candidates(text, found)):
            lines, offsets = _lines(text, start, max(group))
            for message in assemble([strip_line(line) for line in lines]):
                span = offsets[message.first : message.last + 1]
                if span[0] <= decided or group.keys().isdisjoint(span):
                    continue
                decided = span[0]
                if message.head and benign_heads.setdefault(message.head, self.is_benign(message.head)):
                    continue
                hit, certain = self._decide(message, text, company)
                # What a line comes to under a head, or joined to others, says nothing about the line.
                alone = group.get(span[0]) if len(span) == 1 and not message.head else None
                if hit is not None:
                    if alone is not None:
                        found.note(alone)
                    yield span[0], hit
                elif certain and alone is not None:
                    self._dull.note(alone)

    def _candidates(self, text: str, found: Found) -> Iterator[tuple[int, str]]:
        """Offset and kind of each line that holds a literal, ascending, without those of which enough is known.

        The literals are looked for once in lines of one shape; a part is as large as fits a CPU's cache.
        """
        start = 0
        while start < len(text):
            stop = text.find("\n", start + CHUNK)
            stop = stop if stop >= 0 else len(text)
            part = _lowered(text[start:stop])
            shapes = part.translate(_DIGITS).split("\n")
            wanted = self._with_literal("\n".join(dict.fromkeys(shapes)))
            kinds: dict[str, str] = {}
            at = 0
            for shape in shapes if wanted else ():
                if shape in wanted:
                    line = part[at : at + len(shape)]
                    its_kind = kinds.get(line) or kinds.setdefault(line, kind(line))
                    if its_kind not in self._dull and its_kind not in found:
                        yield start + at, its_kind
                at += len(shape) + 1
            start = stop + 1

    def _with_literal(self, text: str) -> set[str]:
        """The lines of a text that hold a literal."""
        lines: set[str] = set()
        for literal in self._shapes:
            at = text.find(literal)
            while at >= 0:
                end = text.find("\n", at)
                end = end if end >= 0 else len(text)
                lines.add(text[text.rfind("\n", 0, at) + 1 : end])
                at = text.find(literal, end)
        return lines

    def _decide(self, message: Message, text: str, company: dict[str, bool]) -> tuple[Hit | None, bool]:
        """The pattern that wins for a message of a text, and whether the message alone decided that."""
        lowered = _lowered(message.text)
        rules: set[int] = set()
        for trigger, numbers in self._triggers.items():
            if trigger in lowered:
                rules.update(numbers)
        certain = True
        for number in sorted(rules):
            rule = self._rules[number]
            groups = rule.decide(message.text, lowered)
            if groups is None:
                continue
            name = rule.pattern.id
            if name not in company:
                company[name] = rule.company(text)
            if company[name]:
                # A benign pattern goes before all others, yet only what another one found needs it.
                benign = self.is_benign(message.text)
                return None if benign else Hit(rule.pattern, 0, message.text, groups, message.head), certain
            certain = False
        return None, certain


def _triggers(registry: Registry) -> dict[str, list[int]]:
    """What a scan looks for, with the numbers of the rules to try where it is found.

    Parts shared by many literals, and the literals that have none of them.
    """
    triggers: dict[str, list[int]] = {}
    for number, entry in enumerate(registry.entries):
        if entry.pattern.tier != "benign":
            for trigger in set().union(*(_cheapest(needs) for needs in entry.literals)):
                triggers.setdefault(trigger, []).append(number)
    return triggers


def _cheapest(needs: Needs) -> set[str]:
    """Of the sets of literals the one that costs a scan least: shared parts cost nothing more."""
    sets = [{next((part for part in SHARED if part in literal), literal) for literal in literals} for literals in needs]
    return min(sets, key=lambda literals: len(literals.difference(SHARED)))


def _lowered(text: str) -> str:
    # The only character whose lower case is longer than itself would shift the offsets.
    return text.replace("\u0130", "i").lower()


def _regions(text: str, candidates: Iterable[tuple[int, str]]) -> Iterator[tuple[int, dict[int, str]]]:
    """Joins candidates whose surroundings touch: the offset of the first line to look at, and the candidates."""
    group: dict[int, str] = {}
    start = end = 0
    for offset, its_kind in candidates:
        if group and offset <= end and len(group) < MOST_TOGETHER:
            group[offset] = its_kind
        else:
            if group:
                yield start, group
            start, group = _surrounding_start(text, offset), {offset: its_kind}
        end = _lines_on(text, offset, MOST_JOINED)
    if group:
        yield start, group


def _surrounding_start(text: str, offset: int) -> int:
    """The line at which the message of a candidate, or the log line above its traceback, may start."""
    start = offset
    for step in range(DEEPEST_BLOCK):
        line = text[start : start + _TELLING].partition("\n")[0]
        if start == 0 or (step >= BEFORE and not is_indented(line)):
            break
        start = text.rfind("\n", 0, start - 1) + 1
    return start


def _lines_on(text: str, offset: int, count: int) -> int:
    for _ in range(count):
        end = text.find("\n", offset)
        if end < 0:
            return len(text)
        offset = end + 1
    return offset


def _lines(text: str, start: int, last: int) -> tuple[list[str], list[int]]:
    """The lines from an offset to those that may belong to the message at `last`, and their offsets."""
    lines: list[str] = []
    offsets: list[int] = []
    end = _lines_on(text, last, MOST_JOINED)
    at = start
    while at < end:
        stop = text.find("\n", at)
        stop = stop if stop >= 0 else len(text)
        lines.append(text[at:stop])
        offsets.append(at)
        at = stop + 1
    return lines, offsets
