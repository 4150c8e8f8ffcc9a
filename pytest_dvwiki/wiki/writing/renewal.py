"""Updates the changed rows of the index files without parsing or rebuilding the other rows."""

from __future__ import annotations

import bisect
import re
from typing import TYPE_CHECKING

import msgspec

from pytest_dvwiki.wiki.index import INDEX, OWN, TITLE, head, heading, line
from pytest_dvwiki.wiki.page_summary import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pytest_dvwiki.wiki.index import Top

    Changes = Mapping[str, tuple[str | None, str | None]]
    Edit = tuple[int, int, bytes]

_HEADING = re.compile(rb"#+ [A-Za-z]+ \((\d+) pages?\)")
_COLUMNS = re.compile(rb"\n\n\|[^\n]*\n\|[^\n]*\n")


class _Table(msgspec.Struct, frozen=True):
    """The table of a category in an index file."""

    level: str
    category: str
    folder: str
    """Path from the index file to the pages of the category."""
    heading: tuple[int, int]
    rows: tuple[int, int]
    pages: int


def renewed(read: Callable[[str], bytes], changes: Changes, top: Top) -> dict[str, bytes] | None:
    """Return the index files that `indexes` would change, with their new contents.

    Args:
        read: Returns the content of an index file.
        changes: Maps the page path of each outdated row to its old and new cells; None means no row.
        top: What to show above the tables.

    Returns:
        The contents by path; None if somebody edited the files since they were written.
    """
    found: dict[str, bytes] = {}
    for category in sorted({path.split("/", 1)[0] for path in changes}):
        data = read(OWN[category])
        edits = _edits(data, _table(data, "#", category, "", (0, len(data))), changes)
        if edits is None:
            return None
        found[OWN[category]] = _edited(data, edits)
    data = read(INDEX)
    edits = _edits_of_all(data, changes, lambda pages: head(top, pages))
    if edits is None:
        return None
    found[INDEX] = _edited(data, edits)
    return found


def _edits_of_all(data: bytes, changes: Changes, top: Callable[[int], str]) -> list[Edit] | None:
    """Return the edits that bring `index.md` up to date; None if somebody edited the file since it was written."""
    edits: list[Edit] = []
    pages, end = 0, len(data)
    # Work backwards from the end: the first table is the longest by far.
    for category in reversed(CATEGORIES):
        start = data.rfind(b"\n## ", 0, end) + 1
        table = _table(data, "##", category, f"{category}/", (start, end))
        further = _edits(data, table, changes)
        if table is None or further is None:
            return None
        edits[:0] = further
        pages += table.pages + _rows_gained(category, changes)
        end = start - 1
    # Two line feeds come before the first table, and after the title.
    return [(len(TITLE) + 2, end - 1, top(pages).encode()), *edits]


def _table(data: bytes, level: str, category: str, folder: str, place: tuple[int, int]) -> _Table | None:
    """Return the table of a category, with its heading at the start of `place`; None if there is no such table."""
    found = _HEADING.match(data, *place)
    columns = _COLUMNS.match(data, found.end(), place[1]) if found else None
    if not (found and columns) or found[0] != heading(level, category, int(found[1])).encode():
        return None
    return _Table(level, category, folder, found.span(), (columns.end(), place[1]), int(found[1]))


def _changes_of(category: str, changes: Changes) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield name, old cells and new cells of each changed row of a category, sorted by name."""
    for path in sorted(changes):
        if path.startswith(f"{category}/"):
            yield path[len(category) + 1 : -len(".md")], *changes[path]


def _rows_gained(category: str, changes: Changes) -> int:
    """Return how many rows a table gains; negative if it loses rows."""
    return sum((now is not None) - (before is not None) for _, before, now in _changes_of(category, changes))


def _edits(data: bytes, table: _Table | None, changes: Changes) -> list[Edit] | None:
    """Return the edits, in order, that update a table; None if somebody edited the table since it was written."""
    if table is None:
        return None
    pages = table.pages + _rows_gained(table.category, changes)
    edits = [(*table.heading, heading(table.level, table.category, pages).encode())]
    first, end = table.rows

    def file_at(place: int) -> bytes:
        """Return the file name in the row that contains an offset; rows are sorted by file name."""
        start = data.rfind(b"\n", first - 1, place) + 1
        return data[start + len(b"| [") : data.find(b"](", start)] + b".md"

    for name, *cells in _changes_of(table.category, changes):
        old, new = (b"" if each is None else f"{line(table.folder, name, each)}\n".encode() for each in cells)
        file = f"{name}.md".encode()
        place = first + bisect.bisect_left(range(first, end), file, key=file_at)
        is_there = place < end and file_at(place) == file
        if is_there != bool(old) or not data.startswith(old, place):
            return None
        edits.append((place, place + len(old), new))
    return edits


def _edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return a file's bytes with the edits applied; the edits are in order and do not overlap."""
    kept, place = memoryview(data), 0
    parts: list[bytes | memoryview] = []
    for start, end, new in edits:
        parts += [kept[place:start], new]
        place = end
    return b"".join([*parts, kept[place:]])
