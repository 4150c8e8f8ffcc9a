"""Checks the links on pages: to other pages, to headings, and to files."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pytest_dvwiki.upkeep.findings import RESTORE, Finding
from pytest_dvwiki.upkeep.page import PageText, without_code
from pytest_dvwiki.wiki.text.markdown import one_line
from pytest_dvwiki.wiki.text.parts import heading_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.wiki.page_cache import PageCache

# A bracket after a backslash is literal: dvwiki escapes brackets in messages this way.
_LINK = re.compile(r"(?<!\\)(?:\\\\)*\[(?:\\.|[^\]\\\n])*\]\(<?([^)<>\s]+)>?(?:\s+\"[^\"]*\")?\)")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|/")


def check_links(wiki: Path, text: PageText, page_cache: PageCache) -> Iterator[Finding]:
    """Yield links to files or headings that do not exist; links to locations outside the project are skipped."""

    @cache
    def anchors(path: str) -> frozenset[str]:
        listed = page_cache.get(path)
        target = text if listed is None else PageText.read(wiki, listed)
        return frozenset(_anchors(target))

    folder = PurePosixPath(text.listed.path).parent
    for line in text.lines:
        for target in _LINK.findall(without_code(line.text)):
            if _ELSEWHERE.match(target):
                continue
            path, _, anchor = unquote(target).partition("#")
            problem = _problem(wiki, folder, text.listed.path, path)
            if problem:
                problem += _moved(page_cache, _joined(folder, path))
            if problem is None and anchor and (not path or path.endswith(".md")):
                place = _joined(folder, path) if path else text.listed.path
                if page_cache.get(place) is not None and anchor.lower() not in anchors(place):
                    problem = f"{place} has no heading for #{anchor}"
            if problem:
                yield Finding(text.listed.path, line.number, "broken_link", problem, RESTORE if line.in_region else "")


def _problem(wiki: Path, folder: PurePosixPath, own: str, path: str) -> str | None:
    if not path:
        return None
    place = os.fspath(wiki / _joined(folder, path))
    # Unlike the methods of `Path`, these functions raise nothing for a symlink loop or a name that is too long.
    if "\0" not in place and not Path(os.path.realpath(place)).is_relative_to(wiki.resolve().parent.parent):
        return None
    return None if os.path.exists(place) else f"{one_line(path)} does not exist, relative to {own}"  # noqa: PTH110


def _moved(page_cache: PageCache, path: str) -> str:
    """Return a hint on the page that now documents the cause of a missing bug page; empty if unknown."""
    category, _, name = path.rpartition("/")
    found = page_cache.causes.formerly_named(name.removesuffix(".md")) if category == "bugs" else []
    return f"; its cause is now documented in {found[0].path}" if found else ""


def _joined(folder: PurePosixPath, path: str) -> str:
    parts: list[str] = list(folder.parts)
    for part in PurePosixPath(path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _anchors(text: PageText) -> Iterator[str]:
    """Yield the anchors that GitHub and GitLab generate for a page's headings."""
    counts: dict[str, int] = {}
    for line in text.lines:
        heading = heading_of(line.text)
        if heading:
            name = re.sub(r"[^\w\- ]", "", heading.words.lower()).strip().replace(" ", "-")
            count = counts[name] = counts.get(name, -1) + 1
            yield f"{name}-{count}" if count else name
