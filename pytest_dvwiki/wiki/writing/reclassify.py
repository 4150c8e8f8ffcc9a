"""Moves the archive to another registry or fingerprint: a file of verdicts says what is called otherwise.

A cause moves as a whole, on the word of its newest occurrences that left an excerpt. Where these come to different
causes, or where none can be judged, it keeps its verdict.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_dvwiki.records import verdicts
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.tables import moment_of
from pytest_dvwiki.records.verdicts import Ruling, Rulings
from pytest_dvwiki.wiki.lock import TIMEOUT_S, locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pytest_dvwiki.model import Occurrence, RunRecord, Verdict
    from pytest_dvwiki.settings import Layout

    Judge = Callable[[Occurrence, int], Verdict | None]

ASKED = 10
"""Occurrences of a cause that are judged, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclassified:
    """What a reclassification came to, in causes."""

    moved: int
    """Called otherwise than before."""
    same: int
    kept: tuple[str, ...]
    """Fingerprints of those that could not be judged again and keep their verdict."""
    subtypes: frozenset[str]
    """Failure subtypes that causes came to, for `build`."""
    file: Path | None
    """Where the verdicts stand, None where nothing is called otherwise."""

    def told(self) -> str:
        """What was done, for the log."""
        causes = "1 cause" if self.moved == 1 else f"{self.moved} causes"
        return f"{causes} reclassified" + (f" by {verdicts.FOLDER}/{self.file.name}" if self.file else "")


def reclassify(
    layout: Layout,
    judge: Judge,
    *,
    tool: str,
    registry: str,
    fingerprint_version: int,
    lock_timeout: float = TIMEOUT_S,
    progress: Callable[[int], None] | None = None,
) -> Reclassified:
    """Judges all causes again that another registry or fingerprint had named, and writes what is called otherwise.

    The pages follow with the next `build`.

    Args:
        layout: Where the wiki stands.
        judge: Names an occurrence from its record, given the fingerprint version of that record; None where it cannot.
        tool: Name and version of this program.
        registry: Hash of the present patterns.
        fingerprint_version: The present one.
        lock_timeout: Seconds to wait for another process that writes.
        progress: Called with the number of record files read so far.

    Raises:
        WikiError: The file could not be written, or the lock not be had.
    """
    with locked(layout.wiki, lock_timeout), Archive(layout.tasks, layout.wiki / ".cache" / "records.sqlite") as archive:
        archive.refresh(verify=True, progress=progress)
        known = verdicts.read(layout.tasks)
        old = [
            record
            for record in archive.records()
            if (record.registry, record.fingerprint_version) != (registry, fingerprint_version)
        ]
        found = {cause: _ruling(cause, seen, judge) for cause, seen in sorted(_occurrences(old, known).items())}
        moved = tuple(ruling for ruling, is_new in filter(None, found.values()) if is_new)
        rulings = Rulings(
            number=known.next_number,
            tool=tool,
            registry=registry,
            fingerprint_version=fingerprint_version,
            newest=archive.newest() or "",
            verdicts=moved,
        )
        return Reclassified(
            moved=len(moved),
            same=sum(1 for one in found.values() if one and not one[1]),
            kept=tuple(cause for cause, one in found.items() if one is None),
            subtypes=frozenset(ruling.failure_subtype for ruling in moved),
            file=verdicts.write(layout.tasks, rulings) if moved else None,
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """An occurrence as it was archived, and what it is called by all verdicts so far."""

    moment: str
    version: int
    archived: Occurrence
    called: Occurrence


def _occurrences(records: Iterable[RunRecord], known: verdicts.Verdicts) -> dict[str, list[_Seen]]:
    """By present fingerprint the newest occurrences that left an excerpt, newest first; maybe none."""
    causes: dict[str, list[_Seen]] = defaultdict(list)
    for record in records:
        pairs = zip(record.occurrences, known.applied(record).occurrences, strict=True)
        for archived, called in pairs:
            seen = causes[called.fingerprint]
            if archived.excerpt.strip():
                seen.append(_Seen(moment_of(record), record.fingerprint_version, archived, called))
                seen.sort(key=lambda one: (one.moment, one.archived.fingerprint), reverse=True)
                del seen[ASKED:]
    return causes


def _ruling(cause: str, seen: list[_Seen], judge: Judge) -> tuple[Ruling, bool] | None:
    """What a cause is called now and whether that is new; None where it keeps its verdict."""
    judged = [(one, verdict) for one in seen if (verdict := judge(one.archived, one.version)) is not None]
    names = {verdict.fingerprint for _, verdict in judged}
    if len(names) != 1:
        return None
    newest, verdict = judged[0]
    called = newest.called
    before = (called.fingerprint, called.error_class, called.failure_subtype, called.pattern)
    after = (verdict.fingerprint, verdict.error_class, verdict.failure_subtype, verdict.pattern)
    ruling = Ruling(
        fingerprint=cause,
        becomes=verdict.fingerprint,
        error_class=verdict.error_class,
        failure_subtype=verdict.failure_subtype,
        pattern=verdict.pattern,
    )
    return ruling, before != after
