"""Checks of a page's new content: its size, frontmatter and headings, and the parts that only dvwiki may change.

A refusal is returned, not raised; it gives the reason and what would be allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.wiki.kinds.owned import OWNED
from pytest_dvwiki.wiki.page_summary import CATEGORIES, REQUIRED
from pytest_dvwiki.wiki.store_protocol import Written
from pytest_dvwiki.wiki.text import pages, parts, splice
from pytest_dvwiki.yamlio import YamlError

if TYPE_CHECKING:
    from pytest_dvwiki.wiki.schema import Address

_LARGEST = 1 << 20


def part_of(text: str, place: Address) -> str | Written:
    """Return the page or part at an address, or a refusal if there is no such part."""
    if place.heading is None:
        return text
    found = parts.part(text, place.heading)
    if found is None:
        return denied(place, f"the page has no heading {place.heading!r}")
    return text[found[0] : found[1]].strip("\r\n")


def span_of(text: str, place: Address) -> tuple[int, int]:
    """Return the start and end, in characters, of a part that is known to exist."""
    found = parts.part(text, place.heading or "")
    assert found is not None  # noqa: S101 (it was found before)
    return found


def with_part(text: str, place: Address, content: str, role: str) -> str | Written:
    """Return a page with new content at an address, or a refusal if the change is not allowed."""
    content = splice.cleaned(content, text)
    refusal = refuse_length(place, content)
    if refusal:
        return refusal
    if place.heading is None:
        changed = splice.whole(text, content)
        return _refuse_owned_changes(text, changed, place, may_remove=role == "human") or changed
    return refuse_breakout(text, place, content) or splice.replaced(text, span_of(text, place), content)


def refuse_breakout(text: str, place: Address, content: str) -> Written | None:
    """Return a refusal if a line of the content, such as a heading, would end the part; else None."""
    outside = parts.breaks_out(content, parts.level_of(text, place.heading or ""))
    if outside is None:
        return None
    return denied(place, f"the line {outside!r} would end the part; use a lower heading, or a fenced block")


def refuse_length(place: Address, content: str) -> Written | None:
    """Return a refusal if the content is too long; else None."""
    if len(content) <= _LARGEST:
        return None
    return denied(place, f"it has {len(content)} characters, more than {_LARGEST}; split it into several pages")


def problem_of(content: str, place: Address, *, is_new: bool = False) -> str | None:
    """Return why content cannot be a page; None if it can.

    Only a new page must have all keys that `dvwiki lint` requires.
    """
    refusal = refuse_length(place, content)
    if refusal or place.category not in CATEGORIES:
        return refusal.reason if refusal else None
    try:
        keys = pages.read(content.encode("utf-8", "surrogatepass")).metadata
    except YamlError as error:
        return f"its frontmatter cannot be read: {error}"
    if not keys:
        return "it has no frontmatter; start the page with keys between two `---` lines"
    missing = [key for key in REQUIRED[place.category] if is_new and keys.get(key) in (None, "")]
    return f"its frontmatter lacks {' and '.join(missing)}" if missing else None


def _refuse_owned_changes(before: str, after: str, place: Address, *, may_remove: bool) -> Written | None:
    """Return a refusal if a change would alter keys or regions that dvwiki makes from records; else None."""
    problem = problem_of(after, place)
    if problem:
        return denied(place, problem)
    old, new = before.encode(), after.encode()
    then, now = pages.read(old).metadata, pages.read(new).metadata
    keys = [key for key in OWNED.get(place.category, ()) if repr(then.get(key)) != repr(now.get(key))]
    if keys:
        what = f"{', '.join(keys)} {'are' if len(keys) > 1 else 'is'} made from the records"
        return denied(place, f"{what}; leave dvwiki's keys unchanged")
    were, are = pages.regions(old), pages.regions(new)
    if isinstance(are, pages.Refused):
        return denied(place, are.reason)
    if isinstance(were, pages.Refused):
        return None
    changed = [name for name, text in were.items() if are.get(name, text if may_remove else None) != text]
    if changed:
        return denied(
            place, f"dvwiki overwrites the text between the marks of {', '.join(changed)}; write above or below them"
        )
    return None


def ended(text: str) -> str:
    """Return text with a line feed at its end, added if it is missing."""
    return text if text.endswith("\n") else f"{text}\n"


def decoded(data: bytes, place: Address) -> str | Written:
    """Return the text of a page, or a refusal if the page is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return denied(place, "the page is not UTF-8; a person has to correct it")


def denied(address: Address | str, reason: str) -> Written:
    """Return a refusal, with the address and the reason."""
    return Written(status="denied", address=str(address), reason=reason)
