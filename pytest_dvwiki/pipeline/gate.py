"""The gate's decision: which failures of a run are allowed, given what was on record before the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.model import Gate, Gated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.model import GateMode, GateReason
    from pytest_dvwiki.wiki.query import WikiHistory

_PASSES: dict[GateMode, frozenset[GateReason]] = {
    "unwaived": frozenset({"waived"}),
    "new": frozenset({"waived", "wont_fix", "known"}),
}


def decide(mode: GateMode, causes: Sequence[Cause], history: WikiHistory, *, base: str | None, refused: str) -> Gate:
    """Decide on the failures of a run.

    `base` is the commit of `history`, None for the working tree. `refused` is why the gate must not act; empty if it
    may.
    """
    rows = [row for cause in causes for row in _rows(mode, cause, history)]
    if causes and not refused and mode == "new":
        refused = _unreadable(history, causes)
    return Gate(mode=mode, base=base, refused=refused, failures=tuple(rows))


def _rows(mode: GateMode, cause: Cause, history: WikiHistory) -> Iterable[Gated]:
    """Yield separate decisions on the waived and the other failures of a cause."""
    accepted = {nodeid for each in cause.waived for nodeid in each.tests}
    tests = set(cause.tests)
    for names, reason in ((tests & accepted, "waived"), (tests - accepted, _reason(cause, history))):
        if names:
            yield Gated(
                fingerprint=cause.occurrence.fingerprint,
                tests=tuple(sorted(names)),
                reason=reason,  # type: ignore[arg-type]  # mypy widens the literal
                passes=reason in _PASSES[mode],
            )


def _reason(cause: Cause, history: WikiHistory) -> GateReason:
    occurrence = cause.occurrence
    if occurrence.error_class == "unknown" and not history.archive.has(occurrence.fingerprint):
        return "unnamed"
    # Only the first page counts; the others only refer to it.
    if any(page.text("status") == "wont_fix" for page in history.bug_pages(cause.name)[:1]):
        return "wont_fix"
    return "new" if cause.news is None else cause.news.lower()  # type: ignore[return-value]  # of a literal


def _unreadable(history: WikiHistory, causes: Iterable[Cause]) -> str:
    """Return why new and known causes cannot be distinguished; empty if they can."""
    problem = next(iter(history.archive.problems()), "")
    if problem:
        return f"a record cannot be read: {problem}"
    if history.archive.newest() is None:
        return "there is no earlier record to compare with"
    pages = (page for cause in causes for page in history.bug_pages(cause.name))
    return next((f"{page.path} cannot be read: {page.problem}" for page in pages if page.problem), "")
