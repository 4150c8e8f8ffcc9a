"""Findings: what the checks report about a wiki, and which findings explain others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

from pytest_dvwiki.wiki.index import FILES

if TYPE_CHECKING:
    from collections.abc import Collection

Kind = Literal[
    "orphan",
    "missing",
    "broken_link",
    "stale",
    "unseen",
    "unreviewed",
    "uncited",
    "unknown_source",
    "schema",
    "configuration",
    "duplicate_cause",
    "near_duplicate",
    "unreadable",
    "left_alone",
    "conflict",
    "drift",
    "drift_hint",
    "log_changed",
    "record_changed",
    "calibration",
    "outdated",
    "index_behind",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
BUILD = "run `dvwiki build`"
RESTORE = "run `dvwiki build --restore`, which recreates the page"
"""The remedy for links from derived content to a deleted page."""
REMEDIES: dict[Kind, str] = {
    "orphan": BUILD,
    "missing": BUILD,
    "broken_link": "correct or remove the link",
    "stale": "close the page if the bug is fixed, otherwise confirm it",
    "unseen": "close the page if the bug is fixed, or run its test again",
    "unreviewed": "set `status` and `type` to what you found",
    "uncited": "end the claim with (source: tasks/{task_id}.yaml | log: {file}:{line})",
    "unknown_source": "cite a run that is on record",
    "schema": "set the key to one of the allowed values",
    "configuration": "correct the entry; it has no effect until it is valid",
    "duplicate_cause": BUILD,
    "near_duplicate": "merge the pages if they have the same cause; otherwise list the other page in `distinct_from`",
    "unreadable": "correct the frontmatter",
    "left_alone": "correct the page, or restore it from git, then run `dvwiki build`",
    "conflict": "resolve the conflict by hand, then run `dvwiki build`",
    "drift": "cite the code's new location, or remove the citation",
    "drift_hint": "check whether the text is still correct",
    "log_changed": "restore the line; log.md is append-only",
    "record_changed": "restore the record: `git checkout COMMIT^ -- FILE`",
    "calibration": "give the pattern another `origin` in .agent/patterns, or correct a page whose `type` is wrong",
    "outdated": BUILD,
    "index_behind": BUILD,
}
"""Maps each kind to its default remedy, for findings without a remedy of their own."""
WARNINGS: frozenset[Kind] = frozenset({"unseen", "drift_hint", "near_duplicate", "index_behind"})
"""Kinds that are only reported as warnings; they do not make the check fail."""
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


class Finding(Struct, frozen=True, order=True):
    """One problem that a check found."""

    page: str
    """The file, relative to the wiki (`bugs/….md`, `../tasks/….yaml`)."""
    line: int
    """Line number from 1; 0 if the finding is about the whole file."""
    kind: Kind
    text: str
    """What is wrong, in one line."""
    remedy: str = ""
    """How to fix the problem; if empty, it becomes the default remedy of the finding's kind."""

    def __post_init__(self) -> None:
        if not self.remedy:
            force_setattr(self, "remedy", REMEDIES[self.kind])

    @property
    def is_settled_by_build(self) -> bool:
        """Return whether `dvwiki build` fixes the problem without further decisions."""
        return self.remedy == BUILD

    @property
    def is_warning(self) -> bool:
        """Return whether the finding is only a warning."""
        return self.kind in WARNINGS


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
