"""Inserts new text into a page: secrets in the new text are masked, and no byte of the old text changes."""

from __future__ import annotations

from itertools import groupby

from pytest_dvwiki.redact import redact

_BOM = "\ufeff"


def newline_of(text: str) -> str:
    """Return a page's line ending, taken from its first line."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def cleaned(content: str, present: str) -> str:
    """Return new content with its secrets masked, except in lines that are already on the page.

    Args:
        content: The new content of the whole page or of a part of it.
        present: The current text of the whole page.
    """
    newline = newline_of(present)
    lines = present.removesuffix("\n").split("\n")
    ends = {line.removesuffix("\r"): line for line in lines}
    known = set(lines)

    def as_it_is(line: str) -> str | None:
        return line if line in known else ends.get(line.removesuffix("\r"))

    parts: list[str] = []
    for is_known, group in groupby(content.split("\n"), key=lambda line: as_it_is(line) is not None):
        if is_known:
            parts += [as_it_is(line) or "" for line in group]
        else:
            # Redact adjacent new lines together, because a secret key can span several lines.
            new = redact("\n".join(line.removesuffix("\r") for line in group))
            parts += [line + newline[:-1] for line in new.split("\n")]
    text = "\n".join(parts)
    return text if content.endswith("\r") else text.removesuffix("\r")


def whole(present: str, content: str) -> str:
    """Return the new content of a page, with the byte order mark and the final line feed of the old content.

    Args:
        present: The old content.
        content: The new content.
    """
    if present.startswith(_BOM) and not content.startswith(_BOM):
        content = _BOM + content
    return content if content.endswith("\n") or not present.endswith("\n") else content + newline_of(present)


def replaced(text: str, place: tuple[int, int], content: str) -> str:
    """Return a page with new content in one of its parts; the blank lines around the old content are kept.

    Args:
        text: The page.
        place: Start and end of the part, in characters.
        content: The new content; blank lines around it are dropped.
    """
    start, end = _kept(text, place)
    new = content.strip("\r\n")
    return text[:start] + new + text[end:] if start < end else _filled(text, place, new)


def appended(text: str, place: tuple[int, int], addition: str) -> str:
    """Return a page with a paragraph appended to one of its parts."""
    newline = newline_of(text)
    start, end = _kept(text, place)
    new = addition.strip()
    if start == end:
        return _filled(text, place, new)
    return text[:end] + newline * 2 + new + (text[end:] or newline)


def _filled(text: str, place: tuple[int, int], new: str) -> str:
    """Return a page with new content in a part that has only blank lines."""
    newline = newline_of(text)
    before = newline if text[: place[0]].endswith("\n") else newline * 2
    after = newline * 2 if place[1] < len(text) else newline
    return text[: place[0]] + (before + new + after if new else text[place[0] : place[1]]) + text[place[1] :]


def _kept(text: str, place: tuple[int, int]) -> tuple[int, int]:
    """Return the start and end of a part without the blank lines around its content."""
    inside = text[slice(*place)]
    bare = inside.strip("\r\n")
    start = place[0] + (len(inside) - len(inside.lstrip("\r\n")) if bare else 0)
    return start, start + len(bare)
