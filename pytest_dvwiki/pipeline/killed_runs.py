"""Read the runs of killed processes from their journals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.model import Run
from pytest_dvwiki.pipeline.processing import with_ip_type
from pytest_dvwiki.runs import utc

if TYPE_CHECKING:
    from pytest_dvwiki.capture.interrupted.orphans import Orphan
    from pytest_dvwiki.model import Interest
    from pytest_dvwiki.settings import Settings


def run_of(orphan: Orphan, settings: Settings, interest: Interest) -> Run:
    """Return the run recorded in the journal of a killed process.

    Args:
        orphan: The journal.
        settings: Location of the project.
        interest: Decides which lines of a long log to keep.
    """
    from pytest_dvwiki.capture.interrupted.takeover import remains_of  # noqa: PLC0415  # loaded only for a takeover

    remains = remains_of(orphan, root=settings.layout.root, interest=interest)
    return Run(
        task_id=orphan.task_id,
        started=utc(orphan.started),
        finished=utc(orphan.ended),
        failures=tuple(with_ip_type(failure, settings) for failure in remains.failures),
        results=remains.results,
        simulators=remains.simulators,
        vcs=orphan.vcs,
    )
