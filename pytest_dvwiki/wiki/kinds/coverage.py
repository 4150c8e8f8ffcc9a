"""A coverage page: the history of one bin of a covergroup, and what filled it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.model.archive import ALL_BINS, MANY_BINS
from pytest_dvwiki.wiki.kinds.pattern import UNWRITTEN
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.text.markdown import cite, code, escape, one_line, table
from pytest_dvwiki.wiki.text.names import file_name

if TYPE_CHECKING:
    from pytest_dvwiki.records.bins import Hole
    from pytest_dvwiki.wiki.page_summary import PageSummary

OWNED = ("filled", "filled_by_task")
ACTIONS = ("actionable", "protocol_blocked", "design_excluded", "needs_investigation")
_NAME = 200
_CITED = 20


def paths(covergroup: str, bin_name: str) -> tuple[str, str]:
    """Return the path of a bin's page, and an alternative path in case another bin's page already uses the first.

    For example, the bin `b_c` of `a` and the bin `c` of `a_b` have the same first path.
    """
    plain = file_name(f"{covergroup}_{bin_name}")
    digest = hashlib.sha256(f"{covergroup}\0{bin_name}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"coverage/{plain}.md", f"coverage/{plain}_{digest}.md"


def is_of(page: PageSummary, covergroup: str, bin_name: str) -> bool:
    """Return whether a page describes the given bin."""
    return (page.text("covergroup"), page.text("bin")) == (one_line(covergroup, _NAME), one_line(bin_name, _NAME))


def new(page: str, hole: Hole) -> pages.PageDraft:
    """Return a new coverage page named `page`, with empty owned keys and regions."""
    first = hole.first.state
    # A hole from a coverage report has no scenario yet: people or agents write it. Its counts are in the history.
    scenario = first.scenario or "" if first.hits is None else ""
    covergroup, bin_name = one_line(hole.covergroup, _NAME), one_line(hole.bin, _NAME)
    people = {
        "type": "coverage",
        "covergroup": covergroup,
        "bin": bin_name,
        "action_class": first.action_class if first.action_class in ACTIONS else "needs_investigation",
        "feature": one_line(first.feature or "", _NAME) or None,
        "priority": first.priority,
    }
    sections = (
        ("Scenario", escape(one_line(scenario)) or UNWRITTEN),
        ("History", pages.region("history", page)),
        ("Citation", pages.region("citation", page)),
    )
    shown = f", {MANY_BINS}" if bin_name == ALL_BINS else f".{escape(bin_name)}"
    return pages.draft(people, OWNED, f"Coverage: {escape(covergroup)}{shown}", sections, page=page)


def keys(hole: Hole) -> dict[str, Any]:
    """Return the owned keys of a coverage page: whether the bin is filled, and the task that filled it."""
    return {"filled": hole.filled_by is not None, "filled_by_task": hole.filled_by}


def regions(hole: Hole) -> dict[str, str]:
    """Return the regions of a coverage page by name: the reports of the bin, and their citations."""
    rows = [
        (
            row.finished[:10],
            code(row.task_id, 120),
            escape(one_line(row.state.action_class or "", 40)),
            escape(one_line(row.state.scenario or "")),
            "" if row.state.hits is None else f"{row.state.hits} of {row.state.goal}",
            "filled" if row.state.filled else "unfilled",
        )
        for row in hole.rows
    ]
    # Leave out empty columns: coverage tools report no scenario, and callers of the API report no hits.
    header = ("Date", "Task", "Class", "Scenario", counted(hole).capitalize(), "State")
    kept = [column for column in range(len(header)) if any(row[column] for row in rows)]
    history = f"{_standing(hole)}\n\n" + table(
        [header[column] for column in kept], [[row[column] for column in kept] for row in rows]
    )
    if hole.total > len(rows):
        history += f"\n\nThe newest {len(rows)} of {hole.total} reports; `tasks/` has all of them."
    tasks = dict.fromkeys(row.task_id for row in hole.rows)
    return {"history": history, "citation": "\n".join(f"- {cite(task)}" for task in list(tasks)[:_CITED])}


def _standing(hole: Hole) -> str:
    """Return a sentence that says whether a bin is covered, and since when."""
    task_id, _, newest = hole.rows[0]
    covered = "Covered" if newest.filled else "Not covered"
    hits = f", {newest.hits} of {newest.goal} {counted(hole)} in the newest run" if newest.hits is not None else ""
    return f"{covered} since {hole.since[:10]}{hits}. {cite(task_id)}"


def counted(hole: Hole) -> str:
    """Return what a hole's counts measure: covered bins for a whole coverpoint, else hits."""
    return "covered bins" if hole.bin == ALL_BINS else "hits"
