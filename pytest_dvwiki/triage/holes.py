"""New holes and newly filled bins in the coverage of a run.

Records have a row for a hole only when it opens, changes or is filled. A bin that was always covered has neither row
nor page. A coverage point with many open bins is recorded as one hole, `all bins`, until only a few are left: nobody
reads a thousand pages about one cross.
"""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.model import BinRow
from pytest_dvwiki.model.archive import ALL_BINS, MOST_OF_A_POINT
from pytest_dvwiki.model.sentences import few
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_dvwiki.model import CoverBin, KnownBin

MOST_OPEN = 500
"""Maximum number of open holes on record; holes with higher priority come first."""
_NAMED = 6
_SHORT = re.compile(r"[\w ,.-]{1,16}")
"""Names too short to contain a secret. Not searching them saves time with large crosses."""


class CoverageNews(Struct, frozen=True, kw_only=True):
    """New rows for the coverage in a run's record."""

    bins: int = 0
    covered: int = 0
    """Number of covered bins."""
    found: tuple[BinRow, ...] = ()
    """Holes that were never on record before."""
    again: tuple[BinRow, ...] = ()
    """Holes that had been filled before."""
    filled: tuple[BinRow, ...] = ()
    """Former holes that are filled now."""
    moved: tuple[BinRow, ...] = ()
    """Coverage points recorded as one hole, `all bins`, whose number of covered bins changed."""
    left_out: int = 0
    """Number of new holes that got no row because `MOST_OPEN` holes are on record."""
    whole: bool = True
    """Whether all tests ran; otherwise an uncovered bin is not a hole."""

    @property
    def rows(self) -> tuple[BinRow, ...]:
        """Return all rows, for the record's `coverage`."""
        return (*self.filled, *self.moved, *self.again, *self.found)


def coverage_news(bins: Iterable[CoverBin], known: Mapping[tuple[str, str], KnownBin], *, whole: bool) -> CoverageNews:
    """Compare the coverage of a run with the records.

    Args:
        bins: The bins of the run, without duplicates.
        known: The recorded state of each bin, by covergroup and bin.
        whole: Whether all tests ran; otherwise only filled bins are recorded.
    """
    points = _points(bins)
    ranks = _ranks(bin_.weight for members in points.values() for bin_ in members.values())
    open_bins: dict[str, dict[str, KnownBin]] = {}
    for (covergroup, name), state in known.items():
        if not state.filled:
            open_bins.setdefault(covergroup, {})[name] = state
    filled: list[BinRow] = []
    holes: list[BinRow] = []
    for covergroup, members in points.items():
        point = _Point(covergroup, members, ranks)
        was_open = open_bins.get(covergroup, {})
        filled += point.filled(was_open)
        if whole:
            holes += point.holes(was_open)
    filled.sort(key=attrgetter("covergroup", "bin"))
    holes.sort(key=attrgetter("priority", "covergroup", "bin"))
    states = [(row, known.get((row.covergroup, row.bin))) for row in holes]
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

    def filled(self, was_open: Mapping[str, KnownBin]) -> list[BinRow]:
        """Return rows for former holes that are filled now."""
        names = was_open.keys() & self._members.keys() - self._holes.keys()
        rows = [self._row(name, self._members[name], None) for name in names]
        return [*rows, self._all_bins(filled=True)] if ALL_BINS in was_open and not self._many else rows

    def holes(self, was_open: Mapping[str, KnownBin]) -> list[BinRow]:
        """Return rows for holes that are not on record as open or, if there are many, the changed row `all bins`."""
        if not self._many:
            new = {name: bin_ for name, bin_ in self._holes.items() if name not in was_open}
            return [self._row(name, bin_, self._priority([bin_])) for name, bin_ in new.items()]
        row = self._all_bins(filled=False)
        return [] if ALL_BINS in was_open and was_open[ALL_BINS].hits == row.hits else [row]

    def _priority(self, holes: Iterable[CoverBin]) -> int:
        """Return the highest priority of the holes; it is 1 for a bin of the greatest weight that was never hit."""
        return min(2 * self._ranks[bin_.weight] - (bin_.hits <= 0) for bin_ in holes)

    def _row(self, name: str, bin_: CoverBin, priority: int | None) -> BinRow:
        return self._record_row(name, priority, "", filled=bin_.filled, hits=bin_.hits, goal=bin_.goal)

    def _all_bins(self, *, filled: bool) -> BinRow:
        """Return the row for all bins of the point, with the number of covered bins in `hits`."""
        total = len(self._members)
        return self._record_row(
            ALL_BINS,
            None if filled else self._priority(self._holes.values()),
            _open_names(list(self._holes)),
            filled=filled,
            hits=total - len(self._holes),
            goal=total,
        )

    def _record_row(
        self, name: str, priority: int | None, scenario: str, *, filled: bool, hits: int, goal: int
    ) -> BinRow:
        return BinRow(
            covergroup=self._covergroup,
            bin=name,
            action_class="needs_investigation",
            # The scope that contains the coverage point is a first guess; people may change it on the page.
            feature=self._covergroup.rpartition(".")[0],
            priority=priority,
            scenario=scenario,
            filled=filled,
            hits=hits,
            goal=goal,
        )


def _points(bins: Iterable[CoverBin]) -> dict[str, dict[str, CoverBin]]:
    """Return the bins by coverage point and name. Names are redacted as in records."""
    found: dict[str, dict[str, CoverBin]] = {}
    for covergroup, members in groupby(bins, key=attrgetter("covergroup")):
        found.setdefault(_kept(covergroup), {}).update((_kept(bin_.bin), bin_) for bin_ in members)
    return found


def _kept(name: str) -> str:
    return name if _SHORT.fullmatch(name) else redact(name)


def _ranks(weights: Iterable[int]) -> dict[int, int]:
    """Map each weight to its rank; the highest weight has rank 1."""
    return {weight: rank for rank, weight in enumerate(sorted(set(weights), reverse=True), start=1)}


def _open_names(names: Sequence[str]) -> str:
    """Return the names of the first holes of a point as one string."""
    return f"open: {few(names, _NAMED, separator='; ')}" if names else ""
