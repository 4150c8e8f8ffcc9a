"""Reports that wait for a model: kept because no model answered, and read again at the next ingest."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.records import disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

Texts = tuple[str | None, str | None, str | None, str | None]
"""Report, failure summary, classification and coverage summary of a session."""
_logger = logging.getLogger(__name__)


def place_of(layout: Layout, identity: str) -> Path:
    """Return the file for a waiting report; git ignores it."""
    return layout.journal / "reports" / f"{identity}.json"


def keep(layout: Layout, identity: str, task_id: str, texts: Texts) -> None:
    """Keep a report until a model can read it.

    Args:
        layout: Where the wiki is.
        identity: The name that the report's record will have.
        task_id: The caller's task id.
        texts: The texts of the session, with secrets masked.
    """
    path = place_of(layout, identity)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    disk.replace(path, json.dumps({"task_id": task_id, "texts": texts}).encode("utf-8", "backslashreplace"))


def all_waiting(layout: Layout) -> Iterator[tuple[str, Texts]]:
    """Yield the task id and the texts of each waiting report; unreadable files are logged."""
    for path in sorted(place_of(layout, "").parent.glob("*.json")):
        try:
            document = json.loads(reading.read_text(path))
            report, summary, classification, coverage = document["texts"]
            yield str(document["task_id"]), (report, summary, classification, coverage)
        except (OSError, ValueError, KeyError, TypeError) as error:
            _logger.warning("cannot read %s, a report that waits for a model: %s", path, error)
