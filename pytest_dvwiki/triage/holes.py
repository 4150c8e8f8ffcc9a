"""What the coverage of a run has of news: holes that were found, bins that were filled.

A row of a record is written when something changes, not in every run: a hole that stays one says nothing new, and
a bin that was covered all along never gets a row, nor a page. A point of which much is still open is one hole of its
own, `all bins`, until few are left; nobody reads a thousand pages of one cross.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_dvwiki.model import CoverBin, KnownBin

Row = dict[str, Any]

MOST_OF_A_POINT = 32
"""Holes of one coverage point that get a row each; more are one row together."""
MOST_OPEN = 500
"""Holes that are open at a time; those with the highest priority come first."""
ALL = "all bins"
"""The bin that stands for all bins of a point."""
_NAMED = 6
_SHORT = re.compile(r"[\w ,.-]{1,16}")
"""Too short to hold a secret: most bins of large crosses need no closer look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageNews:
    """What is new about the coverage of a run, in rows of a record."""

    bins: int = 0
    covered: int = 0
    """Of the bins."""
    found: tuple[Row, ...] = ()
    """Holes that are on record for the first time."""
    again: tuple[Row, ...] = ()
    """Holes that were filled once."""
    filled: tuple[Row, ...] = ()
    """Holes that are none any more."""
    moved: tuple[Row, ...] = ()
    """Points with many holes of which the number changed."""
    left_out: int = 0
    """Holes that have no row, since `MOST_OPEN` are open."""
    whole: bool = True
    """Whether all tests ran; else a bin that is not covered is no hole."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """All of them, for the record's `coverage`."""
        return (*self.filled, *self.moved, *self.again, *self.found)


def coverage_news(bins: Iterable[CoverBin], known: Mapping[tuple[str, str], KnownBin], *, whole: bool) -> CoverageNews:
    """Compares the coverage of a run with what is on record.

    Args:
        bins: Each bin once.
        known: By covergroup and bin what is on record of it.
        whole: Whether all tests ran; else only what is filled is news.
    """
    points = _points(bins)
    ranks = _ranks(bin_.weight for members in points.values() for bin_ in members.values())
    open_bins: dict[str, dict[str, KnownBin]] = {}
    for (covergroup, name), state in known.items():
        if not state.filled:
            open_bins.setdefault(covergroup, {})[name] = state
    filled: list[Row] = []
    holes: list[Row] = []
    for covergroup, members in points.items():
        point = _Point(covergroup, members, ranks)
        was_open = open_bins.get(covergroup, {})
        filled += point.filled(was_open)
        if whole:
            holes += point.holes(was_open)
    filled.sort(key=itemgetter("covergroup", "bin"))
    holes.sort(key=itemgetter("priority", "covergroup", "bin"))
    states = [(row, known.get((row["covergroup"], row["bin"]))) for row in holes]
    moved = [row for row, state in states if state is not None and not state.filled]
    again = [row for row, state in states if state is not None and state.filled]
    found = [row for row, state in states if state is None]
    room = max(0, MOST_OPEN + len(filled) - len(again) - sum(map(len, open_bins.values())))
    return CoverageNews(
        bins=sum(map(len, points.values())),
        covered=sum(bin_.filled for members in points.values() for bin_ in members.values()),
        found=tuple(found[:room]),
        again=tuple(again),
        filled=tuple(filled),
        moved=tuple(moved),
        left_out=len(found[room:]),
        whole=whole,
    )


class _Point:
    """A coverage point or cross of the run."""

    def __init__(self, covergroup: str, members: Mapping[str, CoverBin], ranks: Mapping[int, int]) -> None:
        self._covergroup = covergroup
        self._members = members
        self._ranks = ranks
        self._holes = {name: bin_ for name, bin_ in members.items() if not bin_.filled}
        self._many = len(self._holes) > MOST_OF_A_POINT

    def filled(self, was_open: Mapping[str, KnownBin]) -> list[Row]:
        """Rows of those bins that were holes and are none any more."""
        names = was_open.keys() & self._members.keys() - self._holes.keys()
        rows = [self._row(name, self._members[name], None) for name in names]
        return [*rows, self._all_bins(filled=True)] if ALL in was_open and not self._many else rows

    def holes(self, was_open: Mapping[str, KnownBin]) -> list[Row]:
        """Rows of those holes that are not on record as such."""
        if not self._many:
            new = {name: bin_ for name, bin_ in self._holes.items() if name not in was_open}
            return [self._row(name, bin_, self._priority([bin_])) for name, bin_ in new.items()]
        row = self._all_bins(filled=False)
        return [] if ALL in was_open and was_open[ALL].hits == row["hits"] else [row]

    def _priority(self, holes: Iterable[CoverBin]) -> int:
        """By weight, the heaviest first; behind what was never hit, what was hit and only not often enough."""
        return min(2 * self._ranks[bin_.weight] - (bin_.hits <= 0) for bin_ in holes)

    def _row(self, name: str, bin_: CoverBin, priority: int | None) -> Row:
        return self._said(name, priority, "", filled=bin_.filled, hits=bin_.hits, goal=bin_.goal)

    def _all_bins(self, *, filled: bool) -> Row:
        """The row of all bins together; its hits are the bins that are covered."""
        total = len(self._members)
        return self._said(
            ALL,
            None if filled else self._priority(self._holes.values()),
            _told(list(self._holes)),
            filled=filled,
            hits=total - len(self._holes),
            goal=total,
        )

    def _said(self, name: str, priority: int | None, scenario: str, *, filled: bool, hits: int, goal: int) -> Row:
        return {
            "covergroup": self._covergroup,
            "bin": name,
            "action_class": "needs_investigation",
            # The front of a point's path is a first guess; on the page it is people's.
            "feature": self._covergroup.rpartition(".")[0],
            "priority": priority,
            "scenario": scenario,
            "filled": filled,
            "hits": hits,
            "goal": goal,
        }


def _points(bins: Iterable[CoverBin]) -> dict[str, dict[str, CoverBin]]:
    """Bins by their point and name, as both go on record."""
    found: dict[str, dict[str, CoverBin]] = {}
    for covergroup, members in groupby(bins, key=attrgetter("covergroup")):
        found.setdefault(_kept(covergroup), {}).update((_kept(bin_.bin), bin_) for bin_ in members)
    return found


def _kept(name: str) -> str:
    return name if _SHORT.fullmatch(name) else redact(name)


def _ranks(weights: Iterable[int]) -> dict[int, int]:
    """Each weight's rank, the heaviest first."""
    return {weight: rank for rank, weight in enumerate(sorted(set(weights), reverse=True), start=1)}


def _told(names: Sequence[str]) -> str:
    """The first holes of a point by name."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"open: {'; '.join(names[:_NAMED])}{more}" if names else ""
