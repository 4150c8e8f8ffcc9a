"""Edits the keys that dvwiki owns in a page's frontmatter, and leaves all other bytes unchanged."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from pytest_dvwiki import yamlio

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_COLON = re.compile(r"[ \t]*:(?=\s|$)")
_EXPLICIT = "follows a question mark; write it as `key: value`"
_BOM = "\ufeff"


class UneditableError(ValueError):
    """Raised if a page or key cannot be edited without risk to people's text."""


class _Entry(msgspec.Struct, frozen=True):
    """A top-level key of the frontmatter, with the position of its value as character offsets in the block."""

    key: str
    colon: int
    """Offset just after the colon."""
    start: int
    end: int
    reason: str | None
    """Why the value cannot be replaced; None if it can."""
    events: list[yaml.Event]
    """The parser's events for the value."""


def has_values(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether all wanted keys are known to have the wanted values."""
    return all(key in known and repr(known[key]) == repr(value) for key, value in wanted.items())


def flat(value: Any) -> Any:
    """Return a value with spaces instead of the line breaks in its strings, so that it fits on one line."""
    if isinstance(value, list | tuple):
        return [flat(item) for item in value]
    return " ".join(value.split("\n")) if isinstance(value, str) else value


def edit_block(block: str, keys: Mapping[str, Any], newline: str, known: Mapping[str, Any] | None) -> str:
    """Return frontmatter with some of its keys set.

    Args:
        block: The frontmatter without its `---` lines.
        keys: The keys to set, with scalars or lists of scalars as values; missing keys are added.
        newline: The page's line ending.
        known: The parsed frontmatter, if available.

    Raises:
        UneditableError: A key cannot be set reliably.
    """
    if known is not None and (edited := _with_lines(block, keys, newline, known)) is not None:
        return edited
    entries = _entries(block)
    by_key = {entry.key: entry for entry in entries}
    changes: list[tuple[int, int, str]] = []
    missing: dict[int, str] = {}
    set_to: dict[str, str] = {}
    for key, value in keys.items():
        entry = by_key.get(key)
        if entry is None:
            set_to[key] = yamlio.flow(value)
            place = _place_for_new_key(block, key, list(keys), by_key)
            missing[place] = f"{missing.get(place, '')}{key}: {set_to[key]}{newline}"
        elif not (has_values(known, {key: value}) if known else _has_value(block, entry, value)):
            if entry.reason:
                raise UneditableError(f"the value of {key} {entry.reason}")
            set_to[key] = yamlio.flow(value)
            gap = " " if entry.start == entry.colon else ""
            changes.append((entry.start, entry.end, gap + set_to[key]))
    for place, lines in missing.items():
        lead = newline if place and block[place - 1] != "\n" else ""
        changes.append((place, place, lead + lines))
    for start, end, text in sorted(changes, reverse=True):
        block = block[:start] + text + block[end:]
    if changes:
        _check(block, entries, set_to)
    return block


def _with_lines(block: str, keys: Mapping[str, Any], newline: str, known: Mapping[str, Any]) -> str | None:
    """Return frontmatter with new lines for the changed keys; None unless each old line is exactly as dvwiki writes it.

    This is the fast path, enough for most pages: it parses the block only once.
    """
    if block.startswith(_BOM):
        return None
    edited = f"\n{block}"
    for key, value in keys.items():
        if key not in known:
            return None
        if has_values(known, {key: value}):
            continue
        line = f"\n{key}: {yamlio.flow(known[key])}{newline}"
        if edited.count(line) != 1:
            return None
        edited = edited.replace(line, f"\n{key}: {yamlio.flow(value)}{newline}")
    try:
        found = yamlio.load(edited, "the block")
    except yamlio.YamlError:
        return None
    return edited[1:] if repr(found) == repr({**known, **keys}) else None


def _has_value(block: str, entry: _Entry, value: Any) -> bool:
    """Return whether a key already has a given value, in any YAML notation."""
    if entry.reason is None and block[entry.start : entry.end] == yamlio.flow(value):
        return True
    if entry.reason == _EXPLICIT:
        return False
    if not block[entry.colon : entry.end].strip():
        return value is None
    try:
        found = yamlio.load(f"x:{block[entry.colon : entry.end]}\n", "value")["x"]
    except yamlio.YamlError:
        # An alias of an anchor elsewhere, or an unknown tag: dvwiki did not write this value.
        return False
    return repr(found) == repr(value)


def _place_for_new_key(block: str, key: str, order: Sequence[str], present: Mapping[str, _Entry]) -> int:
    """Return the offset for a new key: after the last existing key before it in `order`, else the end of the block.

    That place is far from keys that people change or add, so git can merge both changes.
    """
    before = [present[name] for name in order[: order.index(key)] if name in present]
    if not before:
        return len(block)
    last = max(before, key=lambda entry: entry.end)
    stop = block.find("\n", max(last.end, last.start) - 1)
    return len(block) if stop < 0 else stop + 1


def _check(block: str, before: list[_Entry], set_to: Mapping[str, str]) -> None:
    """Parse an edited block again, to check that the keys in `set_to` are set and all other keys are unchanged."""
    after = _entries(block)
    if _kept(before, set_to) != _kept(after, set_to):
        raise UneditableError("setting dvwiki's keys would change other keys; correct the YAML around them")
    found = {entry.key: block[entry.start : entry.end] for entry in after if entry.reason is None}
    for key, wanted in set_to.items():
        if found.get(key) != wanted:
            raise UneditableError(f"{key} cannot be set reliably; correct the YAML around it")


def _kept(entries: Iterable[_Entry], set_to: Mapping[str, str]) -> list[tuple[str, tuple[Any, ...]]]:
    """Return key and parsed value of each entry that is not in `set_to`."""
    return [(entry.key, _shape(entry.events)) for entry in entries if entry.key not in set_to]


def _entries(block: str) -> list[_Entry]:
    """Return the top-level keys of a block, with the positions of their values.

    Raises:
        UneditableError: The block is not a plain list of keys, or has the same key twice.
    """
    if block.startswith(_BOM):  # libyaml does not count the byte order mark in its offsets
        raise UneditableError("line 2: a byte order mark inside the page; remove it")
    try:
        events = yamlio.events(block)
    except (yaml.YAMLError, ValueError) as error:
        raise UneditableError(yamlio.describe(error, "frontmatter")) from error
    stream = iter(events[2:-2])
    opening = next(stream, None)
    if opening is None:
        return []
    if not isinstance(opening, yaml.MappingStartEvent) or opening.flow_style:
        raise UneditableError("the frontmatter is not a block of keys; write one `key: value` on each line")
    if sum(isinstance(event, yaml.DocumentStartEvent) for event in events) > 1:
        raise UneditableError("the frontmatter contains more than one document; remove the lines that separate them")
    entries = [_entry(block, key, stream) for key in stream if not isinstance(key, yaml.MappingEndEvent)]
    twice = [key for key, count in Counter(entry.key for entry in entries).items() if count > 1]
    if twice:
        raise UneditableError(f"the key {twice[0]} appears twice in the frontmatter; remove one of the two")
    return entries


def _entry(block: str, key: yaml.Event, stream: Iterator[yaml.Event]) -> _Entry:
    name = _whole(key, stream)
    first = next(stream)
    events = _whole(first, stream)
    text = key.value if isinstance(key, yaml.ScalarEvent) else repr(_shape(name))
    colon = _COLON.match(block, _end(name[-1]))
    behind = colon.end() if colon else _start(first)
    start, end = _start(first), _end(events[-1])
    if isinstance(first, yaml.SequenceStartEvent) and not first.flow_style:
        # For the parser, a block list begins on the line after its key, and ends after the comments that follow it.
        start, end = behind, max(_last(event) for event in events[:-1])
    reason = _obstacle(block[start:end], events) if colon else _EXPLICIT
    return _Entry(text, behind, start, end, reason, events)


def _start(event: yaml.Event) -> int:
    assert event.start_mark is not None  # noqa: S101 (libyaml marks every event)
    return event.start_mark.index


def _end(event: yaml.Event) -> int:
    assert event.end_mark is not None  # noqa: S101 (libyaml marks every event)
    return event.end_mark.index


def _last(event: yaml.Event) -> int:
    """Return the end offset of a YAML event; 0 if the event has no text, as at the end of a block collection."""
    return _end(event) if _end(event) > _start(event) else 0


def _whole(first: yaml.Event, stream: Iterator[yaml.Event]) -> list[yaml.Event]:
    """Return the YAML events of one node; `first` is its first event."""
    events = [first]
    depth = int(isinstance(first, yaml.CollectionStartEvent))
    while depth:
        event = next(stream)
        events.append(event)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
    return events


def _shape(events: list[yaml.Event]) -> tuple[Any, ...]:
    return tuple(
        (
            type(event).__name__,
            getattr(event, "value", None),
            getattr(event, "tag", None),
            getattr(event, "anchor", None),
            getattr(event, "style", None),
        )
        for event in events
    )


def _obstacle(text: str, events: list[yaml.Event]) -> str | None:
    """Return why a value cannot be replaced; None if it can."""
    first = events[0]
    if any(getattr(event, "anchor", None) for event in events):
        return "has an anchor or an alias; write the value itself"
    if getattr(first, "tag", None):
        return "has a tag; remove the tag"
    if isinstance(first, yaml.MappingStartEvent):
        return "is a mapping; write a single value"
    if isinstance(first, yaml.SequenceStartEvent) and "#" in text and "\n" in text:
        return "is a list with a comment inside; move the comment above the key"
    if isinstance(first, yaml.ScalarEvent) and first.style in {"|", ">"}:
        return "is a block of text; write it on one line"
    return None
