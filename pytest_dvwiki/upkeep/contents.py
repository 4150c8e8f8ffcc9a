"""Checks that the index files match the pages."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from pytest_dvwiki.upkeep.findings import Finding
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.kinds.marks import is_left_out
from pytest_dvwiki.wiki.page_summary import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.wiki.page_cache import PageCache

_INDEXED = re.compile(r"^\| \[[^\]]*\]\(([^)]+\.md)\)", re.MULTILINE)
_ROW = re.compile(r"\| \[[^\]]*\]\((?P<file>[^)]+\.md)\) \| (?P<cells>.*) \|")
_PEOPLES_COLUMNS = {"bugs": {0, 1, 4}, "patterns": set[int](), "coverage": {0, 1, 2}, "specs": {0, 1}, "topics": {0, 1}}
"""Maps each category to the table columns whose values people edit; column 0 is the one after the page name."""


def check_index(wiki: Path, page_cache: PageCache) -> Iterator[Finding]:
    """Yield pages missing from `index.md`, and entries of `index.md` without a page."""
    try:
        text = outside.read(wiki, "index.md").decode("utf-8", "replace")
    except OSError:
        yield Finding("index.md", 0, "missing", "there is no index, or it cannot be read")
        return
    named = set(_INDEXED.findall(text))
    pages = [page for category in CATEGORIES for page in page_cache.all(category)]
    present = {page.path for page in pages}
    for path in present - named - {page.path for page in pages if is_left_out(page.metadata)}:
        yield Finding(path, 0, "orphan", "index.md does not list it")
    for path in named - present:
        yield Finding(path, 0, "missing", "index.md lists it, but it does not exist")


def rows_behind(wiki: Path, path: str, expected: bytes) -> list[Finding]:
    """Return a finding for each index row that lacks people's latest edits; none if the index differs in other ways.

    Args:
        wiki: The folder of the wiki.
        path: The index file, relative to the wiki.
        expected: The content of the index file if built from the current pages.
    """
    try:
        present = outside.read(wiki, path).decode("utf-8", "replace")
    except OSError:
        return []
    pairs = [pair for pair in zip_longest(present.split("\n"), expected.decode().split("\n")) if pair[0] != pair[1]]
    rows = [(_ROW.fullmatch(old or ""), _ROW.fullmatch(new or "")) for old, new in pairs]
    folder = path.removesuffix("_index.md").removesuffix("index.md")
    found = []
    for old, new in rows:
        if old is None or new is None or old["file"] != new["file"]:
            return []
        page = f"{folder}{new['file']}"
        cells = enumerate(zip_longest(old["cells"].split(" | "), new["cells"].split(" | "), fillvalue=""))
        others = {column: pair for column, pair in cells if pair[0] != pair[1]}
        if not others.keys() <= _PEOPLES_COLUMNS[page.partition("/")[0]]:
            return []
        differences = ", ".join(f"{was!r} for {now!r}" for was, now in others.values())
        found.append(Finding(page, 0, "index_behind", f"the index files still have {differences}"))
    return found
