"""Checks the wiki in test sessions: a quick check as a rule, a full check at intervals."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import reading
from pytest_dvwiki.records.disk import WikiError, replace
from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.page_files import page_files
from pytest_dvwiki.wiki.page_summary import CATEGORIES

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout, Settings
    from pytest_dvwiki.upkeep.findings import Finding
    from pytest_dvwiki.upkeep.lint import Depth

_COUNT = "sessions"
_MOST_PAGES = 1000
"""With more pages than this, sessions run no full checks, because these take too long."""


class SessionCheck(Struct, frozen=True):
    """The findings of a session's check."""

    layout: Layout
    depth: Depth
    findings: tuple[Finding, ...]

    def remark(self, *, was_written: bool) -> str | None:
        """Return one line about the remaining findings, or None if there are none.

        Args:
            was_written: Whether the session was archived after the check. Archiving can fix findings that `dvwiki
                build` would fix, so they are checked again.

        Raises:
            WikiError: The wiki could not be read.
        """
        findings: tuple[Finding, ...] = self.findings
        if was_written and any(finding.is_settled_by_build for finding in findings):
            present = set(lint(self.layout, self.depth))
            findings = tuple(each for each in findings if not each.is_settled_by_build or each in present)
        if not findings:
            return None
        kinds = Counter(finding.kind for finding in findings)
        named = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in kinds.most_common())
        return (
            f"the wiki has {len(findings)} finding{'' if len(findings) == 1 else 's'} ({named}): `dvwiki lint` lists"
            f" {'it' if len(findings) == 1 else 'them'}"
        )


def check_session(settings: Settings) -> SessionCheck | None:
    """Run the check that is due in this session, if any.

    Returns:
        The findings other than warnings. None if there are none, if there is no wiki, or if no check is due.

    Raises:
        WikiError: The wiki could not be read.
    """
    layout = settings.layout
    if not (layout.wiki / "index.md").exists():
        return None
    interval = settings.lint_interval_sessions
    is_turn = interval > 0 and _session(layout.wiki / ".cache" / _COUNT) % interval == 0
    pages = (page for category in CATEGORIES for page in page_files(layout.wiki, category))
    is_full = is_turn and sum(1 for _ in pages) <= _MOST_PAGES
    if not (is_full or settings.lint_on_startup):
        return None
    depth: Depth = "full" if is_full else "quick"
    found = tuple(finding for finding in lint(layout, depth) if not finding.is_warning)
    return SessionCheck(layout, depth, found) if found else None


def _session(path: Path) -> int:
    """Return the number of this session, from 1, counted in a disposable file."""
    try:
        number = int(reading.read_bytes(path)) + 1
    except (OSError, ValueError):
        number = 1
    with contextlib.suppress(WikiError):  # if the wiki cannot be written, all sessions get the same number
        replace(path, f"{number}\n".encode())
    return number
