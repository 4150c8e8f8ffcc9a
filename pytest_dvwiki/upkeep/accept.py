"""Applies decisions by people: accept or reject proposals, confirm RTL bugs, accept text written by agents."""

from __future__ import annotations

import difflib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins

from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.patterns.schema import PatternError
from pytest_dvwiki.records import disk
from pytest_dvwiki.runs import today
from pytest_dvwiki.upkeep import compiled, drafts
from pytest_dvwiki.upkeep.lookup import page_named
from pytest_dvwiki.wiki.config import WikiConfig
from pytest_dvwiki.wiki.kinds import bug, topic
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.query import WikiHistory
from pytest_dvwiki.wiki.review import Kind, Proposal, ReviewError, ReviewQueue
from pytest_dvwiki.wiki.schema import NAME, schema_text, with_section
from pytest_dvwiki.wiki.store import WikiStore
from pytest_dvwiki.wiki.store_protocol import Fetched
from pytest_dvwiki.wiki.text.names import file_name
from pytest_dvwiki.wiki.unaccepted import ACCEPT
from pytest_dvwiki.wiki.writing import build
from pytest_dvwiki.wiki.writing.scaffold import LOG_TITLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.page_summary import PageSummary


def shown(layout: Layout, proposal: Proposal) -> str:
    """Return a proposal as text for people and agents: author, reason, and the proposed text or changes."""
    keys = {key: value for key, value in to_builtins(proposal).items() if value and key not in {"text", "sources"}}
    head = [f"{key}: {value}" for key, value in keys.items()] + [f"source: {each}" for each in proposal.sources]
    text = proposal.text
    present = WikiStore(WikiConfig(wiki_dir=layout.wiki), "human").fetch(proposal.target) if proposal.base else None
    if isinstance(present, Fetched):
        content = topic.sections(topic.lessons(present.content)) if proposal.kind == "compiled" else present.content
        lines = (content.strip().splitlines(), text.splitlines())
        text = "\n".join(difflib.unified_diff(*lines, "present", "proposed", lineterm=""))
    return "\n".join([*head, "", text])


def accept(layout: Layout, proposal_id: str, *, by: str, note: str = "") -> str:
    """Apply a proposal, and record that a person accepted it.

    Args:
        layout: Where the wiki is.
        proposal_id: The id of the proposal, or its first digits.
        by: The person.
        note: The person's remark.

    Returns:
        What was done, in one line.

    Raises:
        UserError: The proposal cannot be read or applied, or is already decided. Nothing was changed.
    """
    queue = ReviewQueue(layout)
    proposal = queue.get(proposal_id)
    if proposal.decision:
        raise ReviewError(f"{proposal.id} was already {proposal.decision} by {proposal.decided_by}")
    done = _WAYS[proposal.kind](layout, proposal, by)
    queue.decide(proposal.id, "accepted", by=by, note=note)
    return done


def reject(layout: Layout, proposal_id: str, *, by: str, note: str = "") -> Proposal:
    """Record that a person rejected a proposal. The lesson that it proposed, if any, is marked as superseded.

    Raises:
        ReviewError: The proposal cannot be read, or is already decided. Nothing was changed.
    """
    queue = ReviewQueue(layout)
    rejected = queue.decide(proposal_id, "rejected", by=by, note=note)
    if rejected.kind == "compiled":
        compiled.reject(layout, rejected, by)
    return rejected


def confirm(layout: Layout, name: str, *, by: str) -> str:
    """Confirm an RTL bug that nobody has reviewed, or accept an agent's text on a page.

    Args:
        layout: Where the wiki is.
        name: The name or path of the bug's page, or the address of the text, as `dvwiki review` lists them.
        by: The person.

    Raises:
        ReviewError: No such bug or text awaits review, or the page cannot be edited.
    """
    with WikiHistory(layout) as history:
        found = [page for page in unjudged(history.page_cache) if name in {page.name, page.path}]
        written = name in history.unaccepted
    if written:
        line = f"{ACCEPT} | - | {name} by {by}"
        build.add_line(layout, "log.md", LOG_TITLE, lambda _: line)
        return f"{name} is accepted and included in prompts from now on"
    if not found:
        raise ReviewError(
            f"no proposal, RTL bug or agent's text called {name!r:.80} awaits review;"
            " `dvwiki review` lists those that do"
        )
    path, keys = found[0].path, {"status": "confirmed", "confirmed_by": by, "confirmed_on": today().isoformat()}
    problem = build.change_page(
        layout, path, lambda data: bug.with_keys(data or b"", keys), log_text=f"{path}: confirmed by {by}"
    )
    if problem:
        raise ReviewError(f"{path} cannot be edited: {problem}")
    return f"{path} is confirmed"


def unjudged(page_cache: PageCache) -> list[PageSummary]:
    """Return the pages of open RTL bugs that nobody has reviewed, sorted by name."""
    return [
        page
        for page in page_cache.all("bugs")
        if not (page.problem or bug.is_pointer(page) or bug.is_decided(page) or page.metadata.get("stale") is True)
        and page.status == "open"
        and bug.effective_type(page) == "RTL_BUG"
    ]


def _page(layout: Layout, proposal: Proposal, _: str) -> str:
    """Write a proposed page or part of a page, as the role `human`."""
    store = WikiStore(WikiConfig(wiki_dir=layout.wiki), "human")
    outcome = store.commit(proposal.target, f"{proposal.text}\n", proposal.base)
    if outcome.status != "done":
        raise ReviewError(f"{proposal.target}: {outcome.reason}")
    return f"{proposal.target} is {'changed' if proposal.base else 'a page now'}"


def _section(layout: Layout, proposal: Proposal, _: str) -> str:
    with locked(layout.wiki, layout.lock_timeout):
        disk.replace(layout.wiki / NAME, with_section(schema_text(layout.wiki), proposal.text).encode())
    return f"{proposal.target} is a section now"


def _merge(layout: Layout, proposal: Proposal, _: str) -> str:
    """Merge the bug page given in the proposal's text into the proposal's target."""
    with WikiHistory(layout) as history:
        kept, other = (page_named(history.page_cache, name) for name in (proposal.target, proposal.text))
    build.merge(layout, kept.path, other.path, proposal.reason)
    return f"{other.path} is superseded by {kept.path}; to undo it: `dvwiki merge --undo {kept.name} {other.name}`"


def _pattern(layout: Layout, proposal: Proposal, _: str) -> str:
    """Write the proposed pattern file, if its patterns are valid."""
    name = f"{file_name(proposal.target)}.yaml"
    with tempfile.TemporaryDirectory() as folder:
        tried = Path(folder) / name
        tried.write_text(f"{proposal.text}\n", "utf-8")
        try:
            load_registry([tried])
        except PatternError as error:
            raise ReviewError(str(error).replace(f"{folder}/", "")) from error
    if (layout.patterns / name).exists():
        raise ReviewError(f"{layout.patterns / name} already exists; add the pattern to that file by hand")
    disk.create(layout.patterns / name, f"{proposal.text}\n".encode())
    return f"{layout.patterns.name}/{name} is active now; `dvwiki patterns test` checks its examples"


def _noted(_: Layout, proposal: Proposal, by: str) -> str:
    """Change nothing: accepting a finding only records the decision."""
    return f"{proposal.target}: taken up by {by}"


_WAYS: Mapping[Kind, Callable[[Layout, Proposal, str], str]] = {
    "page": _page,
    "section": _section,
    "merge": _merge,
    "pattern": _pattern,
    "check": drafts.accept,
    "compiled": compiled.accept,
    "drift": _noted,
}
"""Maps each kind of proposal to a function that applies it and returns what it did, or raises `ReviewError`."""
