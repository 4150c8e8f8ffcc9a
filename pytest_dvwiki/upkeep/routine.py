"""The check that a session of tests makes by itself: a quick one each time, a full one now and then."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

from pytest_dvwiki.records.disk import WikiError, replace
from pytest_dvwiki.upkeep.lint import lint

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Settings

_COUNT = "sessions"
_MOST_PAGES = 1000
"""A larger wiki is read as a whole by `dvwiki lint` alone: no session of tests is to wait for it."""


def look(settings: Settings) -> str | None:
    """Checks the wiki as far as it is this session's turn.

    Returns:
        What is wrong, in one line; None where nothing was, there is no wiki, or no check is wanted.

    Raises:
        WikiError: The wiki could not be read.
    """
    wiki = settings.layout.wiki
    if not (wiki / "index.md").exists():
        return None
    interval = settings.lint_interval_sessions
    is_turn = interval > 0 and _session(wiki / ".cache" / _COUNT) % interval == 0
    is_full = is_turn and sum(1 for _ in wiki.glob("*/*.md")) <= _MOST_PAGES
    if not (is_full or settings.lint_on_startup):
        return None
    found = lint(settings.layout, "full" if is_full else "quick")
    kinds = Counter(finding.kind for finding in found if not finding.is_warning)
    if not kinds:
        return None
    total = kinds.total()
    named = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in kinds.most_common())
    return f"the wiki has {total} finding{'' if total == 1 else 's'} ({named}): `dvwiki lint` names them"


def _session(path: Path) -> int:
    """The number of this session, from 1, counted in a disposable file."""
    try:
        number = int(path.read_text("ascii")) + 1
    except (OSError, ValueError):
        number = 1
    with contextlib.suppress(WikiError):  # a wiki that cannot be written is checked as if it were the first time
        replace(path, f"{number}\n".encode())
    return number
