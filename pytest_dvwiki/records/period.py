"""Which runs and causes of the archive lie in a period."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_dvwiki.records.archive import Archive


def runs_since(archive: Archive, since: str) -> int:
    """Return the number of runs that finished at a time or later."""
    (count,) = archive.db.execute("SELECT COUNT(*) FROM runs WHERE moment >= ?", (since,)).fetchone()
    return int(count)


def causes_since(archive: Archive, since: str) -> list[str]:
    """Return the causes that failed, or whose newest fix began or held, at a time or later."""
    rows = archive.db.execute(
        "SELECT fingerprint FROM causes WHERE newest >= :since"
        " UNION SELECT fingerprint FROM fix_states"
        " WHERE newest >= :since OR (until >= :since AND until NOT LIKE '%~') ORDER BY fingerprint",
        {"since": since},
    )
    return [name for (name,) in rows]
