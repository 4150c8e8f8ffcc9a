"""Sum up the history of covergroup bins."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from pytest_dvwiki.model import BinRow, KnownBin
from pytest_dvwiki.records.aggregate import NEWEST_ROWS

if TYPE_CHECKING:
    from pytest_dvwiki.records.archive import Archive

_bin_row = msgspec.json.Decoder(BinRow)


class CoverageRow(NamedTuple):
    """The state of a bin in one run."""

    task_id: str
    finished: str
    state: BinRow


class Hole(Struct, frozen=True, kw_only=True):
    """The history of one bin of a covergroup, from the records."""

    covergroup: str
    bin: str
    first: CoverageRow
    rows: tuple[CoverageRow, ...]
    """The newest rows, newest first."""
    total: int
    """Number of rows on record."""
    filled_by: str | None
    """The run that filled the bin; None if the newest run found it unfilled."""

    @property
    def since(self) -> str:
        """Return when the bin's current state, filled or open, began, as far back as the rows go."""
        same = itertools.takewhile(lambda row: row.state.filled == self.rows[0].state.filled, self.rows)
        return list(same)[-1].finished


def holes(archive: Archive) -> list[tuple[str, str]]:
    """Return the covergroup and bin name of every recorded coverage row, sorted."""
    return list(archive.db.execute("SELECT DISTINCT covergroup, bin FROM coverage ORDER BY 1, 2"))


def known(archive: Archive) -> dict[tuple[str, str], KnownBin]:
    """Map covergroup and bin name to the newest recorded state of the bin."""
    rows = archive.db.execute(
        "SELECT covergroup, bin, row FROM coverage c WHERE NOT EXISTS (SELECT 1 FROM coverage d"
        " WHERE d.covergroup = c.covergroup AND d.bin = c.bin AND (d.moment, d.number) > (c.moment, c.number))"
    )
    found = ((covergroup, name, _bin_row.decode(row)) for covergroup, name, row in rows)
    return {(covergroup, name): KnownBin(row.filled, row.hits) for covergroup, name, row in found}


def hole(archive: Archive, covergroup: str, bin_name: str) -> Hole | None:
    """Sum up a bin of a covergroup; return None if no record has it."""
    found = archive.db.execute(
        "SELECT r.task_id, r.finished, c.row FROM coverage c JOIN runs r ON r.id = c.run"
        " WHERE c.covergroup = ? AND c.bin = ? ORDER BY c.moment DESC, c.number DESC",
        (covergroup, bin_name),
    )
    rows = [CoverageRow(task_id, finished, _bin_row.decode(text)) for task_id, finished, text in found]
    if not rows:
        return None
    since_filled = list(itertools.takewhile(lambda row: row.state.filled, rows))
    return Hole(
        covergroup=covergroup,
        bin=bin_name,
        first=rows[-1],
        rows=tuple(rows[:NEWEST_ROWS]),
        total=len(rows),
        filled_by=since_filled[-1].task_id if since_filled else None,
    )
