"""The index files: `index.md`, and one `_index.md` per category, made from the frontmatter of the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_dvwiki.model.archive import ALL_BINS, MANY_BINS
from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.wiki.kinds.bug import effective_type, is_pointer
from pytest_dvwiki.wiki.page_summary import CATEGORIES
from pytest_dvwiki.wiki.text.markdown import code, escape, one_line, table, table_row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.wiki.page_summary import PageSummary

TITLE = "# DV Agentic Wiki Index"
INDEX = "index.md"
FLAKY = "flaky.md"
OWN = {category: f"{category}/_index.md" for category in CATEGORIES}
FILES = (INDEX, *OWN.values())
"""The paths of all index files, relative to the wiki."""
_TITLE_LENGTH = 100
_COMMIT = 7
_MOST_OF_A_COMMIT = 20
ENDED = frozenset({"closed", "wont_fix"})
"""Statuses of bugs that people regard as settled, whether or not the tests pass."""


def percent(rate: Any) -> str:
    """Format a rate from 0 to 1 as a percentage; `n/a` if it is unknown."""
    return f"{rate:.0%}" if isinstance(rate, int | float) and not isinstance(rate, bool) else "n/a"


def _text(page: PageSummary, key: str) -> str:
    return escape(one_line(page.text(key), 80))


def _bug(page: PageSummary) -> tuple[str, ...]:
    confidence = page.metadata.get("confidence")
    shown = f"{confidence:.2f}" if isinstance(confidence, int | float) else ""
    status = "superseded" if is_pointer(page) else escape(one_line(page.status, 80))
    if page.text("passes_since") and page.status not in ENDED:
        status += f", passes since {_text(page, 'passes_since')}"
    # The title is not escaped: it is Markdown already, written by people or escaped when the page was made.
    return (
        escape(one_line(effective_type(page), 80)),
        status,
        shown,
        _text(page, "last_updated"),
        one_line(page.title, _TITLE_LENGTH),
    )


def _pattern(page: PageSummary) -> tuple[str, ...]:
    rate = percent(page.metadata.get("fix_success_rate"))
    return _text(page, "failure_subtype"), _text(page, "hit_count"), rate


def _hole(page: PageSummary) -> tuple[str, ...]:
    status = "filled" if page.metadata.get("filled") is True else _text(page, "action_class")
    bin_name = _text(page, "bin")
    return _text(page, "feature"), MANY_BINS if bin_name == ALL_BINS else bin_name, status


_COLUMNS: dict[str, tuple[tuple[str, ...], Callable[[PageSummary], tuple[str, ...]]]] = {
    "bugs": (("Type", "Status", "Confidence", "Last Updated", "Title"), _bug),
    "patterns": (("failure_subtype", "hit_count", "fix_success_rate"), _pattern),
    "coverage": (("Feature", "Bin", "Status"), _hole),
    "specs": (
        ("Feature", "Clarification Type"),
        lambda page: (_text(page, "feature"), _text(page, "clarification_type")),
    ),
    "topics": (("Topic", "Status"), lambda page: (_text(page, "topic"), _text(page, "status"))),
}


def cells(page: PageSummary) -> str:
    """Return a page's row in the index tables, without the first cell."""
    columns, row = _COLUMNS[page.category]
    return table_row(("cannot be read", *[""] * (len(columns) - 1)) if page.problem else row(page))


class Top(NamedTuple):
    """What the index shows above its tables, apart from the number of pages."""

    last_updated: str | None
    """Time of the newest record; None if there is none."""
    commits: Sequence[tuple[str, str]]
    """Page name and `commit_of` for each bug page with a known commit, sorted by name."""
    flaky: int
    """Number of tests that were flaky in the newest runs."""
    left_out: int
    """Number of pages without a row, because they have been stale for a long time."""


def indexes(rows_of: Callable[[str], list[tuple[str, str]]], top: Top) -> dict[str, bytes]:
    """Return the content of each index file, by its path in the wiki.

    Args:
        rows_of: Returns the name and the `cells` of each page of a category, sorted by name.
        top: What to show above the tables.
    """
    rows = {category: rows_of(category) for category in CATEGORIES}
    own = {path: f"{_table('#', each, '', rows[each])}\n".encode() for each, path in OWN.items()}
    above = head(top, sum(map(len, rows.values())))
    tables = (_table("##", each, f"{each}/", rows[each]) for each in CATEGORIES)
    return own | {INDEX: "\n\n".join([TITLE, above, *tables]).encode() + b"\n"}


def head(top: Top, pages: int) -> str:
    """Return the text above the tables: numbers of pages and flaky tests, and bugs that share a commit or range."""
    parts = [f"Last updated: {top.last_updated or 'never'} | Total pages: {pages}"]
    parts += (
        [f"Left out, because stale for a long time: {top.left_out} (`dvwiki search WORDS --status stale`)"]
        if top.left_out
        else []
    )
    parts += [f"[Flaky tests]({FLAKY}): {top.flaky}"] if top.flaky else []
    groups: dict[str, list[str]] = {}
    for name, commit in top.commits:
        groups.setdefault(commit, []).append(name)
    parts += (_came_together(commit, names) for commit, names in sorted(groups.items()) if len(names) > 1)
    return "\n\n".join(parts)


def _came_together(commit: str, names: Sequence[str]) -> str:
    """Return a line that lists the bugs introduced by one commit, or within one range `GOOD..BAD`."""
    shown, _, subject = commit.partition(" ")
    good, is_range, bad = shown.partition("..")
    if is_range:
        what = f"with one of the commits after {code(good)} up to {code(bad)}"
    else:
        what = f"with one commit: {code(f'{shown[:_COMMIT]} {subject}')}"
    links = [f"[{name}](bugs/{name}.md)" for name in names[:_MOST_OF_A_COMMIT]]
    more = [f"and {len(names) - len(links)} more"] if len(names) > len(links) else []
    return f"Came {what}: {', '.join([*links, *more])}"


def commit_of(page: PageSummary) -> str:
    """Return the commit, or range of commits, that introduced a bug.

    The string is empty if that is uncertain, or if the bug is settled, stale or passing.
    """
    is_open = page.category == "bugs" and not page.problem and page.status not in ENDED
    is_gone = page.metadata.get("stale") is True or bool(page.text("passes_since"))
    return page.text("came_with") if is_open and not is_gone else ""


def heading(level: str, category: str, pages: int) -> str:
    """Return the heading of a category's table."""
    return f"{level} {category.capitalize()} ({count(pages, 'page')})"


def _table(level: str, category: str, folder: str, rows: Sequence[tuple[str, str]]) -> str:
    """Return the table of a category under its heading.

    Args:
        level: The heading's prefix, `#` or `##`.
        category: The name of the category.
        folder: Path from the index file to the pages, with a trailing slash; empty if they are in the same folder.
        rows: Name and `cells` of each page, sorted by name.
    """
    columns = table(("Page", *_COLUMNS[category][0]), ())
    return "\n".join([heading(level, category, len(rows)), "", columns, *(line(folder, *row) for row in rows)])


def line(folder: str, name: str, shown: str) -> str:
    """Return the row of a page: a link to it, then its `cells`."""
    # This runs for up to 10,000 pages, so the cells come ready-made from the cache.
    return f"| [{name}]({folder}{name}.md) {shown}"
