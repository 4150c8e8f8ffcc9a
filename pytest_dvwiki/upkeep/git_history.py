"""Checks in git's history that no record and no line of `log.md` was changed or removed."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.capture.git.command import git
from pytest_dvwiki.upkeep.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.settings import Layout

_RECORD = re.compile(r"tasks/\d{4}/\d{2}/(?P<task>[^/]+)\.yaml$")
_COMMIT = re.compile(r"commit ([0-9a-f]+)")
_CHANGED = ("--no-renames", "--diff-filter=MD", "--name-status")
_REMOVED = ("--patch", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv")
_TIMEOUT_S = 60.0


def check_log(layout: Layout) -> Iterator[Finding]:
    """Yield a finding for each commit that removed lines of `log.md`, and one for lines removed without a commit.

    Lines that were restored later do not count, and merge commits are ignored.
    """
    log = layout.wiki / "log.md"
    committed = _git(layout, "log", "--no-merges", "--format=commit %h", *_REMOVED, "--", str(log))
    now = _git(layout, "diff", *_REMOVED, "HEAD", "--", str(log))
    present = set(reading.text_or_empty(log).split("\n"))
    gone: dict[str, int] = {}
    for commit, line in _by_commit(committed, now):
        text = line.removeprefix("-")
        if line.startswith("-") and not line.startswith("--- ") and text.strip() and text not in present:
            gone[commit] = gone.get(commit, 0) + 1
    for commit, count in gone.items():
        removed = f"commit {commit} removed {count} of its lines" if commit else f"{count} of its committed lines"
        yield Finding("log.md", 0, "log_changed", f"{removed}{'' if commit else ' are missing'}")


def check_records(layout: Layout, archive: Archive) -> Iterator[Finding]:
    """Yield a finding for each record that was changed, or that was removed without having been rolled up."""
    tasks = str(layout.tasks)
    committed = _git(layout, "log", "--no-merges", "--format=commit %h", *_CHANGED, "--", tasks)
    now = _git(layout, "diff", *_CHANGED, "HEAD", "--", tasks)
    first: dict[str, tuple[str, str]] = {}
    for commit, line in _by_commit(committed, now):
        what, _, path = line.partition("\t")
        record = _RECORD.search(path)
        if record and (what == "M" or archive.record(record["task"]) is None):
            # git lists the newest commit first; the oldest listed commit is the first that changed the record.
            place = path.rpartition("tasks/")[2]
            first[place] = (commit, what) if commit or place not in first else first[place]
    for place, (commit, what) in first.items():
        was = f"{commit}^" if commit else "HEAD"
        file = layout.tasks / place
        if what == "M" and _is_as_in(layout, was, file):
            continue
        who = f"commit {commit}" if commit else "an uncommitted change"
        gone = "removed it, and no monthly file contains it"
        did = "changed it, but records must not change" if what == "M" else gone
        back = f"restore it: `git checkout {was} -- {os.path.relpath(file, layout.root)}`"
        yield Finding(f"../tasks/{place}", 0, "record_changed", f"{who} {did}", back)


def _by_commit(committed: str | None, now: str | None) -> Iterator[tuple[str, str]]:
    """Yield the lines of git's output with their commits; an empty commit marks uncommitted changes."""
    commit = ""
    for line in (committed or "").split("\n"):
        found = _COMMIT.fullmatch(line)
        commit = found[1] if found else commit
        if not found:
            yield commit, line
    yield from (("", line) for line in (now or "").split("\n"))


def _is_as_in(layout: Layout, commit: str, file: Path) -> bool:
    """Return whether a file has the same content as in a commit."""
    was = _git(layout, "rev-parse", f"{commit}:./{os.path.relpath(file, layout.root)}")
    return was is not None and was == _git(layout, "hash-object", "--", str(file))


def _git(layout: Layout, *arguments: str) -> str | None:
    return git(layout.root, *arguments, timeout=_TIMEOUT_S)
