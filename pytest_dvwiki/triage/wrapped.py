"""Texts that a mail or a page has broken at its width: a message goes on in lines that say nothing by themselves.

A log breaks no lines, and what stands below a message in it is none of it. So a text is read this way only where it
names nothing as it stands, or where the rest of a warning looks like a message of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_dvwiki.patterns.messages import begins_message, strip_line
from pytest_dvwiki.patterns.schema import UNKNOWN
from pytest_dvwiki.triage.primary import Choice, choose_in_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.patterns.matcher import Matcher
    from pytest_dvwiki.triage.primary import Candidate

_NARROWEST, _WIDEST = 60, 100
"""Columns at which texts are broken."""
_MOST_LINES = 400
_MOST_JOINED = 5
_NAMELESS = frozenset({UNKNOWN, "unclassified_message"})
_WARNING = re.compile(r"\*\* Warning|Warning(?:-\[|: )|\w+: \*W,|WARNING: |UVM_WARNING|%Warning", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Joined:
    """A line as it was before it was broken."""

    first: int
    """Number of its first line."""
    last: int
    text: str


def choose_in_wrapped(lines: Sequence[tuple[int, str]], matcher: Matcher, choice: Choice | None) -> Choice | None:
    """The first cause in a bare text, where the text was perhaps broken.

    Args:
        lines: All lines of the text, with their numbers.
        matcher: The patterns.
        choice: The first cause in the lines as they stand.
    """
    named = choice is not None and choice.candidate.pattern.failure_subtype not in _NAMELESS
    width = _width([text for _, text in lines])
    if width is None:
        return choice
    joined = list(_join(lines, width))
    in_warning = choice is not None and any(
        line.first < choice.candidate.line <= line.last and _WARNING.match(line.text.lstrip()) for line in joined
    )
    if (named and not in_warning) or len(joined) == len(lines):
        return choice
    again = choose_in_text([(number, line.text) for number, line in enumerate(joined, start=1)], matcher)
    if again is not None:
        again = _placed(again, joined, width)
    if in_warning or choice is None:
        return again
    return again if again is not None and again.candidate.pattern.failure_subtype not in _NAMELESS else choice


def _width(texts: Sequence[str]) -> int | None:
    """The column at which a text may have been broken; a word that is longer than it stands in a line of its own."""
    if len(texts) > _MOST_LINES:
        return None
    widest = max((len(line) for text in texts if " " in (line := text.rstrip()).lstrip("> ")), default=0)
    return widest if _NARROWEST <= widest <= _WIDEST else None


def _join(lines: Sequence[tuple[int, str]], width: int) -> Iterator[_Joined]:
    """The lines, each with those in which it goes on."""
    stripped = [strip_line(text) for _, text in lines]
    at = 0
    while at < len(lines):
        end = at + 1
        while end < min(len(lines), at + _MOST_JOINED) and _goes_on(
            lines[end - 1][1], stripped[end - 1 : end + 1], width
        ):
            end += 1
        # A line that stands alone keeps what a transport put in front of it.
        text = lines[at][1] if end == at + 1 else " ".join((stripped[at], *map(str.strip, stripped[at + 1 : end])))
        yield _Joined(lines[at][0], lines[end - 1][0], text)
        at = end


def _goes_on(raw: str, pair: Sequence[str], width: int) -> bool:
    """Whether a line goes on in the following one, whose first word had no more room in it."""
    line, following = pair
    words = following.split(maxsplit=1)
    return (
        bool(line.strip())
        and bool(words)
        and len(raw.rstrip()) + 1 + len(words[0]) > width
        and not begins_message(following)
    )


def _placed(choice: Choice, joined: Sequence[_Joined], width: int) -> Choice:
    """A choice in the joined lines, with the numbers of the lines as they stand."""

    def place(candidate: Candidate) -> Candidate:
        return replace(candidate, line=joined[candidate.line - 1].first)

    rule = f"{choice.rule}; lines that were broken at column {width} are joined"
    return Choice(place(choice.candidate), rule, tuple(map(place, choice.others)))
