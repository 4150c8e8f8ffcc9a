"""Drops findings that are only consequences of other findings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.upkeep.findings import RESTORE
from pytest_dvwiki.wiki.index import FILES

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_dvwiki.upkeep.findings import Finding, Kind

_RECORD = re.compile(r"\.\./tasks/\d{4}/\d{2}")
_CAUSES: dict[Kind, frozenset[Kind]] = {
    "schema": frozenset({"conflict"}),
    "unreadable": frozenset({"conflict", "outdated"}),
    "left_alone": frozenset({"conflict", "unreadable"}),
    "outdated": frozenset({"conflict", "index_behind"}),
    "index_behind": frozenset({"conflict", "unreadable"}),
    "record_changed": frozenset({"outdated"}),
}
"""Maps each kind of finding to the kinds that explain it if they are found in the same file."""


def without_explained(findings: Collection[Finding]) -> list[Finding]:
    """Return the findings without those that another finding explains: they disappear once the other one is fixed."""
    kinds_in: dict[str, set[Kind]] = {}
    for finding in findings:
        kinds_in.setdefault(_place(finding), set()).add(finding.kind)
    is_listed = not any(finding.kind in {"orphan", "missing"} for finding in findings)

    def is_explained(finding: Finding) -> bool:
        """Return whether another finding explains this one."""
        kinds = kinds_in[_place(finding)]
        if finding.kind == "outdated" and finding.page in FILES and not is_listed:
            return True
        if finding.remedy == RESTORE:
            return not kinds.isdisjoint({"conflict", "outdated"})
        return not kinds.isdisjoint(_CAUSES.get(finding.kind, ()))

    return [finding for finding in findings if not is_explained(finding)]


def _place(finding: Finding) -> str:
    """Return the page of a finding; for a record, the month's path, because a roll-up may have moved the record."""
    found = _RECORD.match(finding.page)
    return found[0] if found else finding.page
