"""The wiki's log, `log.md`: one line per event."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.records.disk import WikiError, append_line
from pytest_dvwiki.runs import today
from pytest_dvwiki.wiki import outside

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

_INGESTED = re.compile(r"^## \[[^\]]*\] ingest \| ([^ |]+) \|", re.MULTILINE)


def add_to_log(layout: Layout, operation: str, text: str, task: str = "-", *, date: str | None = None) -> None:
    """Add a line to the log; the caller must hold the wiki's lock.

    Args:
        layout: Where the wiki is.
        operation: The operation, one word.
        text: Description of the operation and its outcome.
        task: Task id of the run; `-` if there is none.
        date: Day of the event, `YYYY-MM-DD…`; today if None or empty.
    """
    append_line(log_file(layout), f"## [{date[:10] if date else today()}] {operation} | {task} | {text}")


def log_file(layout: Layout, path: str = "log.md") -> Path:
    """Return the path of the log, or of a similar file such as `handoffs.md`.

    Raises:
        WikiError: The file is a link that leads out of the wiki; writing there could change any file.
    """
    log = layout.wiki / path
    if outside.leads_out(layout.wiki, log):
        raise WikiError(f"cannot write {log}: {outside.REASON}")
    return log


def ingested(layout: Layout) -> set[str]:
    """Return the task ids of the runs that, according to the log, were archived completely."""
    return set(_INGESTED.findall(reading.text_or_empty(layout.wiki / "log.md")))
