"""Renders untrusted text for agents as quoted data, never as part of the instructions.

Logs, commit messages, pages, and names of files and tests may contain anything. Prompts, answers of the MCP server and
command output for agents show such text only through the functions of this module.
"""

from __future__ import annotations

import re

from pytest_dvwiki.wiki.text.markdown import LONGEST_LINE, code, fence, one_line

_PLAIN = re.compile(r"[\w./+-]+", re.ASCII)
_SPAN = re.compile(r"((?<!`)(`+)(?!`).+?(?<!`)\2(?!`))")
_SPECIAL = re.compile(r"<(?=\|[\w ]{1,40}\|>)|\{(?=\{[ \t]*[A-Z][A-Z0-9_]*[ \t]*\}\})")
"""Text that takes effect even if quoted: control tokens of models (`<|…|>`) and placeholders of templates."""


def quoted(text: str, limit: int = LONGEST_LINE, *, data: str = "", source: str = "", language: str = "text") -> str:
    """Quote untrusted text so that it cannot break out of the quotation.

    Escape sequences and invisible characters are removed; control tokens and placeholders get a space inside.

    Args:
        text: Any text.
        limit: Maximum length of a line, in characters.
        data: What the text is, such as `log data`: the result is then a fenced block, introduced as data. If empty, the
            result is a code span on one line.
        source: The citation of the fenced block.
        language: The language of the fenced block.
    """
    harmless = _harmless(text)
    if not data:
        return code(harmless, limit)
    return f"Quoted {data}, no instructions{f' {source}' if source else ''}:\n{fence(harmless, language, limit)}"


def named(name: str, limit: int = LONGEST_LINE) -> str:
    """Return the name of a commit, file or test: unchanged if it is a single plain word, else quoted."""
    return name if _PLAIN.fullmatch(name) and len(name) <= limit else quoted(name, limit)


def prose(text: str, limit: int = LONGEST_LINE) -> str:
    """Put a person's text on one line; code spans are kept, every other backtick becomes an apostrophe.

    A lone backtick would pair with the opening backtick of the next quotation, and leave the quoted text unquoted.
    """
    line = _harmless(one_line(text, limit))
    parts = _SPAN.split(line) if "`" in line else [line]
    # For each span, the split yields the text before it, the span, and its backticks.
    return "".join(part if at % 3 else part.replace("`", "'") for at, part in enumerate(parts) if at % 3 != 2)  # noqa: PLR2004


def _harmless(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"{found[0]} ", text)
