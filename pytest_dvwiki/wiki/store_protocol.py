"""The `Store` protocol for reading and writing pages, and the types that its methods return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_dvwiki.model.sentences import count
from pytest_dvwiki.wiki.schema import READ_CAP
from pytest_dvwiki.wiki.text import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_dvwiki.wiki.schema import Schema, Section


class PageEntry(Struct, frozen=True, kw_only=True):
    """An entry of a list: a page without its text or, in a long list, a sub-folder."""

    address: str
    """The address to pass to other calls; it ends with a slash for a sub-folder."""
    category: str
    title: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The page's frontmatter; for an unreadable page, only the fingerprint."""
    age: str = ""
    """How long the page's content has been known, as of today."""
    summary: str = ""
    """The first line of the page's text that is not a heading; for a sub-folder, the number of pages."""
    version: str = ""
    last_author: str = ""
    """The role that last wrote the page through a store; `ingest` if only runs wrote it; empty if not on record."""
    words: int = 0
    status: str = ""
    pages: int = 0
    """Number of pages in the sub-folder; 0 for a page."""


class Fetched(Struct, frozen=True, kw_only=True):
    """The content of a page, or of a part of a page, as read."""

    address: str
    content: str
    version: str
    """The version to pass to a later write; empty if a part of the content was left out."""
    leads_to: str = ""
    """Address of the page that keeps the cause, if this page only points to it."""
    left_out: str = ""
    """What was left out, and how to read it."""

    def shortened(self, budget: int, count_tokens: Callable[[str], int]) -> Fetched:
        """Return the content, cut to the first lines that fit into a budget of tokens.

        Shortened content has no version, because committing it would delete the omitted lines.
        """
        if count_tokens(self.content) <= budget:
            return self
        lines = self.content.splitlines(keepends=True)
        kept, room = 0, budget
        for line in lines:
            room -= count_tokens(line)
            if room < 0:
                break
            kept += 1
        rest = "".join(lines[kept:])
        headings = (parts.heading_of(line) for _, line in parts.unfenced(lines[kept:]))
        # A heading of level 1 is the title, or a comment of the frontmatter.
        named = [found.words for found in headings if found and found.level > 1]
        ways = f"; its parts: {', '.join(f'`{self.address}#{each}`' for each in named)}" if named else ""
        left_out = f"{count(len(lines) - kept, 'line')} left out, about {count_tokens(rest)} tokens{ways}"
        return replace(self, content="".join(lines[:kept]), version="", left_out=left_out)


class Written(Struct, frozen=True, kw_only=True):
    """The outcome of a write."""

    status: Literal["done", "proposed", "conflict", "denied"]
    """`proposed` means that the write is in the review queue until a person decides."""
    address: str
    version: str = ""
    """Version of the current content; empty if the content was not read."""
    content: str = ""
    """The current content; empty unless it differs from what the writer read."""
    reason: str = ""
    """Why nothing was written and what to do instead; for a proposal, what a person has to do."""
    proposal: str = ""
    """Id of the proposal, if the write is `proposed`."""


class HandedOff(Struct, frozen=True, kw_only=True):
    """The outcome of a handoff."""

    status: Literal["done", "denied"]
    by: str
    """The role that passes the work on."""
    to: str = ""
    """The role that has the work now."""
    asked_for: str = ""
    """The role that the caller asked for, if another role got the work."""
    task: str = ""
    step: int = 0
    """Number of handoffs of the task, this one included."""
    max_steps: int = 0
    reason: str = ""
    """Why another role got the work, or why the handoff was denied; and what to do."""


class Turn:
    """What one reader has read since its last write; a turn ends with a commit, an append or a handoff."""

    def __init__(self) -> None:
        self._read: dict[str, list[str]] = {}

    def refusal(self, section: Section) -> str | None:
        """Return why a section cannot be read again in this turn; None if it can."""
        read = self._read.get(str(section.address), ())
        if len(read) < section.read_cap:
            return None
        return (
            f"this turn has read {section.address} {count(len(read), 'time')} ({', '.join(dict.fromkeys(read))}), the"
            " most that its read_cap allows; write what you found (a commit, an append or a handoff ends the turn), or"
            " use `list`, which is not counted"
        )

    def count_read(self, section: Section, address: str) -> None:
        """Count a read of an address in a section."""
        self._read.setdefault(str(section.address), []).append(address)

    def end(self) -> None:
        """End the turn: clear the counts of reads."""
        self._read.clear()


class Store(Protocol):
    """Read and write access to pages for one role; refusals are returned, not raised.

    An address is `category`, `category/page` or `category/page#Heading`, for example
    `bugs/RTL_20261121_480127#Resolution`, or the name of a section that is a separate file, such as `handoffs`.
    """

    @property
    def schema(self) -> Schema:
        """Return the sections and roles."""
        ...

    def list(self, folder: str | None = None) -> list[PageEntry]:
        """Return the pages of a category or sub-folder, or of all categories, by name.

        In a list of more than 50 pages, each sub-folder is one entry. An unreadable page has only its fingerprint as
        metadata.
        """
        ...

    def fetch(self, address: str) -> Fetched | Written:
        """Read a page or a part of a page.

        Returns:
            The content; or a refusal if the address does not exist or the turn has reached the section's `read_cap`.
        """
        ...

    def commit(self, address: str, content: str, expected_version: str) -> Written:
        """Replace the content of a page or of a part of a page, or create a page.

        Args:
            address: A page or a part.
            content: The complete new content.
            expected_version: Version of the content that was edited; empty for a new page.

        Returns:
            `done` with the new version; `proposed` for a new page that a person has to accept; `conflict` with the
            current content, if its version is not `expected_version`; or `denied` with the reason.
        """
        ...

    def append(self, address: str, text: str, commit: str = "") -> Written:
        """Append text to a part of a page that has the mode `log`, or a line to a section such as `log`.

        On a page, an agent's text becomes a note marked as unreviewed; `commit` is the commit of the fix that the note
        proposes.

        Returns:
            `done`, with the new version if the text is now on a page; or `denied`, with the reason.
        """
        ...

    def create_section(
        self,
        name: str,
        *,
        mode: str,
        writable_by: Sequence[str],
        reason: str,
        title: str = "",
        description: str = "",
        read_cap: int = READ_CAP,
    ) -> Written:
        """Propose a new section; it takes effect when a person accepts it.

        Returns:
            `proposed`, or `denied` with the reason.
        """
        ...

    def handoff(self, target: str, summary: str, task: str = "") -> HandedOff:
        """Pass the work on to a later role of the pipeline.

        Args:
            target: The role that should get the work. If it does not come after the caller's role, the next role gets
                the work, or the last role keeps it.
            summary: What the next role has to know.
            task: What the work is about; the handoffs of each task are counted separately.

        Returns:
            `done` with the role that has the work now; `denied` after `max_steps` handoffs, or without a summary.
        """
        ...
