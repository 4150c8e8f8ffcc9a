"""Adds an entry to `waivers.yaml` without changing comments or layout."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from pytest_dvwiki import reading
from pytest_dvwiki.records import WikiError
from pytest_dvwiki.records.disk import replace
from pytest_dvwiki.triage.waivers import read_waivers
from pytest_dvwiki.wiki.lock import locked
from pytest_dvwiki.wiki.writing.log import add_to_log
from pytest_dvwiki.yamlio import YamlError, flow, list_end, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_dvwiki.settings import Layout

_KEY = re.compile(r"^waivers:(?:[ \t]*(?:\[[ \t]*\]|null|~))?(?=[ \t]*(?:#.*)?\r?$)", re.MULTILINE)
"""Matches the key `waivers` without entries: no value, null, or an empty list."""


def add(layout: Layout, match: Mapping[str, str], keys: Mapping[str, str], *, called: str) -> str:
    """Add a waiver to the project's `waivers.yaml`, and a line to the log.

    Args:
        layout: The project's folders.
        match: What the waiver matches.
        keys: The other keys of the waiver, without an id.
        called: Name of the cause for the waiver's id and the log.

    Returns:
        The id of the waiver.

    Raises:
        WikiError: The file cannot be read, or cannot be edited without changing people's text.
    """
    path = layout.waivers
    with locked(layout.wiki, layout.lock_timeout):
        try:
            text = reading.read_bytes(path).decode()
        except FileNotFoundError:
            text = "mode: selective\nwaivers:\n"
        except (OSError, ValueError) as error:
            raise WikiError(f"no waiver was added, because {path} cannot be read: {error}") from error
        taken = {waiver.id for waiver in read_waivers(text, path).waivers}
        names = itertools.chain((f"W-{called}",), (f"W-{called}.{number}" for number in itertools.count(2)))
        name = next(each for each in names if each not in taken)
        replace(path, with_entry(text, {"id": name, "match": match, **keys}, str(path)).encode())
        add_to_log(layout, "waive", f"{called} is waived by {name} ({keys['owner']}, until {keys['expires']})")
    return name


def with_entry(text: str, entry: Mapping[str, str | Mapping[str, str]], name: str) -> str:
    """Return the text of a waiver file with one more entry at the end of its list.

    Args:
        text: The current text.
        entry: The keys of the entry.
        name: The file name for messages.

    Raises:
        WikiError: The text is not YAML, or the entry cannot be added without changing anything else.
    """
    refusal = WikiError(f"{name}: no waiver was added, because other lines would change; add it by hand: {dict(entry)}")
    newline = "\r\n" if "\r\n" in text else "\n"
    try:
        before = load(text, name) or {}
        place = list_end(text, "waivers")
    except YamlError as error:
        raise WikiError(str(error)) from error
    if not isinstance(before, dict):
        raise refusal
    if place is None:
        text = (
            _KEY.sub("waivers:", text, count=1) if "waivers" in before else f"{_with_line_end(text, newline)}waivers:"
        )
        found = _KEY.search(text)
        if found is None:
            raise refusal
        place = text.count("\n", 0, found.end()) + 1, 2
    number, column = place
    words = [f"{key}: {_value(value)}" for key, value in entry.items()]
    added = [f"{' ' * column}{'- ' if not at else '  '}{line}{newline}" for at, line in enumerate(words)]
    lines = _with_line_end(text, newline).splitlines(keepends=True)
    text = "".join([*lines[:number], *added, *lines[number:]])
    try:
        after = load(text, name)
    except YamlError:
        raise refusal from None
    expected = dict(before) | {"waivers": [*(before.get("waivers") or []), _plain(entry)]}
    if after != expected or list(after)[: len(before)] != list(before):
        raise refusal
    return text


def _with_line_end(text: str, newline: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}{newline}"


def _value(value: str | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return flow(value)
    return f"{{{', '.join(f'{key}: {flow(each)}' for key, each in value.items())}}}"


def _plain(entry: Mapping[str, str | Mapping[str, str]]) -> dict[str, object]:
    return {key: value if isinstance(value, str) else dict(value) for key, value in entry.items()}
