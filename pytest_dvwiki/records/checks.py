"""Rows of the table `checks`, which show that messages of several causes come from the same line of code."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from pytest_dvwiki.records.kinds import SIMULATION_CLASSES

if TYPE_CHECKING:
    from pytest_dvwiki.model import Occurrence, RunRecord

_CHECKS = frozenset({"assertion_error", "assertion_fail", "scoreboard_fail"})
"""Subtypes of run-time checks. A compile error is excluded: its source line is the faulty code, not a check."""
_TOKEN = re.compile(r"\w+|[^\w\s]", re.ASCII)


def check_row(record: RunRecord, occurrence: Occurrence) -> tuple[object, ...] | None:
    """Return the row of an occurrence for the table `checks`; None if the occurrence cannot be compared with others."""
    place = occurrence.place
    vcs = record.vcs
    is_check = occurrence.error_class in SIMULATION_CLASSES or occurrence.failure_subtype in _CHECKS
    if place is None or not (is_check and place.words and place.line and vcs.commit):
        return None
    if vcs.dirty and vcs.changes is None:
        return None
    label = (occurrence.error_class, occurrence.failure_subtype)
    family = (*label, place.report, place.id, place.file, place.function, place.source, len(tokens_of(place.words)))
    statement = (*family, place.line, *place.callers)
    sources = (vcs.commit, vcs.changes if vcs.dirty else None)
    return (
        *(_hash(*statement, *sources), _hash(*statement), _hash(*sources), _hash(*family)),
        *(place.words, place.file, place.line, place.function, place.source),
    )


def tokens_of(words: str) -> tuple[str, ...]:
    """Return the words and punctuation marks of a masked string."""
    return tuple(_TOKEN.findall(words))


def _hash(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
