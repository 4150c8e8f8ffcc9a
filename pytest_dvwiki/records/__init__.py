"""The archive: one immutable record per run, and the statistics computed from the records."""

from __future__ import annotations

from pytest_dvwiki.records.disk import WikiError

__all__ = ["WikiError"]
