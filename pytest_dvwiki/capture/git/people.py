"""Owners of files according to CODEOWNERS, and authors of commits and lines."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from pytest_dvwiki.capture.git.command import COMMIT, PATCH, Git, clean_text
from pytest_dvwiki.capture.git.owners import PLACES, CodeOwners

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_OWNERS = 5
_MOST_BLAMED = 5
"""Maximum number of changed files that are searched for authors."""
_MOST_HUNKS = 20
_MOST_LINES = 100
_LARGEST_OWNERS = 1_000_000
"""Maximum size of a CODEOWNERS file in bytes."""
_GITLAB = ".gitlab-ci.yml"
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)


class People:
    """The owners and authors in a repository."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._rules: dict[str, CodeOwners | None] = {}

    def owners(self, commit: str, files: Sequence[str]) -> tuple[str, ...]:
        """Return the owners of files according to the CODEOWNERS of a commit, the owners of the first file first."""
        if files and commit not in self._rules:
            self._rules[commit] = self._code_owners(commit)
        rules = self._rules.get(commit)
        found = dict.fromkeys(owner for name in files for owner in rules.of(name)) if rules else ()
        return tuple(map(clean_text, found))[:MOST_OWNERS]

    def authors(self, before: str, now: str, files: Sequence[str]) -> tuple[str, ...]:
        """Return the authors of the lines that a change touched; the author of the most lines comes first.

        Return nothing in a shallow clone, because git then does not know all authors.

        Args:
            before: The commit before the change.
            now: The commit after the change; the same as `before` for uncommitted changes.
            files: Changed files; only the first few are examined.
        """
        if not files or self._git.ask("rev-parse", "--is-shallow-repository") != "false":
            return ()
        lines: Counter[str] = Counter()
        for name in files[:_MOST_BLAMED]:
            lines.update(self._authors_of(before, now, name))
        ranked = sorted(lines, key=lambda author: (-lines[author], author))
        return tuple(clean_text(author) for author in ranked if author)[:MOST_OWNERS]

    def owners_now(self, file: str) -> tuple[str, ...]:
        """Return the owners of a file below the root, according to the CODEOWNERS of the current commit."""
        prefix = self._git.ask("rev-parse", "--show-prefix")
        return self.owners("HEAD", [f"{prefix}{file}"]) if prefix is not None else ()

    def author(self, commit: str) -> str:
        """Return the author of a commit; empty if git does not know it."""
        return self._author(commit) if COMMIT.fullmatch(commit) else ""

    def last_author(self, file: str) -> str:
        """Return the author of the last change to a file below the root; empty if git does not know it."""
        return self._author("HEAD", "--", f":(literal){file}")

    def _author(self, *of: str) -> str:
        return clean_text(self._git.ask("log", "-1", "--format=%an", "--encoding=UTF-8", *of) or "")

    def _code_owners(self, commit: str) -> CodeOwners | None:
        """Return the rules of the CODEOWNERS file of a commit; None if the commit has no such file."""
        names = (*PLACES, _GITLAB)
        listing = self._git.ask("ls-tree", "--full-tree", "-l", "-z", commit, "--", *names) or ""
        entries = (entry.partition("\t") for entry in listing.split("\0") if entry)
        found = {name: about.split() for about, _, name in entries}
        place = next((name for name in PLACES if name in found), None)
        if place is None:
            return None
        _, kind, blob, size = found[place]
        if kind != "blob" or not size.isdigit() or int(size) > _LARGEST_OWNERS:
            return None
        text = self._git.ask("cat-file", "blob", blob) or ""
        return CodeOwners(text, gitlab=place.startswith(".gitlab/") or _GITLAB in found)

    def _authors_of(self, before: str, now: str, name: str) -> list[str]:
        """Return the author of each touched line of a file; for inserted lines, the author of the line before them."""
        span = [before] if before == now else [before, now]
        patch = self._git.ask("diff", *PATCH, *span, "--", f":(top,literal){name}") or ""
        hunks = [] if "\n--- /dev/null\n" in patch else _HUNK.findall(patch)[:_MOST_HUNKS]
        # A hunk without a count has one line; a count of 0 means that lines were inserted after that line.
        ranges = [f"-L{max(1, int(first))},+{min(int(count or 1) or 1, _MOST_LINES)}" for first, count in hunks]
        top = self._git.ask("rev-parse", "--show-cdup")
        if not ranges or top is None:
            return []
        annotated = self._git.ask("blame", "-w", "--line-porcelain", *ranges, before, "--", f"{top}{name}") or ""
        return [line.removeprefix("author ") for line in annotated.split("\n") if line.startswith("author ")]
