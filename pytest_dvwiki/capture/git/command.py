"""The git command: every call is bounded; none waits for input, fetches, or takes longer than a few seconds."""

from __future__ import annotations

import os
import re
import subprocess
import time
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_dvwiki.model.sentences import shortened
from pytest_dvwiki.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 160
_STATE_TIMEOUT_S = 10.0
_PAST_TIMEOUT_S = 10.0
_CONFIG = ("core.fsmonitor=false", "log.showSignature=false", "protocol.allow=never")
COMMIT = re.compile(r"[0-9a-f]{7,64}")
DIFF = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
PATCH = (*DIFF, "--full-index", "--unified=0", "--src-prefix=a/", "--dst-prefix=b/")


class Git:
    """Questions to git on the past of a repository, which share one time limit.

    Args:
        root: A folder in the repository.
    """

    def __init__(self, root: os.PathLike[str]) -> None:
        self.root = root
        self._answers: dict[tuple[str, ...], str | None] = {}
        self._time_left = _PAST_TIMEOUT_S

    def ask(self, *arguments: str) -> str | None:
        """Return git's answer on the past, cached; None if git fails or the time is up."""
        if arguments not in self._answers and self._time_left:
            began = time.monotonic()
            self._answers[arguments] = git(self.root, *arguments, timeout=self._time_left)
            self._time_left = max(0.0, self._time_left - (time.monotonic() - began))
        return self._answers.get(arguments)


def clean_text(text: str) -> str:
    """Return a text of git as it may be stored: one short line without secrets."""
    return shortened(" ".join(redact(text).split()), _LONGEST)


def git(
    root: os.PathLike[str],
    *arguments: str,
    timeout: float = _STATE_TIMEOUT_S,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> str | None:
    """Return git's output in a folder; None if git is missing, slow, or fails."""
    settings = [word for setting in _CONFIG for word in ("-c", setting)]
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "--no-pager", *settings, "-C", os.fspath(root), *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            env=os.environ | {"GIT_TERMINAL_PROMPT": "0", **variables},
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
