"""Reads and edits a page: an edit changes the keys and regions that dvwiki owns, and no other byte.

A page is frontmatter between two lines of three dashes, then Markdown. libyaml parses the frontmatter, and only the
values of owned keys are replaced, at the offsets that the parser gives. A region is enclosed by two comments:

    <!-- dvwiki:begin NAME of ID    <!-- dvwiki:end NAME of ID
    ID: three lines of text -->     ID: three lines of text -->

Each comment has four lines, because git joins changes that have up to three equal lines between them. Each line has
the page's id: otherwise git could take two pages for one renamed page, and move what people wrote on one page to the
other. A page that cannot be edited safely is left as it is, and the refusal gives the reason.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from pytest_dvwiki import yamlio
from pytest_dvwiki.wiki.text import parts
from pytest_dvwiki.wiki.text.owned_keys import UneditableError, edit_block, flat, has_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_FIRST_FENCE = re.compile(r"---[ \t]*\r?\n")
_NEXT_FENCE = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_MARK = re.compile(
    r"^<!-- dvwiki:(?P<kind>begin|end) (?P<name>[a-z_]+)(?: of (?P<page>[\w.-]+))?[ \t]*\r?$", re.MULTILINE
)
_COMMENT = re.compile(r"(?:^|[^#\n] )# ((?:RTL|TB|UNK)_\d{8}_\w+): ", re.MULTILINE)
"""Matches one of dvwiki's comments in the frontmatter of a bug page."""
_CLOSE = re.compile(r"-->[ \t]*\r?$", re.MULTILINE)
_MARKS = re.compile(r"<!-- dvwiki:(?:begin|end) [a-z_]+[^>]*-->", re.DOTALL)
CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |\r?$)", re.MULTILINE)
_NO_VALUE = "no value of any page"
_BOM = "\ufeff"


class Refused(Struct, frozen=True):
    """Why a page was left unchanged: one line, without the page's name."""

    reason: str


class Page(Struct, frozen=True):
    """A page as read from its file."""

    metadata: dict[str, Any]
    body: str


class PageDraft(NamedTuple):
    """A new page with empty owned keys and regions."""

    text: str
    metadata: dict[str, Any]
    """The keys and values of the page's frontmatter."""


class Filled(NamedTuple):
    """A new page, ready to be written."""

    data: bytes
    metadata: dict[str, Any] | None
    """The frontmatter; None if only parsing the page would show it."""


def begin_marker(name: str, page: str) -> str:
    """Return the four lines before a region, each with the page's id."""
    return (
        f"<!-- dvwiki:begin {name} of {page}\n"
        f"{page}: dvwiki writes the text from here to the end\n"
        f"{page}: mark, and replaces it at the next run. Write\n"
        f"{page}: above this comment, or below the end mark. -->"
    )


def end_marker(name: str, page: str) -> str:
    """Return the four lines after a region, each with the page's id."""
    return (
        f"<!-- dvwiki:end {name} of {page}\n"
        f"{page}: dvwiki's text ends here. All text from here to\n"
        f"{page}: the next begin mark, or to the end of the page,\n"
        f"{page}: belongs to people and stays as it is. -->"
    )


def region(name: str, page: str) -> str:
    """Return an empty region for a new page."""
    return f"{begin_marker(name, page)}\n\n{end_marker(name, page)}"


def comments(page: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the comments before and after the owned keys of a page, each line with the page's id."""
    return (
        (
            f"# {page}: dvwiki writes the keys from here to",
            f"# {page}: the dashes, from the records in tasks, and",
            f"# {page}: overwrites changes to them. The keys above",
            f"# {page}: belong to people: set them, add your own.",
        ),
        (
            f"# {page}: below, dvwiki writes only between",
            f"# {page}: the comments dvwiki:begin and dvwiki:end.",
            f"# {page}: A deleted page comes back with its next record;",
            f"# {page}: `status: wont_fix` silences a bug page.",
        ),
    )


def draft(
    people: Mapping[str, Any],
    owned: Sequence[str],
    title: str,
    sections: Iterable[tuple[str, str]],
    *,
    page: str = "",
    ending: str = "",
    notes: Mapping[str, str] | None = None,
) -> PageDraft:
    """Compose a new page, with empty owned keys.

    Args:
        people: The keys that people own, with scalar values.
        owned: The keys that dvwiki writes; if there are none, the page has no comments about them.
        title: The title in Markdown, on one line.
        sections: Heading and Markdown of each section.
        page: The page's id, for the comments about owned keys.
        ending: The text at the end of the page, below all sections.
        notes: Comments to put after the values of people's keys, by key.
    """
    notes = notes or {}
    empty = [f"{key}: null" for key in owned]
    begin, end = comments(page)
    lines = [
        "---",
        *(f"{key}: {yamlio.flow(value)}{f'  # {notes[key]}' if key in notes else ''}" for key, value in people.items()),
        *([*begin, *empty, *end] if empty else []),
        "---",
        "",
        f"# {title}",
        "",
        *(line for heading, text in sections for line in (f"## {heading}", *(["", text] if text else []), "")),
        *([ending, ""] if ending else []),
    ]
    return PageDraft("\n".join(lines), {**people, **dict.fromkeys(owned)})


def read(data: bytes) -> Page:
    """Read a page; a page without frontmatter has no metadata.

    Raises:
        YamlError: The frontmatter cannot be parsed, has a key twice, or contains a conflict marker.
    """
    text = data.decode("utf-8", "replace").removeprefix(_BOM)
    found = _split(text)
    if found is None:
        return Page({}, text)
    # Line 1 of the block is line 2 of the page.
    value = yamlio.load(f"\n{text[found[0] : found[1]]}", "page")
    if not isinstance(value, dict):
        raise yamlio.YamlError("page:2: the frontmatter is not a block of keys; write one `key: value` on each line")
    return Page({str(key): item for key, item in value.items()}, text[found[2] :].strip())


def body(text: str) -> str:
    """Return the text of a page without its frontmatter; the frontmatter is not parsed."""
    found = _split(text.removeprefix(_BOM))
    return text.removeprefix(_BOM)[found[2] :] if found else text


def title_of(body: str) -> str:
    """Return the first top-level heading of a page's text; empty if it has none."""
    return next((line[2:].strip() for line in body.split("\n") if line.startswith("# ")), "")


def edit(
    data: bytes, keys: Mapping[str, Any], regions: Mapping[str, str], known: Mapping[str, Any] | None = None
) -> bytes | Refused:
    """Return a page with some of its owned keys and regions set.

    Args:
        data: The page.
        keys: Owned keys with scalars or lists of scalars as values; missing keys are added.
        regions: Markdown of each region. If people removed a region's marks, the region is not added again.
        known: The parsed frontmatter, if available; saves parsing it again if no key changes.

    Returns:
        The page's new bytes, unchanged if there was nothing to set; or why the page cannot be edited.
    """
    try:
        text = data.decode()
        bom = _BOM if text.startswith(_BOM) else ""
        text = text.removeprefix(_BOM)
        start, end = _block(text)
        newline = "\r\n" if text[:start].endswith("\r\n") else "\n"
        _refuse_conflicts(text)
        wanted = {key: flat(value) for key, value in keys.items()}
        block = (
            text[start:end] if has_values(known or {}, wanted) else edit_block(text[start:end], wanted, newline, known)
        )
        body = _edit_regions(text, end, regions, newline)
    except UnicodeDecodeError as error:
        return Refused(f"it is not UTF-8 (byte {error.start}); save it as UTF-8")
    except (UneditableError, yamlio.YamlError) as error:
        return Refused(str(error))
    return (bom + text[:start] + block + body).encode()


def filled(draft: PageDraft, keys: Mapping[str, Any], regions: Mapping[str, str]) -> Filled | Refused:
    """Return a new page with its owned keys and regions set, as by `edit` but usually without parsing the page."""
    _, end = _block(draft.text)
    values = {key: flat(value) for key, value in keys.items()}
    shown = {f"{key}: null": f"{key}: {yamlio.flow(value)}" for key, value in values.items()}
    lines = draft.text[:end].split("\n")
    if sorted(filter(shown.__contains__, lines)) != sorted(shown) or not all(map(_is_shown, shown.values())):
        edited = edit(draft.text.encode(), keys, regions)
        return edited if isinstance(edited, Refused) else Filled(edited, None)
    block = "\n".join(shown.get(line, line) for line in lines)
    data = (block + _edit_regions(draft.text, end, regions, "\n")).encode()
    return Filled(data, dict(draft.metadata) | values if all(map(_is_plain, draft.metadata.values())) else None)


def values_after(known: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the frontmatter that a page has after `edit`; None if only parsing the page would show it.

    Args:
        known: The page's frontmatter before `edit`.
        keys: The keys that `edit` sets.
    """
    after = {**known, **{key: flat(value) for key, value in keys.items()}}
    certain = keys.keys() <= known.keys() and all(_is_shown(yamlio.flow(after[key])) for key in keys)
    return after if certain else None


def _is_shown(text: str) -> bool:
    """Return whether a string stays the same when it is written to YAML and read again."""
    return text.isascii() and text.isprintable()


def _is_plain(value: Any) -> bool:
    """Return whether a value stays the same when it is written to YAML and read again."""
    return value is None or (isinstance(value, str) and _is_shown(value))


def without_marks(body: str) -> str:
    """Return a page's text without the comments around its regions."""
    return _MARKS.sub("", body)


def section(data: bytes, heading: str) -> str:
    """Return what people wrote under a heading; empty if there is no such heading.

    Raises:
        YamlError: The page's frontmatter cannot be read.
    """
    body = read(data).body
    found = parts.part(body, heading)
    return body[slice(*found)].strip() if found else ""


def skeleton(data: bytes, keys: Iterable[str]) -> str | Refused:
    """Return what people wrote: the page without the values of its owned keys and the content of its regions."""
    edited = edit(data, dict.fromkeys(keys, _NO_VALUE), dict.fromkeys(region_names(data), ""))
    return edited if isinstance(edited, Refused) else edited.decode()


def regions(data: bytes) -> dict[str, str] | Refused:
    """Return the contents of a page's regions by name, or a refusal if a region mark is wrong."""
    text = data.decode("utf-8", "replace")
    try:
        return {name: text[start:end] for name, (start, end) in _places(text).items()}
    except UneditableError as error:
        return Refused(str(error))


def extents(text: str) -> dict[str, tuple[int, int]] | Refused:
    """Return start and end of each region, including its marks, by name in page order; a refusal if a mark is wrong."""
    try:
        places = _places(text)
    except UneditableError as error:
        return Refused(str(error))
    found = {}
    for name, (start, end) in places.items():
        close = _CLOSE.search(text, end)
        assert close is not None  # noqa: S101  # found together with the places
        found[name] = text.rindex("<!-- dvwiki:begin ", 0, start), close.end()
    return found


def ids(data: bytes) -> set[str]:
    """Return the page ids in the marks and comments of a page."""
    text = data.decode("utf-8", "replace")
    marks = {mark["page"] for mark in _MARK.finditer(text) if mark["page"]}
    found = _split(text.removeprefix(_BOM))
    return marks | set(_COMMENT.findall(text, 0, found[2] if found else 0))


def region_names(data: bytes) -> list[str]:
    """Return the names of the regions that have a begin mark on a page."""
    marks = _MARK.finditer(data.decode("utf-8", "replace"))
    return [mark["name"] for mark in marks if mark["kind"] == "begin"]


def _split(text: str) -> tuple[int, int, int] | None:
    """Return the start and end of the frontmatter's block, and the start of the body; None if there is no block."""
    first = _FIRST_FENCE.match(text)
    fence = _NEXT_FENCE.search(text, first.end()) if first else None
    return (first.end(), fence.start(), fence.end()) if first and fence else None


def _block(text: str) -> tuple[int, int]:
    """Return the start and end of the frontmatter's block.

    Raises:
        UneditableError: The page has no frontmatter.
    """
    parts = _split(text)
    if parts is None:
        raise UneditableError(
            "it has no frontmatter between two lines of three dashes; restore it, for example from git"
        )
    return parts[:2]


def _refuse_conflicts(text: str) -> None:
    """Refuse a page that has git's conflict markers outside its regions: only a person knows which side is right.

    Raises:
        UneditableError: There is a conflict marker.
    """
    if not CONFLICT.search(text):
        return
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        mark = _MARK.fullmatch(line)
        if mark:
            inside = mark["kind"] == "begin"
        elif not inside and CONFLICT.match(line):
            raise UneditableError(f"line {number}: conflict marker; resolve the conflict, then run `dvwiki build`")


# Regions


def _edit_regions(text: str, body: int, regions: Mapping[str, str], newline: str) -> str:
    """Replace the content of a page's regions, and return the page from the offset `body` on."""
    end = len(text)
    parts: list[str] = []
    for name, place in reversed(_places(text, body).items()):
        if name in regions:
            content = regions[name].strip("\n")
            # No blank line between the begin mark and a heading: git would match blank line and heading with the
            # earlier layout, and move what people wrote from above the heading to below the mark.
            lead = [] if content.startswith("## ") else [""]
            lines = [*lead, *content.split("\n"), "", ""] if content else ["", ""]
            parts += [text[place[1] : end], newline.join(lines)]
            end = place[0]
    return "".join(reversed([*parts, text[body:end]]))


def _places(text: str, body: int = 0) -> dict[str, tuple[int, int]]:
    """Return the start and end of each region's content, in the order of the text.

    Args:
        text: The page.
        body: Offset of its body.

    Raises:
        UneditableError: Marks are missing, duplicated or out of order.
    """
    places: dict[str, tuple[int, int]] = {}
    opened: tuple[str, int, int] | None = None
    marks = list(_MARK.finditer(text, body))
    for mark, following in zip_longest(marks, marks[1:]):
        kind, name = mark["kind"], mark["name"]
        if opened and (kind, name) != ("end", opened[0]):
            raise _mark_error(text, opened[2], f"the region {opened[0]} has no end mark before the next mark")
        if kind == "end" and not opened:
            raise _mark_error(text, mark.start(), f"the end mark of {name} has no begin mark before it")
        if kind == "begin" and name in places:
            raise _mark_error(text, mark.start(), f"the region {name} begins a second time", "remove one of the two")
        close = _CLOSE.search(text, mark.end(), following.start() if following else len(text))
        if close is None:
            raise _mark_error(text, mark.start(), f"the {kind} mark of {name} has no closing --> at the end of a line")
        if opened:
            places[name] = (opened[1], mark.start())
            opened = None
        else:
            opened = name, close.end() + 1, mark.start()
    if opened:
        raise _mark_error(text, opened[2], f"the region {opened[0]} has no end mark")
    return places


def _mark_error(
    text: str, place: int, reason: str, remedy: str = "restore the mark, for example from git"
) -> UneditableError:
    """Return the error for a wrong mark, with its line and a remedy."""
    return UneditableError(f"line {text.count(chr(10), 0, place) + 1}: {reason}; {remedy}")
