"""Accepts a draft of a check: the draft becomes a check."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.checks import DRAFT, SUFFIX
from pytest_dvwiki.checks.schema import CheckError, parse_check
from pytest_dvwiki.records import disk
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.review import ReviewError, proposal_id

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout
    from pytest_dvwiki.wiki.review import Proposal


def version(path: Path) -> str:
    """Return the version of a file: 12 hex digits of its hash, or an empty string if the file does not exist."""
    try:
        return hashlib.sha256(reading.read_bytes(path)).hexdigest()[:12]
    except FileNotFoundError:
        return ""


def accept(layout: Layout, proposal: Proposal, _: str) -> str:
    """Write a draft, with people's edits, to the file of the check.

    Raises:
        ReviewError: The target is not the name of a check in the project, the draft is not a valid check, the check was
            changed after the proposal, or both the draft's file and the proposal were edited.
    """
    check = layout.root / proposal.target
    draft = check.with_name(check.name.removesuffix(SUFFIX) + DRAFT)
    if not check.name.endswith(SUFFIX) or outside.leads_out(layout.root, check):
        raise ReviewError(f"{proposal.target} is not the name of a check below {layout.root}")
    if version(check) != proposal.base:
        raise ReviewError(f"{proposal.target} has changed since this was proposed; run `dvwiki spec generate` again")
    text = proposal.text
    drafted = reading.read_text(draft).strip() if draft.exists() else text
    if proposal_id(proposal.kind, proposal.target, drafted) != proposal.id and drafted != text:
        if proposal.edited_by:
            raise ReviewError(
                f"{draft.name} and the proposal were both edited; give both the same text, or reject the proposal"
            )
        text = drafted
    try:
        parse_check(text, check)
    except CheckError as error:
        raise ReviewError(str(error)) from error
    disk.replace(check, f"{text}\n".encode())
    draft.unlink(missing_ok=True)
    return f"{proposal.target} is a check now; `pytest --dvwiki` runs it"
