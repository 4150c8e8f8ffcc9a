"""What never changes and did, as git tells it: lines of `log.md`, and records."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.repository import git
from pytest_dvwiki.upkeep.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.settings import Layout

_RECORD = re.compile(r"tasks/\d{4}/\d{2}/(?P<task>[^/]+)\.yaml$")
_COMMIT = re.compile(r"commit ([0-9a-f]+)")
_CHANGED = ("--no-renames", "--diff-filter=MD", "--name-status")
_TIMEOUT_S = 60.0


def check_log(layout: Layout) -> Iterator[Finding]:
    """Commits that took lines out of `log.md`, and lines that are taken out now; a merge takes none."""
    log = layout.wiki / "log.md"
    committed = _git(layout, "log", "--no-merges", "--format=commit %h", "--numstat", "--", str(log))
    commit = ""
    for line in (committed or "").splitlines():
        found = _COMMIT.fullmatch(line)
        if found:
            commit = found[1]
        elif _removes(line):
            yield Finding("log.md", 0, "log_changed", f"commit {commit} removed {line.split()[1]} of its lines")
    now = _git(layout, "diff", "--numstat", "HEAD", "--", str(log))
    if now and _removes(now):
        yield Finding("log.md", 0, "log_changed", f"{now.split()[1]} of its committed lines are not there now")


def check_records(layout: Layout, archive: Archive) -> Iterator[Finding]:
    """Records that were changed, or removed without being kept in the file of a month."""
    tasks = str(layout.tasks)
    changed = _git(layout, "log", "--no-merges", "--format=commit %h", *_CHANGED, "--", tasks)
    now = _git(layout, "diff", *_CHANGED, "HEAD", "--", tasks)
    commit = ""
    for line in [*(changed or "").splitlines(), "now", *(now or "").splitlines()]:
        found = _COMMIT.fullmatch(line)
        if found or line == "now":
            commit = f"commit {found[1]}" if found else "an uncommitted change"
            continue
        what, _, path = line.partition("\t")
        record = _RECORD.search(path)
        if record is None:
            continue
        place = f"../tasks/{path.rpartition('tasks/')[2]}"
        if what == "M":
            yield Finding(place, 0, "record_changed", f"{commit} changed it; a record is written once")
        elif what == "D" and archive.record(record["task"]) is None:
            yield Finding(place, 0, "record_changed", f"{commit} removed it, and no month's file holds it")


def _removes(numstat: str) -> bool:
    parts = numstat.split()
    return len(parts) >= 2 and parts[1].isdigit() and int(parts[1]) > 0  # noqa: PLR2004 (added, removed, file)


def _git(layout: Layout, *arguments: str) -> str | None:
    return git(layout.root, *arguments, timeout=_TIMEOUT_S)
