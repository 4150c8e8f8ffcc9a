"""The keys that dvwiki owns on the pages of each category; all other keys belong to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.wiki.kinds import bug, coverage, marks, pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

OWNED: Mapping[str, tuple[str, ...]] = {
    "bugs": bug.OWNED,
    "patterns": (*pattern.OWNED, *marks.KEYS),
    "coverage": (*coverage.OWNED, *marks.KEYS),
}
"""Maps each category to its owned keys; none for specification and topic pages, which belong to people and agents."""
