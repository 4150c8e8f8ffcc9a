"""The wiki, records, waivers and patterns of a git revision, in a temporary folder."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

from pytest_dvwiki.capture.git.command import git
from pytest_dvwiki.settings import Layout

_TIMEOUT_S = 300.0


class RevisionError(Exception):
    """A revision cannot be read; the message gives the revision and the reason."""


class Revision:
    """The wiki of a git revision and the files beside it, in a temporary folder that lives as long as this object.

    Caches are rebuilt, because the caches in the working tree may already include the change under examination.

    Raises:
        RevisionError: git does not know the revision, or the revision has no wiki, records, patterns or waivers.
    """

    def __init__(self, layout: Layout, name: str) -> None:
        root = layout.root
        found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if not found:
            raise RevisionError(f"unknown revision {name!r:.80}; fetch it first: `git fetch origin {name}`")
        self.commit: str = found
        shown = f"{name} ({found[:7]})"
        if not layout.is_inside:
            raise RevisionError(
                f"the wiki {layout.wiki} is not in the repository, so {name} has no version of it; "
                "move the wiki into the repository, or set no base revision"
            )
        temporary = tempfile.mkdtemp(prefix="dvwiki-")
        weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)
        folder = Path(temporary, "agent")
        folder.mkdir()
        self.layout = Layout(root=root, wiki=folder / layout.wiki.name)
        # A separate index leaves the user's index alone; `git archive` would leave out `export-ignore` files.
        index = {"GIT_INDEX_FILE": os.path.join(temporary, "index")}  # noqa: PTH118 (a text)
        # In a folder below the top, checkout-index writes only the files of that folder.
        top = Path(git(root, "rev-parse", "--show-toplevel") or root)
        of_agent = f"{found}:./{layout.agent.relative_to(root).as_posix()}"
        parts = {
            path.name: git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{of_agent}/{path.name}")
            for path in (layout.wiki, layout.tasks, layout.patterns, layout.waivers)
        }
        if not any(parts.values()):
            raise RevisionError(f"{shown} has nothing in {layout.agent.relative_to(root)}; pass a revision with a wiki")
        waivers = parts.pop(layout.waivers.name)
        trees = [("read-tree", f"--prefix={part}/", tree) for part, tree in parts.items() if tree]
        checkout = ("checkout-index", "--all", "--force", "--quiet", f"--prefix={folder}{os.sep}")
        for arguments in (*trees, checkout):
            if git(top, *arguments, timeout=_TIMEOUT_S, variables=index) is None:
                raise RevisionError(
                    f"git {arguments[0]} cannot read the wiki of {shown}; fetch all of it: `git fetch origin {name}`"
                )
        if waivers:
            text = git(root, "cat-file", "blob", waivers)
            if text is None:
                raise RevisionError(
                    f"git cannot read the waivers of {shown}; fetch all of it: `git fetch origin {name}`"
                )
            self.layout.waivers.write_text(text, encoding="utf-8")
