"""Reads transcripts of sessions, to extract lessons from them."""

from __future__ import annotations

import json
import re
from typing import Any

_ROLE = r"(?:user|human|assistant|agent|system|tool)\b[^\n:]{0,40}:"
_MESSAGE = re.compile(rf"^(?:#{{1,6}} |\*{{0,2}}{_ROLE})", re.IGNORECASE | re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n(?=\S)")
_TEXT_KEYS = ("text", "content", "output", "message")
"""The keys that can hold the text of a message, or of a part of a message."""
_DEEPEST = 5


def text_of(data: str) -> str:
    """Return a transcript as text; JSON lines become paragraphs with speaker and text."""
    lines = [line for line in data.splitlines() if line.strip()]
    if not lines or not lines[0].lstrip().startswith("{"):
        return data
    found = []
    for line in lines:
        try:
            message = json.loads(line)
        except ValueError:
            return data
        if not isinstance(message, dict):
            return data
        inner = message["message"] if isinstance(message.get("message"), dict) else message
        text = _text(inner)
        if text.strip():
            found.append(f"{inner.get('role') or message.get('type') or 'message'}: {text.strip()}")
    return "\n\n".join(found)


def _text(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_text(each, depth + 1) for each in value)))
    if isinstance(value, dict):
        return "\n".join(filter(None, (_text(value.get(key), depth + 1) for key in _TEXT_KEYS)))
    return ""


def tail(text: str, limit: int) -> str:
    """Return the last messages of a transcript that fit into a number of characters."""
    if len(text) <= limit:
        return text
    kept = text[len(text) - limit :] if limit else ""
    for border in (_MESSAGE, _PARAGRAPH):
        found = border.search(kept)
        if found:
            return kept[found.start() :].lstrip("\n")
    return kept.partition("\n")[2] or kept
