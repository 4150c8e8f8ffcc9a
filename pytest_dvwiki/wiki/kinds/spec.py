"""A specification page: clarifications of one feature where the specification is unclear.

Nothing on this page is derived from records. dvwiki appends each clarification once; from then on, only people edit it.
"""

from __future__ import annotations

from msgspec import Struct

from pytest_dvwiki.records import git_conflicts
from pytest_dvwiki.wiki.text import pages, parts
from pytest_dvwiki.wiki.text.markdown import cite, escape, one_line
from pytest_dvwiki.wiki.text.names import file_name
from pytest_dvwiki.wiki.text.pages import Refused
from pytest_dvwiki.wiki.text.splice import newline_of

SECTION = "Clarifications"
_NAME = 200
_LONGEST = 4000


class Clarification(Struct, frozen=True, kw_only=True):
    """A clarification of one feature of the specification."""

    feature: str
    kind: str
    """What is wrong with the specification: ambiguous, missing, contradiction, …"""
    text: str
    section: str = ""
    """Section of the specification."""
    date: str
    task_id: str
    """Task id of the record with the clarification."""

    @property
    def path(self) -> str:
        """Return the path of the feature's page, relative to the wiki."""
        return f"specs/{file_name(f'{self.feature}_clarification')}.md"

    @property
    def escaped_text(self) -> str:
        """Return the clarification's text as written on the page."""
        return escape(one_line(self.text, _LONGEST))

    def line(self) -> str:
        """Return the clarification as one line of its page."""
        place = f", section {escape(one_line(self.section, _NAME))}" if self.section else ""
        return f"- {self.date} ({escape(one_line(self.kind, _NAME))}{place}): {self.escaped_text} {cite(self.task_id)}"


def new(first: Clarification) -> bytes:
    """Return a new specification page with its first clarification."""
    feature = one_line(first.feature, _NAME)
    kind = one_line(first.kind, _NAME)
    people = {"type": "spec", "feature": feature, "clarification_type": kind, "status": "open"}
    return pages.draft(people, (), f"Specification: {escape(feature)}", [(SECTION, first.line())]).text.encode()


def with_further(data: bytes, further: Clarification) -> bytes | Refused:
    """Return a page with a further clarification.

    Returns:
        The new bytes of the page, unchanged if the clarification is already there; or why it cannot be added.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return Refused(f"it is not UTF-8 (byte {error.start}); save it as UTF-8")
    if git_conflicts.may_be_in(data):
        return Refused("it has an unresolved merge conflict; resolve it by hand")
    if f": {further.escaped_text} (source: tasks/" in text:
        return data
    newline = newline_of(text)
    found = parts.part(text, SECTION)
    if found is None:
        gap = newline if text.endswith("\n") else newline * 2
        return f"{text}{gap}## {SECTION}{newline * 2}{further.line()}{newline}".encode()
    body = text[: found[1]].rstrip()
    # A blank line separates the first clarification from the heading; other clarifications follow directly.
    gap = newline if body.rpartition("\n")[2].startswith(("- ", "  ")) else newline * 2
    rest = text[len(body) :] or newline
    return f"{body}{gap}{further.line()}{rest}".encode()
