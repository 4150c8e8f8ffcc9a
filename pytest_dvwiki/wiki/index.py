"""The tables of contents: `index.md` and one `_index.md` per category, from what the pages say of themselves."""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pytest_dvwiki.wiki.bug import ORIGINS, is_pointer
from pytest_dvwiki.wiki.listed import CATEGORIES
from pytest_dvwiki.wiki.markdown import escape, one_line, table, table_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pytest_dvwiki.wiki.listed import Listed

_TITLE = "# DV Agentic Wiki Index"
_INDEX = "index.md"
_OWN = {category: f"{category}/_index.md" for category in CATEGORIES}
FILES = (_INDEX, *_OWN.values())
"""All index files."""
_HEAD = 2
"""Lines of a table before its rows."""
_BEFORE_ROWS = 2
"""Lines of a category's file before its table: the heading, and a blank one."""
_BEFORE_TABLES = 3
"""Parts of the index with a blank line between them, up to the first table: title, date, heading."""
_TITLE_LENGTH = 100


def percent(rate: Any) -> str:
    """A rate from 0 to 1 as it is shown."""
    return f"{rate:.0%}" if isinstance(rate, int | float) and not isinstance(rate, bool) else "n/a"


def _text(page: Listed, key: str) -> str:
    return escape(one_line(page.text(key), 80))


def _bug(page: Listed) -> tuple[str, ...]:
    confidence = page.metadata.get("confidence")
    shown = f"{confidence:.2f}" if isinstance(confidence, int | float) else ""
    status = "superseded" if is_pointer(page) else escape(one_line(page.status, 80))
    title = page.title
    for origin in ORIGINS.values():
        title = title.removeprefix(f"{origin}: ")
    # It is Markdown already, people's or escaped when the page was made.
    return _text(page, "type"), status, shown, _text(page, "last_updated"), one_line(title, _TITLE_LENGTH)


def _pattern(page: Listed) -> tuple[str, ...]:
    rate = percent(page.metadata.get("fix_success_rate"))
    return _text(page, "failure_subtype"), _text(page, "hit_count"), rate


def _hole(page: Listed) -> tuple[str, ...]:
    status = "filled" if page.metadata.get("filled") is True else _text(page, "action_class")
    return _text(page, "feature"), _text(page, "bin"), status


def _spec(page: Listed) -> tuple[str, ...]:
    return _text(page, "feature"), _text(page, "clarification_type")


_COLUMNS: dict[str, tuple[tuple[str, ...], Callable[[Listed], tuple[str, ...]]]] = {
    "bugs": (("Type", "Status", "Confidence", "Last Updated", "Title"), _bug),
    "patterns": (("failure_subtype", "hit_count", "fix_success_rate"), _pattern),
    "coverage": (("Feature", "Bin", "Status"), _hole),
    "specs": (("Feature", "Clarification Type"), _spec),
}


def cells(page: Listed) -> str:
    """What the tables say of a page, from the second column on."""
    columns, row = _COLUMNS[page.category]
    return table_row(("cannot be read", *[""] * (len(columns) - 1)) if page.problem else row(page))


@dataclass(frozen=True, slots=True)
class _Table:
    """The pages of a category as an index file has them."""

    category: str
    folder: str
    """What leads from the file to the pages."""
    lines: list[str]
    """The table's: two of its head, then one for each page, by name."""

    @classmethod
    def of(cls, category: str, folder: str, rows: Iterable[tuple[str, str]]) -> Self:
        """The table of all pages, each with its name and cells."""
        made = cls(category, folder, table(("Page", *_COLUMNS[category][0]), ()).split("\n"))
        made.lines.extend(itertools.starmap(made.line, rows))
        return made

    @property
    def heading(self) -> str:
        return f"{self.category.capitalize()} ({self.pages} page{'' if self.pages == 1 else 's'})"

    @property
    def pages(self) -> int:
        return len(self.lines) - _HEAD

    def line(self, name: str, shown: str) -> str:
        # 10,000 pages: the cells are ready, only the link is made here.
        return f"| [{name}]({self.folder}{name}.md) {shown}"

    def change(self, name: str, before: str | None, now: str | None) -> bool:
        """Changes the row of a page from some cells to others, and tells whether it was as it should be."""
        place = bisect.bisect_left(self.lines, f"{name}.md", _HEAD, key=_file_of)
        there = [line for line in self.lines[place : place + 1] if _file_of(line) == f"{name}.md"]
        if there != ([] if before is None else [self.line(name, before)]):
            return False
        self.lines[place : place + len(there)] = [] if now is None else [self.line(name, now)]
        return True

    def text(self, level: str) -> str:
        return "\n".join([f"{level} {self.heading}", "", *self.lines])


def _file_of(line: str) -> str:
    """The name by which a row has its place."""
    return line[len("| [") :].partition("](")[0] + ".md"


def indexes(rows_of: Callable[[str], list[tuple[str, str]]], last_updated: str | None) -> dict[str, bytes]:
    """All index files by their path in the wiki.

    Args:
        rows_of: Gives for a category the name of each page with its `cells`, by name.
        last_updated: Time of the newest record, None where there is none.
    """
    rows = {category: rows_of(category) for category in CATEGORIES}
    own = {path: _own(_Table.of(category, "", rows[category])) for category, path in _OWN.items()}
    return own | {_INDEX: _all((_Table.of(each, f"{each}/", rows[each]) for each in CATEGORIES), last_updated)}


def renewed(
    read: Callable[[str], bytes], changes: Mapping[str, tuple[str | None, str | None]], last_updated: str | None
) -> dict[str, bytes] | None:
    """The index files that `indexes` would make otherwise than they are, by the rows that differ.

    Args:
        read: Gives the content of an index file.
        changes: By the path of each page that differs its cells in the files, and those that it is to have; None where
            it has no row.
        last_updated: Time of the newest record, None where there is none.

    Returns:
        None where the files are not as they should be.
    """
    blocks = read(_INDEX).decode().removesuffix("\n").split("\n\n")[_BEFORE_TABLES::2]
    if len(blocks) != len(CATEGORIES):
        return None
    tables = {each: _Table(each, f"{each}/", block.split("\n")) for each, block in zip(CATEGORIES, blocks, strict=True)}
    own = {
        each: _Table(each, "", read(_OWN[each]).decode().removesuffix("\n").split("\n")[_BEFORE_ROWS:])
        for each in {path.split("/", 1)[0] for path in changes}
    }
    for path, (before, now) in changes.items():
        category, name = path.split("/", 1)
        stem = name.removesuffix(".md")
        if not (tables[category].change(stem, before, now) and own[category].change(stem, before, now)):
            return None
    return {_OWN[each]: _own(found) for each, found in own.items()} | {_INDEX: _all(tables.values(), last_updated)}


def _own(found: _Table) -> bytes:
    """The index file of a category."""
    return f"{found.text('#')}\n".encode()


def _all(tables: Iterable[_Table], last_updated: str | None) -> bytes:
    """The index file of all categories."""
    tables = list(tables)
    head = f"Last updated: {last_updated or 'never'} | Total pages: {sum(each.pages for each in tables)}"
    return "\n\n".join([_TITLE, head, *(each.text("##") for each in tables)]).encode() + b"\n"
