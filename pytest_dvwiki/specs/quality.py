"""The quality gate for specifications."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.expressions import ExpressionError, compile_re2
from pytest_dvwiki.specs import document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_dvwiki.specs.document import Entry

LEAST = 1000
"""Minimum length of a specification, in characters."""
_OPEN = re.compile(r"\{TODO\b|\bTODO:")


def issues(text: str) -> list[str]:
    """Return the problems of a specification, one line each; empty if the specification passes the quality gate."""
    return [*dict.fromkeys((*_form(text), *_content(text)))]


def _form(text: str) -> Iterator[str]:
    number = len(_OPEN.findall(text))
    if number:
        yield f"{number} TODO{' is' if number == 1 else 's are'} left open"
    found = re.findall(rf"^## ({'|'.join(map(re.escape, document.HEADINGS))})[ \t]*$", text, re.MULTILINE)
    for heading in document.HEADINGS:
        if found.count(heading) != 1:
            yield f"the heading '## {heading}' {'is missing' if heading not in found else 'appears twice'}"
    if len(text) < LEAST:
        yield f"it has {len(text)} characters, fewer than {LEAST}: it is probably incomplete"
    for block in document.blocks_of(text):
        if not block.is_closed:
            yield f"the code block at line {block.line} is not closed"
        if not block.language:
            yield f"the code block at line {block.line} names no language"
    for expression in document.expressions_of(text):
        try:
            compile_re2(expression)
        except ExpressionError as error:
            yield f"the expression {expression!r:.80} cannot be used: {error}"


def _content(text: str) -> Iterator[str]:
    parsing, checking, waiving, guiding = (document.sections_of(text).get(each, "") for each in document.HEADINGS)
    items = document.items_of(checking)
    if checking and not items:
        yield "section 2 has no items: none of its headings is numbered 2.1, 2.2, …"
    fields = document.Fields(parsing)
    for reference in document.references_of(checking):
        if not fields.has(reference):
            yield f"the field {reference} of section 2 is not defined in section 1"
    yield from _without_item("waiver", document.waivers_of(waiving), items)
    yield from _without_item("scenario", document.scenarios_of(guiding), items)
    names = {each.title for each in items}
    for item in document.check_items(guiding) or ():
        name = item.get("name") if isinstance(item, dict) else item
        if name not in names:
            yield f"the extraction {name!r:.80} in section 4 does not belong to any item of section 2"


def _without_item(kind: str, entries: Sequence[Entry], items: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        named, unknown = document.named_items(entry.text, [*items])
        label = f"the {kind} '{' '.join(filter(None, (entry.number, entry.title)))}'"
        if unknown:
            yield f"{label} mentions {', '.join(unknown)}, not defined in section 2"
        elif not named:
            yield f"{label} mentions no item of section 2"
