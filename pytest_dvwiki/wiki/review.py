"""The review queue: what agents, models and checks propose, and what a person decided about it.

Each proposal is a file `review/ID.md` of the wiki: the frontmatter says what would change, the text is the proposal.
The id is a hash of kind, target and text, so that the same proposal is the same file on every branch. The file stays
after the decision, so that nobody has to decide twice.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from pytest_dvwiki import reading, yamlio
from pytest_dvwiki.records import disk
from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.redact import redact
from pytest_dvwiki.runs import now
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.text import pages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_dvwiki.settings import Layout

Kind = Literal["page", "section", "merge", "pattern", "check", "compiled", "drift"]
Decision = Literal["accepted", "rejected"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DECISIONS: tuple[Decision, ...] = get_args(Decision)
FOLDER = "review"
_TEXTS = ("target", "by", "made_on", "reason", "base")
_DECIDED = ("decided_by", "decided_on", "note")
_EDITED = ("edited_by", "edited_on")


class ReviewError(reading.UserError, ValueError):
    """Raised if a proposal does not exist, cannot be read, or cannot be decided; the message is one line."""


class Proposal(Struct, frozen=True, kw_only=True):
    """A proposed change to the wiki, decided by a person or still waiting for a decision."""

    id: str
    kind: Kind
    target: str
    """What would change: the address of a page or part, the path of a file, or the name of a section or pattern."""
    text: str
    """The proposed text."""
    by: str
    """Who made the proposal: a role, a command, or a model."""
    made_on: str
    reason: str
    base: str = ""
    """Version of the target when the proposer read it; empty if the proposal makes something new."""
    sources: tuple[str, ...] = ()
    edited_by: str = ""
    """The person who changed the text before deciding."""
    edited_on: str = ""
    decision: Decision | None = None
    decided_by: str = ""
    decided_on: str = ""
    note: str = ""
    """The remark of the person who decided."""

    @property
    def path(self) -> str:
        """Return the path of the proposal's file, relative to the wiki."""
        return f"{FOLDER}/{self.id}.md"


def proposal_id(kind: Kind, target: str, text: str) -> str:
    """Return the id of a proposal, which is computed from its content."""
    return hashlib.sha256(f"{kind}\0{target}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


class ReviewQueue:
    """The proposals of one wiki."""

    def __init__(self, layout: Layout) -> None:
        self._wiki = layout.wiki
        self._lock_timeout = layout.lock_timeout

    def propose(
        self, kind: Kind, target: str, text: str, *, by: str, reason: str, base: str = "", sources: Iterable[str] = ()
    ) -> Proposal:
        """Add a proposal, with its secrets masked.

        Returns:
            The new proposal; or the earlier proposal with its decision, if the same text was proposed before.

        Raises:
            ReviewError: There is no text or no target, or the file of the earlier proposal cannot be read.
        """
        text = redact(text).strip()
        if not text or not target.strip():
            raise ReviewError(f"a proposal of kind {kind} needs a target and a text")
        proposal = Proposal(
            id=proposal_id(kind, target, text),
            kind=kind,
            target=target,
            text=text,
            by=by,
            made_on=now(),
            reason=" ".join(redact(reason).split()),
            base=base,
            sources=tuple(sources),
        )
        with locked(self._wiki, self._lock_timeout):
            if (self._wiki / proposal.path).exists():
                return self.get(proposal.id)
            self._write(proposal)
        return proposal

    def all(self) -> list[Proposal]:
        """Return the readable proposals, oldest first; `problems` lists the unreadable proposals."""
        found = (self._read(name) for name in self._names())
        return sorted((each for each in found if isinstance(each, Proposal)), key=lambda each: (each.made_on, each.id))

    def pending(self) -> list[Proposal]:
        """Return the undecided proposals, the oldest first."""
        return [each for each in self.all() if each.decision is None]

    def problems(self) -> list[str]:
        """Return one line for each unreadable proposal, with the reason."""
        return [found for found in map(self._read, self._names()) if isinstance(found, str)]

    def get(self, proposal_id: str) -> Proposal:
        """Return a proposal by its id, or by the first digits of the id if they are unambiguous.

        Raises:
            ReviewError: No proposal or several match, or the proposal cannot be read.
        """
        names = [name for name in self._names() if name.startswith(proposal_id)] if proposal_id else []
        if len(names) != 1:
            several = f"{len(names)} proposals begin with {proposal_id!r}; give more digits: {', '.join(names[:5])}"
            raise ReviewError(several if names else f"no proposal {proposal_id!r:.80}; `dvwiki review` lists them")
        found = self._read(names[0])
        if isinstance(found, str):
            raise ReviewError(found)
        return found

    def edit(self, proposal_id: str, text: str, *, by: str) -> Proposal:
        """Change the text of an undecided proposal, but not its id, and return the proposal.

        Raises:
            ReviewError: The proposal cannot be read or was already decided, or the new text is empty.
        """
        text = redact(text).strip()
        if not text:
            raise ReviewError("the new text is empty; give the proposal a text, or reject it to get rid of it")
        return self._change(proposal_id, text=text, edited_by=by, edited_on=now())

    def decide(self, proposal_id: str, decision: Decision, *, by: str, note: str = "") -> Proposal:
        """Record a person's decision on a proposal, and return the proposal.

        `upkeep.accept` carries out accepted proposals.

        Raises:
            ReviewError: The proposal cannot be read, or is decided already.
        """
        words = " ".join(redact(note).split())
        return self._change(proposal_id, decision=decision, decided_by=by, decided_on=now(), note=words)

    def _change(self, proposal_id: str, **changes: Any) -> Proposal:
        with locked(self._wiki, self._lock_timeout):
            proposal = self.get(proposal_id)
            if proposal.decision:
                raise ReviewError(
                    f"{proposal.id} was already {proposal.decision} by {proposal.decided_by} on"
                    f" {proposal.decided_on[:10]}"
                )
            changed = replace(proposal, **changes)
            self._write(changed)
        return changed

    # Files

    def _names(self) -> list[str]:
        try:
            return sorted(path.stem for path in (self._wiki / FOLDER).iterdir() if path.suffix == ".md")
        except FileNotFoundError:
            return []

    def _read(self, name: str) -> Proposal | str:
        """Return a proposal, or why it cannot be read."""
        path = f"{FOLDER}/{name}.md"
        try:
            page = pages.read(outside.read(self._wiki, path))
        except OSError as error:
            return f"{path}: {reading.reason(error)}; correct or remove the file"
        except yamlio.YamlError as error:
            return f"{path}:{str(error).removeprefix('page:')}; correct or remove the file"
        keys = page.metadata
        for key, known in (("kind", KINDS), ("decision", (None, *DECISIONS))):
            if keys.get(key) not in known:
                return f"{path}: {key} {keys.get(key)!r:.60} is unknown; write one of {', '.join(filter(None, known))}"
        sources = keys.get("sources")
        return Proposal(
            id=name,
            kind=keys["kind"],
            text=page.body.strip(),
            decision=keys.get("decision"),
            sources=tuple(map(str, sources)) if isinstance(sources, list) else (),
            **{key: str(keys.get(key) or "") for key in (*_TEXTS, *_EDITED, *_DECIDED)},
        )

    def _write(self, proposal: Proposal) -> None:
        """Write a proposal; the caller must hold the wiki's lock.

        Raises:
            WikiError: The file cannot be written, or its path leads out of the wiki.
        """
        file = self._wiki / proposal.path
        if outside.leads_out(self._wiki, file):
            raise WikiError(f"cannot write {file}: {outside.REASON}")
        keys: dict[str, Any] = {"kind": proposal.kind} | {key: getattr(proposal, key) for key in _TEXTS}
        more = {key: getattr(proposal, key) for key in ("sources", *_EDITED, "decision", *_DECIDED)}
        keys |= {key: value for key, value in more.items() if value}
        lines = [f"{key}: {yamlio.flow(value)}" for key, value in keys.items()]
        disk.replace(
            file, "\n".join(["---", f"id: {yamlio.flow(proposal.id)}", *lines, "---", "", proposal.text, ""]).encode()
        )
