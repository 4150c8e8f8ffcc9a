"""The root of a project, for callers without a pytest session."""

from __future__ import annotations

from pathlib import Path


def find_root(start: Path) -> Path:
    """Return the nearest parent with a folder `.agent`, else the top of the git repository, else the folder itself."""
    start = start.resolve()
    folders = (start, *start.parents)
    home = _home()
    for mark in (".agent", ".git"):
        for folder in folders:
            # `.git` is a file in a worktree. The home folder's `.agent` belongs to no project.
            if (folder / mark).exists() and (folder != home or folder == start):
                return folder
    return start


def memory_above(root: Path) -> Path | None:
    """Return the nearest parent with a folder `.agent`, up to the top of the git repository; None if there is none."""
    folder = root.resolve()
    while not (folder / ".git").exists() and folder != folder.parent:
        folder = folder.parent
        if (folder / ".agent").is_dir() and folder != _home():
            return folder
    return None


def _home() -> Path | None:
    """Return the user's home folder; None if there is none, as for some users in containers."""
    try:
        return Path.home()
    except RuntimeError:
        return None
