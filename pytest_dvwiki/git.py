"""Runs git. No call waits for input, fetches anything, or exceeds its time limit."""

from __future__ import annotations

import os
import subprocess
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMEOUT_S = 10.0
_CONFIG = ("core.fsmonitor=false", "log.showSignature=false", "protocol.allow=never")
_SETTINGS = [word for setting in _CONFIG for word in ("-c", setting)]


def output(
    folder: os.PathLike[str],
    *arguments: str,
    most: int = 0,
    timeout: float = TIMEOUT_S,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> bytes | None:
    """Run git in a folder and return its output; None if git is missing, times out, or exits with more than `most`."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "--no-pager", *_SETTINGS, "-C", os.fspath(folder), *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=os.environ | {"GIT_TERMINAL_PROMPT": "0", **variables},
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if 0 <= done.returncode <= most else None
