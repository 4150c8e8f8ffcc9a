"""A page of the specification: what people and agents found out about a feature that the document leaves open.

Nothing on it is derived from records: a clarification is added below the others once, and all of it is people's.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_dvwiki.records import hunks
from pytest_dvwiki.wiki.text import pages, parts
from pytest_dvwiki.wiki.text.markdown import cite, escape, one_line
from pytest_dvwiki.wiki.text.names import file_name
from pytest_dvwiki.wiki.text.pages import Refused
from pytest_dvwiki.wiki.text.splice import newline_of

SECTION = "Clarifications"
_NAME = 200
_LONGEST = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarification:
    """How a feature of the specification is to be read."""

    feature: str
    kind: str
    """Of the open point: ambiguous, missing, contradiction, …"""
    text: str
    section: str = ""
    """Of the specification."""
    date: str
    task_id: str
    """The record that it is archived by."""

    @property
    def path(self) -> str:
        """Its page, relative to the wiki."""
        return f"specs/{file_name(f'{self.feature}_clarification')}.md"

    @property
    def said(self) -> str:
        """Its text as it stands on the page."""
        return escape(one_line(self.text, _LONGEST))

    def line(self) -> str:
        """It as one line of its page."""
        place = f", section {escape(one_line(self.section, _NAME))}" if self.section else ""
        return f"- {self.date} ({escape(one_line(self.kind, _NAME))}{place}): {self.said} {cite(self.task_id)}"


def new(first: Clarification) -> bytes:
    """A new page with its first clarification."""
    feature = one_line(first.feature, _NAME)
    kind = one_line(first.kind, _NAME)
    people = {"type": "spec", "feature": feature, "clarification_type": kind, "status": "open"}
    return pages.new(people, (), f"Specification: {escape(feature)}", [(SECTION, first.line())])


def with_further(data: bytes, further: Clarification) -> bytes | Refused:
    """A page with one more clarification below the others; all lines that are there stay.

    Returns:
        The same bytes where the page says it already; or why it cannot be added.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return Refused(f"it is not UTF-8 (byte {error.start})")
    if hunks.may_be_in(data):
        return Refused("it has a conflict that a merge left; settle it by hand")
    if f": {further.said} (source: tasks/" in text:
        return data
    newline = newline_of(text)
    found = parts.part(text, SECTION)
    if found is None:
        gap = newline if text.endswith("\n") else newline * 2
        return f"{text}{gap}## {SECTION}{newline * 2}{further.line()}{newline}".encode()
    body = text[: found[1]].rstrip()
    # The first one stands a line below the heading, and each further one right below the one before.
    gap = newline if body.rpartition("\n")[2].startswith(("- ", "  ")) else newline * 2
    rest = text[len(body) :] or newline
    return f"{body}{gap}{further.line()}{rest}".encode()
