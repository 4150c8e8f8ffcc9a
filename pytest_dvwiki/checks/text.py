"""Formats the result of a check as text, for the terminal and for failure reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.checks.evaluate import CheckResult, ResultLine

_NOTHING = "the check has neither items nor input_files, so nothing was checked"


def lines(result: CheckResult) -> Iterator[str]:
    """Yield the violations with their log lines, followed by the found and waived items.

    The first line is the failure message. The other lines contain no word such as `error` that could be taken for
    another failure.
    """
    if result.expected and not result.is_right:
        number = len(result.expected)
        yield f"check violated in {result.file}: 'expected': the result matches none of the {number} expected results"
    for entry in result.violations:
        yield f"check violated in {result.file}: '{entry.item}': {_words(entry)}"
        if entry.matched_content:
            yield f"    {entry.matched_content}"
    yield f"  check of type {result.type}: {result.description}"
    for entry in result.found:
        yield f"  found '{entry.item}': {_words(entry)}"
    for entry in result.waived:
        if entry.item:
            yield f"  waived {entry.tag or repr(entry.waiver)} '{entry.item}': {_words(entry)}"
    yield from notes(result)


def notes(result: CheckResult) -> Iterator[str]:
    """Yield remarks for people, also about a passing check: unused waivers, waivers' reasons, an empty check."""
    if result.is_empty:
        yield f"[CHECK] {result.file}: {_NOTHING}"
    if result.expectation is not None:
        yield f"[CHECK] {result.file}: {result.status} as expected: {result.expectation.when}"
    for entry in result.unused_waivers:
        yield f"{entry.tag} {entry.place}: {entry.value!r} matches no violation; remove it"
    for entry in result.waived:
        if not entry.item:
            yield f"{entry.tag} {entry.place}: {entry.value}"


def _words(entry: ResultLine) -> str:
    place = f"({entry.place})" if entry.place and entry.place != entry.value else ""
    if entry.reason.startswith("does not"):
        return f"{entry.reason}: {entry.value} {place}".rstrip()
    return " ".join(filter(None, (entry.reason or entry.value, place)))
