"""GitHub Actions output: an annotation for each cause, and the job summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.report.brief import headline, tests_of
from pytest_dvwiki.wiki.text.markdown import code, escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.report.brief import Brief

SUMMARY_LIMIT = 1 << 20
"""Maximum size of the job summary of one step, in bytes."""
_MOST = 10
"""Maximum number of annotations per level that GitHub shows for one step."""
_LONGEST = 3000
_LEVELS = {"NEW": "error", "REGRESSED": "error", "KNOWN": "warning", "WAIVED": "notice"}


def workflow_commands(briefs: Sequence[Brief], folder: str) -> Iterator[str]:
    """Yield workflow commands that annotate the causes, up to the number that GitHub shows.

    Args:
        briefs: The causes.
        folder: Path of the project in the repository, ending with `/`; empty if the project is the repository.
    """
    left = dict.fromkeys(_LEVELS.values(), _MOST)
    for brief in briefs:
        level = _LEVELS[brief.word]
        if not left[level]:
            continue
        left[level] -= 1
        about = {"title": f"{brief.word} {brief.label}", "file": brief.file and f"{folder}{brief.file}"}
        about["line"] = str(brief.line or "") if brief.file else ""
        properties = ",".join(f"{name}={escaped(value, ':,')}" for name, value in about.items() if value)
        lines = (brief.primary, tests_of(brief), *brief.statements, brief.command, brief.page)
        message = "\n".join(filter(None, lines))[:_LONGEST]
        yield f"::{level} {properties}::{escaped(message)}"


def escaped(text: str, more: str = "") -> str:
    """Return a text escaped for a workflow command.

    Args:
        text: The text.
        more: Further characters to escape; `:,` for the value of a property such as `title`.
    """
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def summary(briefs: Sequence[Brief], room: int = SUMMARY_LIMIT) -> str:
    """Return the causes in Markdown.

    Args:
        briefs: The causes.
        room: Maximum size in bytes; causes that do not fit are counted but not shown.
    """
    parts = [f"### dvwiki: {headline(briefs)}\n"]
    room -= len(parts[0]) + 100  # for the line that counts the causes left out
    for number, brief in enumerate(briefs):
        part = f"\n{markdown(brief)}"
        room -= len(part.encode())
        if room < 0:
            parts.append(f"\n{count(len(briefs) - number, 'more cause')}\n")
            break
        parts.append(part)
    return "".join(parts)


def markdown(brief: Brief) -> str:
    """Return a cause in Markdown: a heading and a list."""
    items = [code(brief.primary), escape(tests_of(brief)), *map(escape, brief.statements)]
    items += [f"run {code(brief.command, limit=1000)}"] if brief.command else []
    items += [f"page {code(brief.page)}"] if brief.page else []
    return f"**{brief.word}** {escape(brief.label)}\n\n" + "".join(f"- {item}\n" for item in items if item)
