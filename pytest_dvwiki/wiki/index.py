"""The tables of contents: `index.md` and one `_index.md` per category, from what the pages say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_dvwiki.wiki.bug import is_pointer
from pytest_dvwiki.wiki.listed import CATEGORIES
from pytest_dvwiki.wiki.markdown import escape, one_line, table, table_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_dvwiki.wiki.listed import Listed

_TITLE = "# DV Agentic Wiki Index"


def percent(rate: Any) -> str:
    """A rate from 0 to 1 as it is shown."""
    return f"{rate:.0%}" if isinstance(rate, int | float) and not isinstance(rate, bool) else "n/a"


def _text(page: Listed, key: str) -> str:
    return escape(one_line(page.text(key), 80))


def _bug(page: Listed) -> tuple[str, ...]:
    confidence = page.metadata.get("confidence")
    shown = f"{confidence:.2f}" if isinstance(confidence, int | float) else ""
    status = "superseded" if is_pointer(page) else _text(page, "status")
    return _text(page, "type"), status, shown, _text(page, "last_updated")


def _pattern(page: Listed) -> tuple[str, ...]:
    rate = percent(page.metadata.get("fix_success_rate"))
    return _text(page, "failure_subtype"), _text(page, "hit_count"), rate


def _hole(page: Listed) -> tuple[str, ...]:
    status = "filled" if page.metadata.get("filled") is True else _text(page, "action_class")
    return _text(page, "feature"), _text(page, "bin"), status


def _spec(page: Listed) -> tuple[str, ...]:
    return _text(page, "feature"), _text(page, "clarification_type")


_COLUMNS: dict[str, tuple[tuple[str, ...], Callable[[Listed], tuple[str, ...]]]] = {
    "bugs": (("Type", "Status", "Confidence", "Last Updated"), _bug),
    "patterns": (("failure_subtype", "hit_count", "fix_success_rate"), _pattern),
    "coverage": (("Feature", "Bin", "Status"), _hole),
    "specs": (("Feature", "Clarification Type"), _spec),
}


def cells(page: Listed) -> str:
    """What the tables say of a page, from the second column on."""
    columns, row = _COLUMNS[page.category]
    return table_row(("cannot be read", *[""] * (len(columns) - 1)) if page.problem else row(page))


def indexes(rows_of: Callable[[str], list[tuple[str, str]]], last_updated: str | None) -> dict[str, bytes]:
    """All index files by their path in the wiki.

    Args:
        rows_of: Gives for a category the name of each page with its `cells`, by name.
        last_updated: Time of the newest record, None where there is none.
    """
    files: dict[str, bytes] = {}
    parts = []
    total = 0
    for category in CATEGORIES:
        rows = rows_of(category)
        total += len(rows)
        heading = f"{category.capitalize()} ({len(rows)} page{'' if len(rows) == 1 else 's'})"
        parts.append(f"## {heading}\n\n{_table(category, rows, f'{category}/')}")
        files[f"{category}/_index.md"] = f"# {heading}\n\n{_table(category, rows, '')}\n".encode()
    head = f"Last updated: {last_updated or 'never'} | Total pages: {total}"
    files["index.md"] = "\n\n".join([_TITLE, head, *parts]).encode() + b"\n"
    return files


def _table(category: str, rows: list[tuple[str, str]], folder: str) -> str:
    # 10,000 pages: the rows are ready, only the links are made here.
    lines = [f"| [{name}]({folder}{name}.md) {cells}" for name, cells in rows]
    return "\n".join([table(("Page", *_COLUMNS[category][0]), ()), *lines])
