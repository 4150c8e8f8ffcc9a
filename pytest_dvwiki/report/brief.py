"""The causes of a run as text for other programs: this module selects what to show, and each output formats it."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_dvwiki import nodeids
from pytest_dvwiki.causes.words import sentence, text
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.records.command import from_anywhere
from pytest_dvwiki.records.name_parts import SLASH
from pytest_dvwiki.redact import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_dvwiki.causes.cause import Cause
    from pytest_dvwiki.pipeline import Archived

NEWS = ("NEW", "REGRESSED", "KNOWN", "WAIVED")
"""The states of causes, in display order."""

_MOST_TESTS = 5


class Brief(Struct, frozen=True, kw_only=True):
    """One cause of a run as text, not yet escaped for any format."""

    fingerprint: str
    word: str
    label: str
    primary: str
    tests: tuple[str, ...]
    statements: tuple[str, ...]
    """The sentences about the cause, in reading order."""
    command: str = ""
    page: str = ""
    """Path of the cause's page, relative to the root; empty if no page is on disk."""
    file: str = ""
    """File that reported the cause, else a failing test's file, relative to the root; empty if both are outside it."""
    line: int | None = None
    """Line in `file`; None if it is not known."""


def briefs_of(archived: Archived, root: Path) -> list[Brief]:
    """Return the causes of a run in display order."""
    causes = sorted(archived.causes, key=lambda cause: NEWS.index(cause.word))
    return [_brief(archived, cause, root) for cause in causes]


def headline(causes: Sequence[Brief | Cause]) -> str:
    """Return the numbers of causes and failed tests, and of new, regressed, known and waived causes, as text."""
    if not causes:
        return "no failure"
    tests = {test for cause in causes for test in cause.tests}
    behind = f" behind {count(len(tests), 'failed test')}" if tests else ""
    return f"{count(len(causes), 'cause')}{behind}: {news_of(cause.word for cause in causes)}"


def news_of(words: Iterable[str]) -> str:
    """Return the numbers of new, regressed, known and waived causes as text, such as `2 new, 1 known`."""
    counts = Counter(words)
    return ", ".join(f"{counts[word]} {word.lower()}" for word in NEWS if counts[word])


def tests_of(brief: Brief) -> str:
    """Return the number of a cause's tests and some of their names as text; empty without tests."""
    if not brief.tests:
        return ""
    more = f", +{len(brief.tests) - _MOST_TESTS}" if len(brief.tests) > _MOST_TESTS else ""
    return f"{count(len(brief.tests), 'test')}: {', '.join(map(nodeids.shown, brief.tests[:_MOST_TESTS]))}{more}"


def _brief(archived: Archived, cause: Cause, root: Path) -> Brief:
    stated = map(text, archived.statements(cause))
    page, recorded = cause.page_to_read or "", cause.occurrence.fingerprint
    file, line = _place(cause, root)
    return Brief(
        # Causes that share a recorded fingerprint are told apart by a number, which each run assigns anew. Other tools
        # compare runs, so they get the cause's name, which stays the same.
        fingerprint=cause.name if SLASH in f"{cause.name}{recorded}" else recorded,
        word=cause.word,
        label=cause.label,
        primary=_line(cause.occurrence.primary),
        tests=tuple(map(_line, cause.tests)),
        statements=tuple(sentence(_line(words)) for words in stated if words),
        command=_line(from_anywhere(cause.command)) if cause.command is not None else "",
        page=page if page and (root / page).is_file() else "",
        file=file,
        line=line,
    )


def _place(cause: Cause, root: Path) -> tuple[str, int | None]:
    place = cause.occurrence.place
    frame = cause.verdict.frame if cause.verdict is not None else None
    named = [(place.file, place.line)] if place is not None else []
    named += [(frame.file, frame.line)] if frame is not None else []
    named += [(test.partition("::")[0], None) for test in cause.tests]
    for file, line in named:
        # The name comes from a log; other tools can show only files of the project.
        inside = os.path.normpath(file)
        if not os.path.isabs(inside) and not inside.startswith(os.pardir) and os.path.isfile(root / inside):  # noqa: PTH113, PTH117  # raise nothing for a NUL
            return inside, line
    return "", None


def _line(text: str) -> str:
    return " ".join(clean(text).split())
