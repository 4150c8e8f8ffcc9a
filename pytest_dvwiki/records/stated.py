"""Records that belong to no run: statements of a person, a report or another wiki."""

from __future__ import annotations

from typing import Any

from pytest_dvwiki.fingerprint import FINGERPRINT_VERSION
from pytest_dvwiki.model import RunRecord
from pytest_dvwiki.version import TOOL


def record(task_id: str, moment: str, **parts: Any) -> RunRecord:
    """Return a record whose begin and end are the same moment.

    Args:
        task_id: Its name.
        moment: The time.
        parts: What it states, as fields of the record.
    """
    return RunRecord(
        task_id=task_id,
        tool=TOOL,
        registry="",
        fingerprint_version=FINGERPRINT_VERSION,
        started=moment,
        finished=moment,
        duration_s=0.0,
        **parts,
    )
