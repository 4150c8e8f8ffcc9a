"""Reclassifies the archive with another registry or fingerprint version; the result is a file of verdicts.

For each cause, the newest occurrences that have an excerpt are judged again. If they all agree, all occurrences of the
cause get the new verdict. If they disagree, or none can be judged, the cause keeps its old verdict.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.records import verdicts
from pytest_dvwiki.records.archive import Archive
from pytest_dvwiki.records.name_parts import check_of
from pytest_dvwiki.records.tables import moment_of
from pytest_dvwiki.records.verdicts import Ruling, Rulings
from pytest_dvwiki.wiki.lock import locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pytest_dvwiki.model import Occurrence, RunRecord, Verdict
    from pytest_dvwiki.settings import Layout

    Judge = Callable[[Occurrence, int], Verdict | None]

ASKED = 10
"""Maximum number of a cause's occurrences that are judged again, the newest first."""


class Reclassified(Struct, frozen=True, kw_only=True):
    """The outcome of a reclassification; its numbers count causes."""

    moved: int
    """Number of causes with a new verdict."""
    same: int
    """Number of causes that were judged again and got the same verdict."""
    kept: tuple[str, ...]
    """Fingerprints of the causes that could not be judged again and keep their verdict."""
    subtypes: frozenset[str]
    """Failure subtypes of the new verdicts; `build` makes their pages."""
    file: Path | None
    """The file of verdicts; None if no verdict is new."""

    def summary(self) -> str:
        """Return what was done, for the log."""
        causes = "1 cause" if self.moved == 1 else f"{self.moved} causes"
        return f"{causes} reclassified" + (f" by {verdicts.FOLDER}/{self.file.name}" if self.file else "")


def reclassify(layout: Layout, judge: Judge, *, tool: str, registry: str, fingerprint_version: int) -> Reclassified:
    """Judge again all causes with verdicts of another registry or fingerprint version; write the changed verdicts.

    The next `build` updates the pages.

    Args:
        layout: Where the wiki is.
        judge: Judges an occurrence, given the fingerprint version of its record; returns None if it cannot be judged.
        tool: Name and version of this program.
        registry: Hash of the current patterns.
        fingerprint_version: The current fingerprint version.
    """
    with (
        locked(layout.wiki, layout.lock_timeout),
        Archive(layout.tasks, layout.wiki / ".cache" / "records.sqlite") as archive,
    ):
        archive.refresh(verify=True)
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


class _Seen(Struct, frozen=True):
    """An occurrence as archived, and as the verdicts files label it now."""

    moment: str
    """Sort key of the run."""
    version: int
    """Fingerprint version of the run's record."""
    archived: Occurrence
    called: Occurrence
    """The occurrence with its present label and fingerprint."""


def _occurrences(records: Iterable[RunRecord], known: verdicts.Verdicts) -> dict[str, list[_Seen]]:
    """Return each cause's newest occurrences that have an excerpt, newest first, by current fingerprint.

    The list is empty if no occurrence of the cause has an excerpt.
    """
    causes: dict[str, list[_Seen]] = defaultdict(list)
    for record in records:
        pairs = zip(record.occurrences, known.applied(record).occurrences, strict=True)
        for archived, called in pairs:
            seen = causes[check_of(called.fingerprint)]
            if archived.excerpt.strip():
                seen.append(_Seen(moment_of(record), record.fingerprint_version, archived, called))
                seen.sort(key=lambda one: (one.moment, one.archived.fingerprint), reverse=True)
                del seen[ASKED:]
    return causes


def _ruling(cause: str, seen: list[_Seen], judge: Judge) -> tuple[Ruling, bool] | None:
    """Return the verdict on a cause, and whether it is new; None if the cause keeps its old verdict."""
    judged = [(one, verdict) for one in seen if (verdict := judge(one.archived, one.version)) is not None]
    names = {verdict.fingerprint for _, verdict in judged}
    if len(names) != 1:
        return None
    newest, verdict = judged[0]
    called = newest.called
    before = (check_of(called.fingerprint), called.error_class, called.failure_subtype, called.pattern)
    after = (verdict.fingerprint, verdict.error_class, verdict.failure_subtype, verdict.pattern)
    ruling = Ruling(
        fingerprint=cause,
        becomes=verdict.fingerprint,
        error_class=verdict.error_class,
        failure_subtype=verdict.failure_subtype,
        pattern=verdict.pattern,
    )
    return ruling, before != after
