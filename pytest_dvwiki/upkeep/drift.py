"""Drift: finds citations of code that no longer exists, such as `rtl/fifo.sv:sync_fifo`.

A citation is reported only if it is certain that the file, the name or the line does not exist. Less certain cases are
reported as hints.
"""

from __future__ import annotations

import difflib
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.upkeep.declarations import declared_names
from pytest_dvwiki.upkeep.findings import Finding
from pytest_dvwiki.upkeep.page import PageText
from pytest_dvwiki.wiki.kinds.bug import is_pointer
from pytest_dvwiki.wiki.kinds.marks import MARKED
from pytest_dvwiki.wiki.page_cache import PageCache
from pytest_dvwiki.wiki.writing.build import mark_drift

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

_CITATION = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|sv|svh|v|vh|vhd|vhdl)):([A-Za-z_][\w.$]*|\d+)`")
_WORD = re.compile(r"[A-Za-z_][\w$]*")
_FILE = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|sv|svh|v|vh|vhd|vhdl))`")
_NAME = re.compile(r"`([A-Za-z_]\w{4,})`")
_NEAR = 80
"""Maximum distance, in characters, between a name and the file mention in which it is looked up."""
_ALIKE = 0.75


def check_drift(root: Path, text: PageText) -> Iterator[Finding]:
    """Yield a finding for each citation in people's text that refers to a missing file, name or line."""
    for line in text.people:
        for path, name in _CITATION.findall(line.text):
            problem = _problem(root, path, name)
            if problem:
                yield Finding(text.listed.path, line.number, "drift", problem)


def check_hints(root: Path, text: PageText) -> Iterator[Finding]:
    """Yield warnings about names and files in people's prose that may be missing.

    A file in backticks is reported if its path has a folder and the file does not exist. A name in backticks is
    reported if files are mentioned near the name and none of them contains it, but each contains a similar name.
    """
    for line in text.people:
        files = [(found.start(), found[1]) for found in _FILE.finditer(line.text) if ".." not in found[1].split("/")]
        for _, path in files:
            if "/" in path and not (root / path).exists():
                yield Finding(text.listed.path, line.number, "drift_hint", f"{path} does not exist")
        for found in _NAME.finditer(line.text):
            near = [path for place, path in files if abs(place - found.start()) <= _NEAR and (root / path).is_file()]
            like = [_like(root / path, found[1]) for path in near]
            if near and all(like):
                yield Finding(
                    text.listed.path, line.number, "drift_hint", f"{near[0]} has no {found[1]}; did you mean {like[0]}?"
                )


def mark(layout: Layout) -> list[str]:
    """Mark the pages that cite missing code as stale, and unmark pages that no longer do.

    Returns:
        The changed pages, relative to the wiki.
    """
    with PageCache(layout.wiki, layout.wiki / ".cache" / "pages.sqlite") as page_cache:
        page_cache.refresh()
        marks = {
            page.path: next((finding.text for finding in check_drift(layout.root, text)), None)
            for category in MARKED
            for page in page_cache.all(category)
            if not page.problem and not is_pointer(page) and (category != "bugs" or page.fingerprints())
            for text in (PageText.read(layout.wiki, page),)
        }
    return mark_drift(layout, marks)


def _problem(root: Path, path: str, name: str) -> str | None:
    if ".." in PurePosixPath(path).parts:
        return None
    file = root / path
    if not file.is_file():
        return f"{path} does not exist"
    if name.isdigit():
        lines = reading.text_or_empty(file).count("\n") + 1
        return None if int(name) <= lines else f"{path} has only {lines} lines; there is no line {name}"
    names = declared_names(file, file.stat().st_mtime_ns)
    if names is None or all(part.lower() in names for part in name.split(".")):
        return None
    return f"{path} declares no {name}"


def _like(file: Path, name: str) -> str:
    """Return the word in a file most similar to a missing name; empty if the file has the name or no similar word."""
    words = set(_WORD.findall(reading.text_or_empty(file)))
    if name in words:
        return ""
    return next(iter(difflib.get_close_matches(name, sorted(words), n=1, cutoff=_ALIKE)), "")
