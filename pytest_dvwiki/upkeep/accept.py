"""What accepting a proposal of the review queue does, by its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.upkeep import drafts
from pytest_dvwiki.wiki.review import Kind, Proposal, ReviewError, ReviewQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_dvwiki.settings import Layout


def accept(layout: Layout, proposal_id: str, *, by: str, note: str = "") -> str:
    """Carry out a proposal, then write down that a person accepted it.

    Args:
        layout: Where the wiki is.
        proposal_id: Its id, or the first digits of it.
        by: The person.
        note: What the person had to say.

    Returns:
        What was done, in one line.

    Raises:
        ReviewError: It cannot be read or carried out, or is decided already; nothing was changed.
        WikiError: The wiki cannot be written.
    """
    queue = ReviewQueue(layout)
    proposal = queue.get(proposal_id)
    if proposal.decision:
        raise ReviewError(f"{proposal.id} was {proposal.decision} by {proposal.decided_by} already")
    done = _WAYS[proposal.kind](layout, proposal, by)
    queue.decide(proposal.id, "accepted", by=by, note=note)
    return done


def _noted(_: Layout, proposal: Proposal, by: str) -> str:
    """Do nothing: the finding is a person's to act on, and the decision says that somebody took it up."""
    return f"{proposal.target}: taken up by {by}"


def _not_yet(_: Layout, proposal: Proposal, __: str) -> str:
    raise ReviewError(f"nothing is known about how to accept a proposal of kind {proposal.kind}")


_WAYS: Mapping[Kind, Callable[[Layout, Proposal, str], str]] = {
    "page": _not_yet,
    "section": _not_yet,
    "merge": _not_yet,
    "pattern": _not_yet,
    "check": drafts.accept,
    "compiled": _not_yet,
    "drift": _noted,
}
"""A function for each kind, which changes the wiki and says what it did; it raises `ReviewError` to refuse."""
