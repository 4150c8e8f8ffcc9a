"""Find the messages in a log or traceback that may be the first cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, structs

from pytest_dvwiki.logtext.messages import strip_line
from pytest_dvwiki.logtext.tracebacks import chains, cut_off
from pytest_dvwiki.patterns.matcher import DEEPEST_BLOCK
from pytest_dvwiki.triage.pytest_report import only_messages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from pytest_dvwiki.model import Excerpt, Source
    from pytest_dvwiki.patterns.matcher import Hit, Matcher
    from pytest_dvwiki.patterns.schema import Pattern

PYTHON = frozenset({"python", "pytest", "cocotb", "pyuvm"})
EXPECTATIONS = frozenset({"unexpected_pass", "wrong_exception"})
_CUT_OFF = "python.traceback"
"""The pattern for a traceback that was cut off before its exception."""
NEVER_AWAITED = "python.never_awaited"


class Candidate(Struct, frozen=True):
    """A message that may be the first cause."""

    pattern: Pattern
    source: Source
    line: int
    """Line number of the message in its source."""
    text: str
    groups: dict[str, str]
    noise: bool
    exception: bool
    """Whether the message is a Python exception."""
    path: str | None = None
    """Path of the log, if the log outlives the run."""


def candidates_of(excerpt: Excerpt, matcher: Matcher, *, cocotb: bool) -> Iterator[Candidate]:
    """Yield the messages of an excerpt that may be the first cause; `cocotb` means that error lines are noise."""
    lines = excerpt.lines
    if excerpt.source == "report":
        shown = only_messages([line for _, line in lines])
        lines = tuple((number, line) for (number, _), line in zip(lines, shown, strict=True))
    for first, part in unbroken(lines):
        yield from candidates_in(first, "\n".join(part), excerpt.source, matcher, cocotb=cocotb, path=excerpt.path)


def candidates_in(
    first: int,
    text: str,
    source: Source,
    matcher: Matcher,
    *,
    cocotb: bool,
    whole: str | None = None,
    path: str | None = None,
) -> Iterator[Candidate]:
    """Yield the messages in consecutive lines that may be the first cause.

    Args:
        first: Number of the first line.
        text: The lines.
        source: The source of the lines.
        matcher: The patterns.
        cocotb: Whether the lines are of a cocotb test, which an error line alone does not fail; such a line is noise.
        whole: The complete text, if `text` is a part of it.
        path: Path of the log, if the log outlives the run.
    """
    hits = matcher.hits(text, first_line=first, whole=whole)
    lesser = _lesser_exceptions(text, first, {hit.line for hit in hits}) if hits else frozenset()
    lines = text.split("\n") if any(hit.pattern.id == _CUT_OFF for hit in hits) else ()
    for hit in hits:
        if hit.line not in lesser:
            at = hit.line - first
            counted = (
                _exception_of_cut_traceback(hit, lines[at : at + DEEPEST_BLOCK], matcher)
                if hit.pattern.id == _CUT_OFF
                else hit
            )
            yield Candidate(
                pattern=counted.pattern,
                source=source,
                line=hit.line,
                text=counted.text,
                groups=counted.groups,
                noise=cocotb and counted.pattern.noise,
                exception=_is_exception(counted),
                path=path,
            )


def _exception_of_cut_traceback(head: Hit, lines: Sequence[str], matcher: Matcher) -> Hit:
    """Return the exception that the last frame of a cut-off traceback raised; `head` if no pattern matches it.

    Args:
        head: The first line of the traceback.
        lines: The lines of the log from `head` on.
        matcher: The patterns.
    """
    raised = cut_off([strip_line(line) for line in lines], 0)
    known = matcher.match(raised) if raised else None
    if known is None or known.pattern.tier == "benign":
        return head
    return structs.replace(known, pattern=structs.replace(known.pattern, tier=head.pattern.tier))


def _lesser_exceptions(text: str, first: int, known: Collection[int]) -> frozenset[int]:
    """Return the numbers of the traceback lines that cannot be the first cause.

    These are the lines of a traceback above an exception that a pattern matches, and all exceptions of a chain except
    the decisive one (`Chain.cause`).

    Args:
        text: Consecutive lines.
        first: Number of the first line.
        known: Numbers of the lines that match a pattern.
    """
    if ' File "' not in text:
        return frozenset()
    lesser: set[int] = set()
    for chain in chains(text.split("\n")):
        for raised in chain.raised:
            if first + raised.line in known:
                lesser.update(range(first + raised.head, first + raised.line))
            if raised is not chain.cause:
                lesser.add(first + raised.line)
    return frozenset(lesser)


def _is_exception(hit: Hit) -> bool:
    if hit.pattern.noise or hit.pattern.failure_subtype in EXPECTATIONS or hit.pattern.id == NEVER_AWAITED:
        return False
    return not PYTHON.isdisjoint(hit.pattern.tools)


def unbroken(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Split numbered lines where numbers are missing; yield each part's first line number and lines."""
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or lines[at][0] != lines[at - 1][0] + 1:
            yield lines[start][0], [text for _, text in lines[start:at]]
            start = at
