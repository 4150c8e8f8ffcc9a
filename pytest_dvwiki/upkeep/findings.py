"""Findings: what the checks report about a wiki."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

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
    "near_duplicate": "merge them if they have the same cause; otherwise list the other page in `distinct_from`",
    "unreadable": "correct the frontmatter",
    "left_alone": "correct it, or restore the page from git, then run `dvwiki build`",
    "conflict": "resolve it by hand, then run `dvwiki build`",
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
    """How to fix the problem; if empty, the default remedy of its kind is used."""

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
