"""Makes the draft check and the test configurations from a specification."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from pytest_dvwiki import yamlio
from pytest_dvwiki.checks import SUFFIX
from pytest_dvwiki.checks.matching import search_for
from pytest_dvwiki.checks.schema import CheckError, parse_check
from pytest_dvwiki.specs import document
from pytest_dvwiki.specs.prompts import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_dvwiki.checks.schema import Outline

SCENARIOS = (
    "base",
    "global_waiver",
    "selective_waiver",
    "pattern",
    "pattern_global_waiver",
    "pattern_selective_waiver",
)
"""The test configurations: the first three for a check without patterns, the last three for a check with patterns."""
_FITS_NOTHING = "regex:^no such value$"
_REASON = "Accepted for this test; every violation is still listed."


class DraftError(Exception):
    """Raised if no check can be made from a specification; the message gives the reason."""


class Draft(Struct, frozen=True):
    """A check made from a specification."""

    document: dict[str, Any]
    items: tuple[str, ...]
    """The names of the check's items in order."""
    omitted: tuple[str, ...]
    """Items of section 2 without an expression in the specification, which the check therefore omits."""

    @property
    def with_pattern(self) -> list[str]:
        """Return the names of the items with a pattern for the value."""
        listed = self.document.get("items")
        return [*self.items] if listed is None else [each["name"] for each in listed if each.get("pattern", True)]

    def missing_with(self, names: Iterable[str]) -> frozenset[str]:
        """Return the items that are missing if `names` are: these, and all items in files that a missing item names."""
        found = set(names)
        for each in self.document.get("items", ()):
            if each.get("from") in found:
                found.add(each["name"])
        return frozenset(found)

    @property
    def text(self) -> str:
        """Return the text of the draft file, which lists omitted items in comments at the top."""
        notes = [f"# not checked, because no expression was given: {each}\n" for each in self.omitted]
        return "".join(notes) + yamlio.dump(self.document)


def draft(text: str, outline: Outline, folder: Path) -> Draft:
    """Return the draft check for a specification.

    Raises:
        DraftError: The block `items` is invalid, or its items do not fit the outline's patterns.
    """
    sections = document.sections_of(text)
    entries = document.items_of(sections.get(document.HEADINGS[1], ""))
    items = document.check_items(sections.get(document.HEADINGS[3], ""))
    files = [_seen_from(folder, entry, outline.path.parent) for entry, _ in outline.input_files]
    made: dict[str, Any] = {"description": outline.description, "input_files": files}
    if items:
        made["items"] = items
    patterns, waivers = (
        None if given is None else [each.text for each in given] for given in (outline.patterns, outline.waivers)
    )
    made["requirements"] = counted(patterns, "pattern_items")
    made["waivers"] = counted(waivers, "waive_items", is_global=outline.is_global)
    place = folder / f"draft{SUFFIX}"
    try:
        checked = parse_check(yamlio.dump(made), place)
    except (CheckError, TypeError) as error:
        reason = str(error).removeprefix(f"{place}:").partition(": ")[2] or str(error)
        raise DraftError(reason) from error
    names = tuple(each.name for each in checked.items)
    known = names if items else ()
    return Draft(made, names, tuple(f"{each.number} {each.title}" for each in entries if each.title not in known))


def _seen_from(folder: Path, entry: str, home: Path) -> str:
    """Return an entry of `input_files` relative to `folder`; it is given relative to `home`, the outline's folder."""
    if folder == home or entry.startswith(("/", "${")):
        return entry
    return os.path.relpath(home / entry, folder)


def scenarios(made: Draft, outline: Outline, spec: str) -> dict[str, dict[str, Any]]:
    """Return the test configurations by name. Each is a check with its expected results."""
    if not made.items:
        return {}
    waivers = _waivers(document.sections_of(spec), made.items)
    common: dict[str, Any] = {
        key: made.document[key] for key in ("description", "input_files", "items") if key in made.document
    }
    found: dict[str, dict[str, Any]] = {}
    for name in SCENARIOS[:3] if outline.patterns is None else SCENARIOS[3:]:
        is_global, is_selective = name.endswith("global_waiver"), name.endswith("selective_waiver")
        patterns = None if outline.patterns is None else [each.text for each in outline.patterns]
        if patterns and name != "pattern":
            patterns = [_FITS_NOTHING] * len(patterns)
        given = [_REASON] if is_global else waivers if is_selective else None
        found[name] = {
            **common,
            "requirements": counted(patterns, "pattern_items"),
            "waivers": counted(given, "waive_items", is_global=is_global),
            "expected": [*_expected(made, waivers, has_misfits=patterns is not None and name != "pattern", mode=given)],
        }
    return found


def _waivers(sections: dict[str, str], names: Sequence[str]) -> list[str]:
    """Return waivers for the failures accepted in section 3.

    For each entry of section 3, the first keyword that accepts only items named in section 3 becomes a waiver. If there
    is no such keyword, the names of the entry's items become waivers. If section 3 names no item of the check, the
    check's last item is waived.
    """
    items = document.items_of(sections.get(document.HEADINGS[1], ""))
    entries = document.waivers_of(sections.get(document.HEADINGS[2], ""))
    for_entry = [
        [item.title for item in document.named_items(entry.text, items)[0] if item.title in names] for entry in entries
    ]
    waivable = {title for titles in for_entry for title in titles}
    found: dict[str, None] = {}
    for entry, titles in zip(entries, for_entry, strict=True):
        words = (f"*{_as_in(keyword, titles)}*" for keyword in document.keywords_of(entry))
        fitting = (word for word in words if word != "**" and waivable.issuperset(_accepted([word], names)))
        word = next(fitting, None)
        found |= dict.fromkeys([word] if word else titles)
    return [*found] or [names[-1]]


def _as_in(keyword: str, titles: Sequence[str]) -> str:
    """Return a keyword with the spelling of the first title that contains it; empty if no title does."""
    places = ((title, title.casefold().find(keyword.casefold())) for title in titles)
    return next((title[at : at + len(keyword)] for title, at in places if at >= 0), "")


def _accepted(waivers: Sequence[str], names: Iterable[str]) -> set[str]:
    searches = [search_for(each) for each in waivers]
    return {name for name in names if any(each.search(name) for each in searches)}


def _expected(
    made: Draft, waivers: Sequence[str], *, has_misfits: bool, mode: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    """Yield the expected results of a test configuration.

    In the first result no item is missing. Each waiver adds a result in which the items it accepts are missing. A
    global waiver adds a result in which other items are missing.

    Args:
        made: The draft check.
        waivers: The waivers made from section 3.
        has_misfits: Whether no value matches its pattern.
        mode: The waivers of the configuration, or the reason of its global waiver; None if it has no waiver.
    """
    names = set(made.items)
    misfits = set(made.with_pattern) if has_misfits else set()
    is_global = mode is not None and mode is not waivers
    there = "every item is there, and no value matches" if has_misfits else "every item is there"
    situations = {frozenset[str](): there}
    for waiver in waivers:
        situations.setdefault(made.missing_with(_accepted([waiver], names)), f"{waiver!r} waives what is missing")
    for missing, when in situations.items():
        violations = missing | misfits
        accepted = violations if is_global else _accepted(waivers, violations) if mode is waivers else set()
        lists = {
            "found": names - violations,
            "missing": missing - accepted,
            "extra": misfits - missing - accepted,
            "waived": accepted | ({_REASON} if is_global else set()),
            "unused_waivers": {each for each in waivers if mode is waivers and not _accepted([each], violations)},
        }
        order = [*made.items, *(mode or ())]
        yield {
            "when": when,
            "status": "FAIL" if lists["missing"] or lists["extra"] else "PASS",
            **{key: sorted(entries, key=order.index) for key, entries in lists.items()},
        }
    if is_global:
        yield {"when": "anything else is missing", "status": "PASS", "missing": [], "extra": [], "unused_waivers": []}
