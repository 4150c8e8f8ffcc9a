"""Converts bug pages from the earlier layout, which has a region for each section, to the current single region.

No byte that people wrote changes. The new region replaces the first old region. People's sections stay where they are,
and what people wrote in one of dvwiki's sections moves to Notes, under that section's heading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.wiki.text import pages, parts
from pytest_dvwiki.wiki.text.splice import newline_of

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDS = "records"
"""Name of the region with everything that dvwiki writes below the frontmatter of a bug page."""
NOTES = "Notes"
_LEVEL = 2
"""Level of the sections' headings."""
_HEADINGS = {
    "evidence": "Evidence",
    "rationale": "Classification Rationale",
    "related": "Related Patterns",
    "reproduce": "Reproduce",
    "occurrences": "Occurrences",
    "fixes": "Fixes",
    "citation": "Citation",
}
"""Maps each region of the earlier layout to the heading above it."""


def converted(data: bytes, page: str) -> bytes | pages.Refused:
    """Return a bug page in the current layout, with one region; unchanged if it already has that layout.

    A page with wrong region marks is refused.
    """
    if _HEADINGS.keys().isdisjoint(pages.region_names(data)):
        return data
    text = data.decode("utf-8", "surrogateescape")
    extents = pages.extents(text)
    if isinstance(extents, pages.Refused):
        return extents
    newline = newline_of(text)
    first = next(name for name in extents if name in _HEADINGS)
    done, pieces, end, before = "", [], 0, ""
    for name, extent in extents.items():
        kept, loose = _sorted(text[end : extent[0]], before, name)
        done += kept
        pieces += loose
        if name == first and RECORDS not in extents:
            done += pages.region(RECORDS, page).replace("\n", newline) + newline * 2
        elif name not in _HEADINGS:
            done += text[slice(*extent)] + newline * 2
        end, before = extent[1], name
    tail, loose = _sorted(text[end:], before, "")
    if parts.part(done + tail, NOTES) is None:
        done += f"## {NOTES}{newline * 2}"
    done += tail
    for heading, piece in [*pieces, *loose]:
        done = _noted(done, f"### {heading}{newline * 2}{piece}", newline)
    if not tail.strip():
        done = done.rstrip("\r\n") + newline
    return done.encode("utf-8", "surrogateescape")


def _sorted(text: str, before: str, after: str) -> tuple[str, list[tuple[str, str]]]:
    """Split the text between two regions into what stays in place and the pieces that move to Notes.

    Args:
        text: The text between the regions.
        before: The region before the text; empty at the start of the page.
        after: The region after the text; empty at the end of the page.

    Returns:
        The text that stays, and the pieces that move, each with its heading.
    """
    kept, pieces = "", []
    sections = list(_sections(text))
    for index, (heading, rest) in enumerate(sections):
        words = heading.strip().removeprefix("## ")
        own = "" if heading else _HEADINGS.get(before, "")
        if heading and index == len(sections) - 1 and words == _HEADINGS.get(after):
            own = words
        if not own:
            kept += heading + (rest if heading or not before else rest.lstrip("\r\n"))
        elif rest.strip():
            pieces.append((own, rest.strip("\r\n")))
    return kept, pieces


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield heading and content of each section of level 1 or 2; text before the first heading has an empty heading."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    starts = [index for index, line in parts.unfenced(lines) if (own := parts.heading_of(line)) and own.level <= _LEVEL]
    for start, end in zip([-1, *starts], [*starts, len(lines)], strict=True):
        yield "".join(lines[start : start + 1]) if start >= 0 else "", "".join(lines[start + 1 : end])


def _noted(text: str, note: str, newline: str) -> str:
    """Return a page with a note appended to its section Notes, unless the note is already there."""
    place = parts.part(text, NOTES)
    assert place is not None  # noqa: S101  # the caller made the section
    section = text[slice(*place)]
    if note in section:
        return text
    end = place[0] + len(section.rstrip("\r\n"))
    lead = newline * (1 if end == place[0] and text[:end].endswith("\n") else 2)
    return f"{text[:end]}{lead}{note}{text[end:] or newline}"
