"""The keys of each category that the tool writes on its pages; all others are people's."""

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
"""Pages of specs are people's and agents' alone."""
