"""Commit the files that dvwiki wrote in the `.agent` folder, but not people's own files and edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki.capture.git.commits import Branch, MovedError, RefusedError
from pytest_dvwiki.model.sentences import count, few
from pytest_dvwiki.records.codec import RecordError
from pytest_dvwiki.records.store import split_month
from pytest_dvwiki.wiki.kinds.owned import OWNED
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.review import FOLDER
from pytest_dvwiki.wiki.text import pages

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_dvwiki.capture.git.commits import Changed
    from pytest_dvwiki.settings import Layout

__all__ = ["Committed", "RefusedError", "Upkeep", "changed_by_people", "commit"]

TRAILER = "Dvwiki-Task"
_ATTEMPTS = 5
_MOST_NAMED = 3
_DERIVED = frozenset({"index.md", "log.md", "handoffs.md", "_index.md"})
_FIXED = frozenset({"WIKI.md", "schema.yaml", ".gitignore", ".gitattributes"})
"""Files created with a new wiki and then left to people."""


class Committed(Struct, frozen=True):
    """The result of a commit."""

    text: str = ""
    """The commit, its branch and its number of files; empty if there was nothing to commit."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""


class Upkeep(Struct, frozen=True, kw_only=True):
    """Additional content of an upkeep commit."""

    people: frozenset[str]
    """Files that people had changed before upkeep, relative to the repository's top."""
    also: tuple[Path, ...] = ()
    """Files and folders exported to the repository by upkeep."""


def changed_by_people(layout: Layout, branch: str) -> frozenset[str]:
    """Return the files of the `.agent` folder that differ from HEAD, relative to the repository's top.

    Raises:
        RefusedError: There is no repository or no such branch, or the repository's state does not allow a commit.
    """
    with Branch(layout.agent, branch):
        pass  # raises if a commit is not possible
    with Branch(layout.agent) as head:
        return frozenset(each.path for each in head.changed(layout.agent.resolve()))


def commit(layout: Layout, branch: str, task_id: str, *, upkeep: Upkeep | None = None) -> Committed:
    """Commit the records that are not in git yet, and pages with changes only in their owned parts.

    The branch is `HEAD` for the current one. With `upkeep`, all files that people had not changed before upkeep are
    committed, and a branch that is only behind HEAD is first fast-forwarded.

    Raises:
        RefusedError: The state of the repository does not allow a commit.
        WikiError: The wiki is locked for too long.
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            forward = upkeep is not None
            with locked(layout.wiki, layout.lock_timeout), Branch(layout.agent, branch, forward=forward) as target:
                return _commit(layout, target, task_id, upkeep)
        except MovedError:
            if not left:
                raise
    raise AssertionError


def _commit(layout: Layout, target: Branch, task_id: str, upkeep: Upkeep | None) -> Committed:
    agent, tasks = layout.agent.resolve(), layout.tasks.resolve()
    missing = target.missing(tasks)
    rolled_up = _rolled_up(tasks, target.top, missing)
    lacking = len(missing) - len(rolled_up)
    chosen: list[str] = []
    names: list[str] = []
    notes: list[str] = []
    left_out: list[str] = []
    for each in target.changed(agent):
        path = target.top / each.path
        if lacking and (not path.is_relative_to(tasks) or path.parent.parent == tasks):
            continue
        is_ours = _is_ours(layout, path, each, target)
        if upkeep and each.staged is None and each.path not in upkeep.people:
            is_ours = True
        if is_ours is None:
            left_out.append(path.relative_to(agent).as_posix())
        elif is_ours:
            chosen.append(each.path)
            names += [path.stem] if path.parent.parent.parent == tasks else []
    inside = [path.resolve() for path in (upkeep.also if upkeep else ())]
    chosen += [each.path for path in inside if path.is_relative_to(target.top) for each in target.changed(path)]
    if left_out:
        changed = few(left_out, _MOST_NAMED)
        notes.append(f"not committed, because people also changed these files: {changed}; commit them yourself")
    if lacking:
        remedy = "restore the files, or commit their removal"
        if not target.is_checked_out:
            remedy = "run `dvwiki build` on that branch to count every record"
        records = count(lacking, "record")
        notes.append(f"only records were committed: {target.name} has {records} that this work tree lacks; {remedy}")
    if not (chosen or rolled_up):
        if target.ignores(tasks / "1970.yaml"):
            notes.append(f"nothing can be committed: git ignores {tasks}; remove it from the ignore rules")
        return Committed(notes=tuple(notes))
    trailers = "".join(f"{TRAILER}: {name}\n" for name in sorted(names) or [task_id])
    name = target.commit(chosen, f"dvwiki: {task_id}\n\n{trailers}", rolled_up)
    return Committed(f"{name[:10]} on {target.name} ({count(len(chosen), 'file')})", tuple(notes))


def _rolled_up(tasks: Path, top: Path, missing: Iterable[str]) -> list[str]:
    """Return the missing records that `dvwiki compact` moved to the file of their month."""
    found = []
    months: dict[Path, set[str]] = {}
    for path in missing:
        record = top / path
        month = record.parent.with_suffix(".yaml")
        if record.parent.parent.parent == tasks:
            if month not in months:
                months[month] = set(_documents(month.read_bytes() if month.is_file() else b"", month))
            found += [path] if record.stem in months[month] else []
    return found


def _documents(data: bytes, month: Path) -> dict[str, bytes]:
    """Return the records in a monthly file by name; empty if the file cannot be read."""
    try:
        return split_month(month, data, month.name)
    except RecordError:
        return {}


def _is_ours(layout: Layout, path: Path, changed: Changed, target: Branch) -> bool | None:
    """Return whether dvwiki alone changed a file: False if people did, None if both did."""
    tasks, wiki = layout.tasks.resolve(), layout.wiki.resolve()
    before, data, staged = target.content(changed.path), path.read_bytes(), changed.staged
    if path.is_relative_to(tasks):
        # Records, lists and verdicts are written once: if one differs, somebody else changed it. Only the file of a
        # month gains records.
        kept = _documents(before, path) if before is not None and path.parent.parent == tasks else {}
        gains = bool(kept) and kept.items() <= _documents(data, path).items()
        return (before is None or gains) and staged in {None, data}
    if not path.is_relative_to(wiki) or staged == b"":
        return False
    category, *names = path.relative_to(wiki).parts
    if category == FOLDER:
        return staged in {None, data}
    if path.name in _DERIVED:
        return True
    if not names:
        return path.name in _FIXED and before is None and staged in {None, data}
    return category in OWNED and _has_our_part_alone(data, before, staged, OWNED[category])


def _has_our_part_alone(data: bytes, before: bytes | None, staged: bytes | None, owned: Iterable[str]) -> bool | None:
    """Return whether dvwiki alone changed a page since git's version: False if people did, None if both did."""
    if not pages.region_names(data):
        return False
    others = [version for version in (before, staged) if version is not None]
    people = pages.skeleton(data, owned)
    if all(pages.skeleton(version, owned) == people for version in others):
        return True
    return False if before is not None and pages.regions(before) == pages.regions(data) else None
