"""The archive: one immutable record per run, and every count that follows from them."""

from __future__ import annotations

from pytest_dvwiki.records.disk import WikiError

__all__ = ["WikiError"]
