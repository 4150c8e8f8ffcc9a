"""Join causes with the same page for display."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.causes.history import History
    from pytest_dvwiki.model import Occurrence


def as_one(causes: Sequence[Cause], history: History) -> tuple[Cause, ...]:
    """Join causes with the same page for display. A joined cause is new only if all of its causes are new."""
    groups: dict[str, list[Cause]] = {}
    named: dict[str, set[str]] = {}
    known = history.pages_of(cause.occurrence.fingerprint for cause in causes)
    for cause in causes:
        names, page = known[cause.occurrence.fingerprint]
        groups.setdefault(page or names[0], []).append(cause)
        named.setdefault(page or names[0], set()).update(names)
    # A new cause with only one name was not joined with any other cause.
    shown = (
        _known_by_now(_joined(group), history) if len(named[head]) > 1 else _joined(group)
        for head, group in groups.items()
    )
    return tuple(sorted(shown, key=lambda cause: -len(cause.occurrence.tests)))


def _known_by_now(cause: Cause, history: History) -> Cause:
    """Return a cause as known if archiving this run merged it with a cause on record."""
    found = before(history.cause(cause.name), cause.occurrence) if cause.news == "NEW" else None
    return cause if found is None else replace(cause, news="KNOWN", history=found.history, page=found.page)


def before(known: Cause | None, occurrence: Occurrence, *, is_report: bool = False) -> Cause | None:
    """Return a cause as it was before its newest run; None if that run was its first."""
    if known is None or known.history is None or known.history.runs < 2:  # noqa: PLR2004
        return None
    history = known.history
    tests = max(0, history.tests - len(occurrence.tests))
    return replace(
        known, history=replace(history, runs=history.runs - 1, tests=tests, reports=history.reports - is_report)
    )


def _joined(causes: Sequence[Cause]) -> Cause:
    first = causes[0]
    if len(causes) == 1:
        return first
    tests = sorted((test for cause in causes for test in cause.occurrence.tests), key=lambda test: test.nodeid)
    known = next((cause for cause in causes if cause.news != "NEW"), first)
    return replace(
        first,
        occurrence=replace(first.occurrence, tests=tuple(tests)),
        news=known.news,
        history=known.history,
        page=known.page,
        waived=tuple(each for cause in causes for each in cause.waived),
    )
