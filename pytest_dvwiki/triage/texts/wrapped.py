"""Join lines that a terminal, an email or a page has wrapped, so that one message spans several lines.

A log does not wrap lines, and the line below a message is not part of it. So lines are joined in two cases only: words
are cut at one column, as by a terminal, or lines end before a word that did not fit. In the second case, the unjoined
text must also report no failure, or only one without a known name, or one that is the continuation of a warning.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import simulators
from pytest_dvwiki.logtext.messages import begins_message, strip_line
from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.triage.primary import Choice
from pytest_dvwiki.triage.texts.choosing import choose_in_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.patterns.matcher import Matcher
    from pytest_dvwiki.triage.candidates import Candidate

_NARROWEST, _WIDEST = 60, 100
"""The narrowest and the widest column at which emails and pages wrap text."""
_WIDEST_TERMINAL = 132
_TERMINALS = frozenset({72, 76, 78, 79, 80, 100, 120, 132})
"""Common widths of terminals. At such a width, a single word cut in two proves that the text was wrapped."""
_CUTS = 2
_WITHIN = re.compile(r"[a-z]{2}|[0-9]{2}")
_LETTER = re.compile(r"[A-Za-z]")
_MOST_LINES = 400
_MOST_JOINED = 5
_OPENS = ("'", '"', "`", "(")
"""Characters with which a message seldom begins, but the rest of a wrapped sentence may."""
_OF_TOOL = "tool_error"
_NAMELESS = frozenset({UNKNOWN, "unclassified_message"})
_WARNING = "Warning: |WARNING: |UVM_WARNING"


class _Joined(Struct, frozen=True):
    """A line joined from its wrapped parts."""

    first: int
    """Line number of the first part."""
    last: int
    text: str


def choose_in_wrapped(lines: Sequence[tuple[int, str]], matcher: Matcher, choice: Choice | None) -> Choice | None:
    """Choose the first cause in a text that may have been wrapped.

    Args:
        lines: All lines of the text with their numbers.
        matcher: The patterns.
        choice: The first cause in the unjoined lines; None if there is none.
    """
    lines = [(number, text.removesuffix("\r")) for number, text in lines]
    texts = [text for _, text in lines]
    if (width := _cut_column(texts)) is not None:
        joined = list(_put_together(lines, width))
        again = _choose(joined, matcher, f"that were cut at column {width}")
        # Rows of a table may look cut; joining them must not lose a failure.
        return choice if again is None and not _is_of_warning(choice, joined, matcher) else again
    if (width := _width(texts)) is None:
        return choice
    named = choice is not None and choice.candidate.pattern.failure_subtype not in _NAMELESS
    joined = list(_join(lines, width))
    in_warning = _is_of_warning(choice, joined, matcher)
    if (named and not in_warning) or len(joined) == len(lines):
        return choice
    again = _choose(joined, matcher, f"that were broken at column {width}")
    if in_warning or choice is None:
        return again
    return again if again is not None and again.candidate.pattern.failure_subtype not in _NAMELESS else choice


def _is_of_warning(choice: Choice | None, joined: Sequence[_Joined], matcher: Matcher) -> bool:
    """Return whether the chosen message is the continuation of a wrapped warning, and no message of its own."""
    warnings = [line for line in joined if _warning().match(line.text.lstrip())]
    if choice is None or not any(line.first < choice.candidate.line <= line.last for line in warnings):
        return False
    # Anything may follow a warning; only other lines that end at the column show that the text was wrapped.
    is_wrapped = any(line.last - line.first > (line in warnings) for line in joined)
    candidate = choice.candidate
    if candidate.pattern.error_class == _OF_TOOL:
        return False  # a shell or system reports it, on a line of its own
    first, _, rest = candidate.text.strip().partition(" ")
    if first.endswith(":") or (not is_wrapped and not first.startswith(_OPENS)):
        return False
    without = matcher.match(rest)
    return without is not None and without.pattern.id == candidate.pattern.id


_warning = simulators.expression(lambda tool: tool.warning, _WARNING, flags=re.ASCII)


def _cut_column(texts: Sequence[str]) -> int | None:
    """Return the column at which a terminal cut the text; None if no words are cut."""
    width = max(map(len, texts), default=0)
    if len(texts) > _MOST_LINES or not _NARROWEST <= width <= _WIDEST_TERMINAL:
        return None
    full = [(line, below) for line, below in pairwise(texts) if below and len(line) == width]
    cuts = [line[-1] + below[0] for line, below in full if not _is_next(line, below)]
    if 2 * len(cuts) <= len(full):
        return None
    if sum(map(str.isalnum, cuts)) >= _CUTS or (width in _TERMINALS and any(map(_WITHIN.fullmatch, cuts))):
        return width
    return None


def _is_next(line: str, below: str) -> bool:
    """Return whether a line starts a message, or starts with the same word as the line above."""
    return begins_message(below) or line.split(maxsplit=1)[:1] == below.split(maxsplit=1)[:1]


def _put_together(lines: Sequence[tuple[int, str]], width: int) -> Iterator[_Joined]:
    """Yield the joined lines of a text that was cut."""
    whole: _Joined | None = None
    goes_on = False
    for number, text in lines:
        if whole is not None and goes_on and not begins_message(strip_line(text)):
            whole = replace(whole, last=number, text=whole.text + text)
        else:
            if whole is not None:
                yield whole
            whole = _Joined(number, number, text)
        goes_on = len(text) == width and _LETTER.search(text) is not None
    if whole is not None:
        yield whole


def _width(texts: Sequence[str]) -> int | None:
    """Return the column at which a text may have been wrapped between words; None if its width rules that out.

    A line without a space does not count: a word that is longer than the column stands on a line of its own.
    """
    if len(texts) > _MOST_LINES:
        return None
    widest = max((len(line) for text in texts if " " in (line := text.rstrip()).lstrip("> ")), default=0)
    return widest if _NARROWEST <= widest <= _WIDEST else None


def _join(lines: Sequence[tuple[int, str]], width: int) -> Iterator[_Joined]:
    """Yield the lines, each joined with its continuation."""
    # In a stripped line, a carriage return (of a progress bar) has become a line feed, which must not count as a line.
    stripped = [strip_line(text).replace("\n", " ") for _, text in lines]
    at = 0
    while at < len(lines):
        end = at + 1
        while end < min(len(lines), at + _MOST_JOINED) and _goes_on(
            lines[end - 1][1], stripped[end - 1 : end + 1], width
        ):
            end += 1
        # A line without a continuation keeps the prefix that `strip_line` removes, such as a time of the CI service.
        text = lines[at][1] if end == at + 1 else " ".join((stripped[at], *map(str.strip, stripped[at + 1 : end])))
        yield _Joined(lines[at][0], lines[end - 1][0], text)
        at = end


def _goes_on(raw: str, pair: Sequence[str], width: int) -> bool:
    """Return whether a line continues in the next one, because the next word did not fit."""
    line, following = pair
    words = following.split(maxsplit=1)
    return (
        bool(line.strip())
        and bool(words)
        and len(raw.rstrip()) + 1 + len(words[0]) > width
        and not begins_message(following)
    )


def _choose(joined: Sequence[_Joined], matcher: Matcher, how: str) -> Choice | None:
    """Choose the first cause in joined lines, with original line numbers."""
    choice = choose_in_text([(number, line.text) for number, line in enumerate(joined, start=1)], matcher)
    if choice is None:
        return None

    def place(candidate: Candidate) -> Candidate:
        return replace(candidate, line=joined[candidate.line - 1].first)

    return Choice(place(choice.candidate), f"{choice.rule}; lines {how} are joined", tuple(map(place, choice.others)))
