"""Statements made by a person on the command line, each archived as a separate record."""

from __future__ import annotations

import getpass
import time
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.cli import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.capture.git.repository import Repository
    from pytest_dvwiki.model import RunRecord


def record_of_now(name: str, repository: Repository, **parts: Any) -> RunRecord:
    """Return a record of what a person states now, without a run.

    Args:
        name: Name of the command, used as the first part of the task id.
        repository: The repository, for its current commit and state.
        parts: The fields of the record that hold the statement.
    """
    from pytest_dvwiki.model import RunRecord  # noqa: PLC0415
    from pytest_dvwiki.runs import new_task_id, utc  # noqa: PLC0415

    now = time.time()
    return RunRecord.stated(new_task_id(name, now), utc(now), vcs=repository.state(), **parts)


def required_text(text: str, where: str, advice: str) -> str:
    """Return a user's text on one line, with secrets masked.

    Args:
        text: The text as given.
        where: The name of the argument, for the message.
        advice: What to write there.
    """
    from pytest_dvwiki.redact import redact  # noqa: PLC0415

    words = " ".join(redact(text).split())
    if not words:
        raise UsageError(f"{where} is empty; {advice}")
    return words


def user_of(root: Path) -> str:
    """Return the user's name from git's configuration, else the account name."""
    from pytest_dvwiki.capture.git.command import git  # noqa: PLC0415
    from pytest_dvwiki.redact import redact  # noqa: PLC0415

    try:
        account = getpass.getuser()
    except (OSError, KeyError):
        account = "somebody"
    return " ".join(redact(git(root, "config", "user.name") or account).split())
