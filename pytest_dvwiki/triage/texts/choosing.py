"""Choose the first cause in a log or pasted text.

If all messages are weak and the text reports success (`success`), there is no first cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.logtext.messages import strip_line
from pytest_dvwiki.triage.candidates import NEVER_AWAITED, Candidate, candidates_in, unbroken
from pytest_dvwiki.triage.primary import Choice, decide, ranked
from pytest_dvwiki.triage.texts.sections import sections_of
from pytest_dvwiki.triage.texts.success import is_cancelled

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from pytest_dvwiki.patterns.matcher import Matcher

_GOOD_END = "benign.end_of_simulation"
_STOPPED = frozenset({"ghdl.stopped", "ghdl.rollup"})
"""Patterns of the lines with which GHDL reports that an assertion stopped the simulation."""
_ABOVE = 3
"""Largest distance in lines between an assertion and GHDL's report on it."""


def choose_in_text(
    lines: Sequence[tuple[int, str]], matcher: Matcher, among: Container[int] | None = None
) -> Choice | None:
    """Choose the first cause in a log or pasted text; return None if nothing in it reports a failure.

    Args:
        lines: Numbered lines; numbers are skipped where lines were left out.
        matcher: The patterns.
        among: Numbers of the lines with messages; None for all lines. These messages were found in the complete text;
            in `lines`, a message next to a gap may be incomplete.
    """
    found = sections_of(lines)
    whole = "\n".join(line for _, line in lines)
    candidates = [
        candidate
        for first, part in unbroken(lines)
        for candidate in candidates_in(first, "\n".join(part), "log", matcher, cocotb=found.cocotb, whole=whole)
        if (among is None or candidate.line in among)
        and not (found.in_passed(candidate.line) and (candidate.noise or candidate.exception or _is_warning(candidate)))
    ]
    if all(map(_is_warning, candidates)):
        return None
    if is_cancelled([c.pattern for c in candidates], max(c.line for c in candidates), lines):
        return None
    if all(c.pattern.id in _STOPPED for c in candidates) and _ends_well(candidates[0].line, lines, matcher):
        return None
    return decide(ranked(candidates))


def _ends_well(first: int, lines: Sequence[tuple[int, str]], matcher: Matcher) -> bool:
    """Return whether the assertion that GHDL reports on line `first` only ended a good run, as in some testbenches."""
    said = (line for number, line in lines if first - _ABOVE <= number < first)
    return any((hit := matcher.match(strip_line(line))) is not None and hit.pattern.id == _GOOD_END for line in said)


def _is_warning(candidate: Candidate) -> bool:
    """Return whether a message is Python's warning about a never-awaited coroutine, which alone fails no test."""
    return candidate.pattern.id == NEVER_AWAITED
