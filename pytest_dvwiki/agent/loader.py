"""Prompt templates, with placeholders filled from the wiki."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.agent.query import WikiQueryService

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_dvwiki.agent.followed import FollowedWiki
    from pytest_dvwiki.wiki.config import WikiConfig

_PLACEHOLDER = re.compile(r"\{\{[ \t]*([A-Z][A-Z0-9_]*)[ \t]*\}\}")
_HOLES = 3
"""Maximum number of coverage holes in a prompt; for patterns and bugs it is five."""
QUESTIONS: dict[str, Callable[[WikiQueryService], str]] = {
    "KNOWN_ERROR_PATTERNS": lambda wiki: wiki.get_known_error_patterns(),
    "KNOWN_RTL_BUGS": lambda wiki: wiki.get_known_rtl_bugs(),
    "COVERAGE_HOLE_HISTORY": lambda wiki: wiki.get_coverage_history(top_k=_HOLES),
    "WIKI_PATTERN_SUMMARY": lambda wiki: wiki.get_pattern_summary(),
}
"""Maps each placeholder to the query that fills it."""


class PromptLoader:
    """Fills the placeholders of prompt templates.

    Args:
        config: Which wiki to read, and the token budgets; a wiki that is not `enabled` is not read.
        profile: Values of the caller's own placeholders, and defaults for when the wiki has no answer.
        followed: The same wiki, kept open between queries; if None, each query opens the wiki.
    """

    def __init__(
        self, config: WikiConfig, profile: Mapping[str, str] | None = None, followed: FollowedWiki | None = None
    ) -> None:
        self._wiki = WikiQueryService(config, followed)
        self._profile = dict(profile or {})

    def render(self, text: str) -> str:
        """Fill the placeholders of a template.

        A value of several lines becomes a paragraph of its own, so that its fences stay valid. Unknown placeholders are
        kept; lines with nothing but empty placeholders are removed. Placeholders inside values are not filled.
        """
        values = self._values({found[1] for found in _PLACEHOLDER.finditer(text)})
        return "".join(_line(line, values) for line in text.splitlines(keepends=True))

    def _values(self, names: set[str]) -> dict[str, str]:
        """Return the values of the known placeholders among these names."""
        values = {name: self._profile[name] for name in names if name in self._profile}
        for name in sorted(names & QUESTIONS.keys()):
            values[name] = QUESTIONS[name](self._wiki) or values.get(name, "")
        return values


def _line(line: str, values: Mapping[str, str]) -> str:
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    parts: list[str] = []
    place = 0
    for found in _PLACEHOLDER.finditer(body):
        if found[1] in values:
            parts += [body[place : found.start()], values[found[1]]]
            place = found.end()
    if not parts:
        return line
    parts.append(body[place:])
    if not "".join(parts).strip():
        return ""
    if not any("\n" in value for value in parts[1::2]):
        return "".join(parts) + end
    return "\n\n".join(part for part in parts if part.strip()) + end
