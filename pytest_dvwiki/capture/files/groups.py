"""Artefacts grouped by run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.capture.files.artefacts import Artefact, Kind


class Group(Struct, frozen=True):
    """The files of one run."""

    name: str
    artefacts: tuple[Artefact, ...]
    logs: tuple[Artefact, ...] = ()
    """Logs of this run in other folders."""

    @property
    def kind(self) -> Kind:
        """Return the kind of the first file. The others have the same kind, except in a group of results and logs."""
        return self.artefacts[0].kind


def groups_of(artefacts: Sequence[Artefact], task: str | None) -> Iterator[Group]:
    """Group artefacts into runs: one run for each folder, or a single run if a task is given.

    Records and journals are grouped by folder even if a task is given, and each report on a session is a group of its
    own. Coverage reports are separate from other files, so that a broken report does not keep the tests from being
    archived.
    """
    of_kind: dict[str, list[Artefact]] = {}
    for artefact in artefacts:
        kind = "run" if artefact.kind in {"results", "log"} else artefact.kind
        of_kind.setdefault(kind, []).append(artefact)
    yield from _runs(of_kind.get("records", ()), None)
    yield from _runs(of_kind.get("journal", ()), None)
    yield from (Group(report.shown, (report,)) for report in of_kind.get("report", ()))
    yield from _runs(of_kind.get("run", ()), task)
    # In order of time, because a later report may show hits of a bin that an earlier one reports as a hole.
    reports = _runs(of_kind.get("coverage", ()), task)
    yield from sorted(reports, key=lambda group: max(report.modified for report in group.artefacts))


def _runs(artefacts: Sequence[Artefact], task: str | None) -> Iterator[Group]:
    if task:
        if artefacts:
            yield Group(task, tuple(artefacts))
        return
    folders: dict[str, list[Artefact]] = {}
    for artefact in artefacts:
        folders.setdefault(artefact.folder if artefact.of_folder is None else artefact.of_folder, []).append(artefact)
    for folder, members in folders.items():
        asked = [member for member in members if not member.only_beside]
        yield Group(asked[0].shown if len(asked) == 1 else folder or ".", tuple(members))
