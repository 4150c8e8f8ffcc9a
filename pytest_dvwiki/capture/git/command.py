"""Runs git, and returns its output as text."""

from __future__ import annotations

import re
import time
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_dvwiki.git import TIMEOUT_S, output
from pytest_dvwiki.model.sentences import shortened
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

_LONGEST = 160
_PAST_TIMEOUT_S = 10.0
COMMIT = re.compile(r"[0-9a-f]{7,64}")
DIFF = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
PATCH = (*DIFF, "--full-index", "--unified=0", "--src-prefix=a/", "--dst-prefix=b/")


class Git:
    """Queries about a repository's history. Answers are cached, and one time limit applies to all queries together."""

    def __init__(self, root: os.PathLike[str]) -> None:
        self.root = root
        self._answers: dict[tuple[str, ...], str | None] = {}
        self._time_left = _PAST_TIMEOUT_S

    def ask(self, *arguments: str) -> str | None:
        """Return git's answer to a query about history, cached; None if git fails or the time is up."""
        if arguments not in self._answers and self._time_left:
            began = time.monotonic()
            self._answers[arguments] = git(self.root, *arguments, timeout=self._time_left)
            self._time_left = max(0.0, self._time_left - (time.monotonic() - began))
        return self._answers.get(arguments)

    @property
    def is_late(self) -> bool:
        """Return whether the time is up. If it is, a missing answer proves nothing."""
        return not self._time_left


def clean_text(text: str) -> str:
    """Return text from git as one short line without secrets, ready to be stored."""
    return shortened(" ".join(redact(text).split()), _LONGEST)


def git(
    root: os.PathLike[str],
    *arguments: str,
    timeout: float = TIMEOUT_S,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> str | None:
    """Run git in a folder and return its output, stripped, with plain line feeds; None if git fails or times out."""
    found = output(root, *arguments, timeout=timeout, variables=variables)
    if found is None:
        return None
    return found.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").strip()


def texts(git: Git, commit: str, names: Iterable[str]) -> dict[str, str]:
    """Map the given files that exist in a commit to their texts."""
    paths = (f":(top,literal){name}" for name in names)
    # `ask` strips git's output; the line numbers protect the indentation of the first line.
    found = git.ask("grep", "-nz", "--full-name", "--no-color", "-e", "", commit, "--", *paths) or ""
    lines: dict[str, list[str]] = {}
    name = ""
    for line in found.split("\n"):
        place, is_numbered, text = line.partition("\0")
        if is_numbered:  # otherwise `ask` has replaced a carriage return inside a line by a line feed
            name = place.partition(":")[2]
        lines.setdefault(name, []).append(re.sub(r"^\d+[:\0]", "", text) if is_numbered else line)
    return {name: "\n".join(text) for name, text in lines.items() if name}
