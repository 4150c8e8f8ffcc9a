"""The wiki, records, waivers and patterns of a git revision, in a temporary folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pytest_dvwiki.capture.git.repository import git
from pytest_dvwiki.settings import Layout

_TIMEOUT_S = 300.0


class RevisionError(Exception):
    """A revision that cannot be read; the text names it, and the remedy."""


class Revision:
    """The folder `.agent` of a git revision, in a temporary folder that lives as long as this object.

    Args:
        layout: The project.
        name: The revision, as git takes it.

    Raises:
        RevisionError: git does not know it, or it has no such folder.
    """

    def __init__(self, layout: Layout, name: str) -> None:
        root = layout.root
        found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if not found:
            raise RevisionError(f"git knows no revision {name!r:.80} here; fetch it first: `git fetch origin {name}`")
        self.commit: str = found
        if not layout.is_inside:
            raise RevisionError(f"the wiki {layout.wiki} is not in the repository, so {name} does not contain it")
        self._folder = tempfile.TemporaryDirectory(prefix="dvwiki-", ignore_cleanup_errors=True)
        temporary = Path(self._folder.name)
        self.layout = Layout(root=root, wiki=temporary / "agent" / layout.wiki.name)
        agent = layout.agent.relative_to(root).as_posix()
        index = {"GIT_INDEX_FILE": str(temporary / "index")}
        # Not `git archive`, which leaves out what the attribute export-ignore names.
        tree = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{found}:./{agent}")
        if tree is None:
            raise RevisionError(f"{name} ({found[:7]}) has no {agent}")
        prefix = f"--prefix={temporary / 'agent'}{os.sep}"
        # In a folder below the top, checkout-index writes only the files of that folder.
        top = Path(git(root, "rev-parse", "--show-toplevel") or root)
        for arguments in (("read-tree", tree), ("checkout-index", "--all", "--force", "--quiet", prefix)):
            if git(top, *arguments, timeout=_TIMEOUT_S, variables=index) is None:
                raise RevisionError(f"git {arguments[0]} cannot read {agent} of {name} ({found[:7]})")
