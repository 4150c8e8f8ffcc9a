"""A pattern page: the causes, fixes and advice for one failure subtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_dvwiki.causes.words import after_return, ends, fix_text
from pytest_dvwiki.records.aggregate import NEWEST_ROWS
from pytest_dvwiki.records.fixes import success_rate
from pytest_dvwiki.records.subtype_history import is_reported
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.markdown import cite, code, escape, masked_in_words, one_line, prose, table
from pytest_dvwiki.wiki.text.names import file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_dvwiki.model import Fix
    from pytest_dvwiki.patterns.schema import Subtype
    from pytest_dvwiki.records.subtype_history import SubtypeHistory

OWNED = (
    "pattern_id",
    "error_class",
    "failure_subtype",
    "hit_count",
    "occurrence_count",
    "first_seen",
    "last_seen",
    "fix_success_rate",
)
EMPTY_KEYS: dict[str, Any] = {
    "hit_count": 0,
    "occurrence_count": 0,
    "first_seen": None,
    "last_seen": None,
    "fix_success_rate": None,
}
"""Values of the owned keys on the page of a subtype that no longer occurs in any record."""
EMPTY_REGIONS = {
    "signatures": "No record has this subtype any more: its causes were reclassified and have other subtypes now.",
    "history": "",
    "citation": "",
}
FIX_SECTION = "Fix Template"
_WORDS = 60
UNWRITTEN = "Nobody has written this yet."


def new(name: str, entry: Subtype | None) -> pages.PageDraft:
    """Return a new pattern page, with empty owned keys and regions.

    Args:
        name: The subtype.
        entry: The subtype's entry in the registry; None if it has none.
    """
    page = file_name(name)
    title = entry.title if entry else name.replace("_", " ")
    description, signature, fix, checklist = (
        (each.strip() or UNWRITTEN for each in (entry.description, entry.signature, entry.fix, entry.checklist))
        if entry
        else [UNWRITTEN] * 4
    )
    sections = (
        ("Description", description),
        ("Detection Signature", f"{signature}\n\n{pages.region('signatures', page)}"),
        (FIX_SECTION, fix),
        ("Code Generator Self-Review Checklist Update", checklist),
        ("Resolution History", pages.region("history", page)),
        ("Citation", pages.region("citation", page)),
    )
    people = {"type": "pattern", "owner": None}
    return pages.draft(people, OWNED, f"Pattern: {escape(one_line(title))}", sections, page=page)


def keys(subtype: SubtypeHistory) -> dict[str, Any]:
    """Return the owned keys of a pattern page with their values, which come from the records."""
    return {
        "pattern_id": one_line(subtype.name),
        "error_class": one_line(subtype.error_class),
        "failure_subtype": one_line(subtype.name),
        "hit_count": subtype.runs,
        "occurrence_count": subtype.tests,
        "first_seen": subtype.first_seen[:10],
        "last_seen": subtype.last_seen[:10],
        "fix_success_rate": success_rate(subtype.held, subtype.failed),
    }


def regions(
    subtype: SubtypeHistory, page_of: Callable[[str], str | None], fix_of: Callable[[str], str | None]
) -> dict[str, str]:
    """Return the regions of a pattern page by name: the patterns that matched, the history, and the citations.

    Args:
        subtype: The history of the subtype, from the records.
        page_of: Returns the name of a fingerprint's bug page; None if there is none.
        fix_of: Returns the registry's fix advice for a pattern.
    """
    tasks = dict.fromkeys(row.task_id for row in subtype.rows)
    return {
        "signatures": _signatures(subtype, fix_of),
        "history": _history(subtype, page_of),
        "citation": "\n".join(f"- {cite(task)}" for task in tasks),
    }


def _signatures(subtype: SubtypeHistory, fix_of: Callable[[str], str | None]) -> str:
    if not subtype.patterns:
        return "No pattern of the registry has matched a failure of this subtype yet."
    rows = [
        (code(pattern), str(runs), code(task, 120), prose(fix_of(pattern) or ""))
        for pattern, runs, task in subtype.patterns
    ]
    return "Patterns that matched failures of this subtype:\n\n" + table(
        ("Pattern", "Runs", "Newest task", "Fix"), rows
    )


def _history(subtype: SubtypeHistory, page_of: Callable[[str], str | None]) -> str:
    parts = [_causes(subtype, page_of)]
    if subtype.fixes:
        rows = [
            (
                fix.date[:10],
                code(task, 120),
                _cause(fingerprint, page_of) if fingerprint else "all",
                escape(one_line(fix_text(fix))),
                _result(fingerprint, fix),
            )
            for fingerprint, fix, task in subtype.fixes
        ]
        tallied = ends(subtype.held, subtype.failed)
        tallied += f", {subtype.reported} of them only reported" if subtype.reported else ""
        parts.append(
            f"{_shown('fixes', rows)}{f' ({tallied})' if tallied else ''}:\n\n"
            + table(("Date", "Task", "Cause", "Fix Applied", "Result"), rows)
        )
    else:
        parts.append("No fix is on record.")
    seen = [
        (
            row.finished[:10],
            code(row.task_id, 120),
            _cause(row.fingerprint, page_of),
            escape(one_line(row.error_class)),
            str(row.tests),
        )
        for row in subtype.rows
    ]
    header = ("Date", "Task", "Cause", "Class", "Failing tests")
    parts.append(f"{_shown('occurrences', seen)}:\n\n{table(header, seen)}")
    return "\n\n".join(parts)


def _result(fingerprint: str | None, fix: Fix) -> str:
    if is_reported(fingerprint, fix):
        return f"{'PASS' if fix.result == 'held' else 'FAIL'} (reported)"
    return fix.result + (f", {after_return(fix)}" if fix.returned else "")


def _shown(what: str, rows: Sequence[object]) -> str:
    """Return a table's caption; it says if only the newest rows are shown."""
    return f"The newest {len(rows)} {what}" if len(rows) >= NEWEST_ROWS else f"{what.capitalize()}, newest first"


def _causes(subtype: SubtypeHistory, page_of: Callable[[str], str | None]) -> str:
    """Return a table of the causes of the newest occurrences, with one row per page."""
    rows: dict[str, tuple[str, ...]] = {}
    for row in subtype.rows:
        cause = _cause(row.fingerprint, page_of)
        words = escape(masked_in_words(subtype.words.get(row.fingerprint, ""), _WORDS))
        rows.setdefault(cause, (cause, words, row.finished[:10], code(row.task_id, 120)))
    causes = "one cause" if subtype.causes == 1 else f"{subtype.causes} causes"
    header = ("Cause", "First cause", "Last seen", "Task")
    return f"Causes, newest first ({causes} in all):\n\n{table(header, rows.values())}"


def _cause(fingerprint: str, page_of: Callable[[str], str | None]) -> str:
    page = page_of(fingerprint)
    return f"[{page}](../bugs/{page}.md)" if page else code(fingerprint)
