"""The draft check and the test configurations that are made from a specification."""

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
"""The test configurations: the first three for items without patterns, the others for items with patterns."""
_FITS_NOTHING = "regex:^no such value$"
_REASON = "Accepted for this test; every violation is still listed."


class DraftError(Exception):
    """No check can be made from a specification; the message gives the reason."""


class Draft(Struct, frozen=True):
    """A check made from a specification."""

    document: dict[str, Any]
    items: tuple[str, ...]
    """The names of the check's items, in order."""
    without: tuple[str, ...]
    """The items of section 2 that the check leaves out, because the specification gives no expression for them."""

    @property
    def with_pattern(self) -> list[str]:
        """Return the names of the items whose values must match a pattern."""
        listed = self.document.get("items")
        return [*self.items] if listed is None else [each["name"] for each in listed if each.get("pattern", True)]

    def missing_with(self, names: Iterable[str]) -> frozenset[str]:
        """Return all items that are missing if `names` are: also those read from a file that a missing item names."""
        found = set(names)
        for each in self.document.get("items", ()):
            if each.get("from") in found:
                found.add(each["name"])
        return frozenset(found)

    @property
    def text(self) -> str:
        """Return the text of the draft file; comments at its top name the items that are left out."""
        notes = [f"# no expression was given, so this is not checked: {each}\n" for each in self.without]
        return "".join(notes) + yamlio.dump(self.document)


def draft(text: str, outline: Outline, folder: Path) -> Draft:
    """Return the draft check for a specification.

    Args:
        text: The specification.
        outline: The outline of the check.
        folder: The folder that the check will be in.

    Raises:
        DraftError: The block of items cannot be used, or the patterns do not fit the items.
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
    """Return an entry of `input_files` of the outline in `home`, rewritten for a check in `folder`."""
    if folder == home or entry.startswith(("/", "${")):
        return entry
    return os.path.relpath(home / entry, folder)


def scenarios(made: Draft, outline: Outline, spec: str) -> dict[str, dict[str, Any]]:
    """Return the test configurations by name; each is a check with the results that it must have.

    Args:
        made: The draft check.
        outline: The outline of the check.
        spec: The specification.
    """
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
    """Return waivers for what section 3 accepts.

    For each entry of section 3, take a keyword that fits only waivable items; if there is none, the items' names. If
    section 3 accepts no item of the check, the last item is waived.
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
    """Return a keyword as spelled in the first title that contains it; empty if no title contains it."""
    places = ((title, title.casefold().find(keyword.casefold())) for title in titles)
    return next((title[at : at + len(keyword)] for title, at in places if at >= 0), "")


def _accepted(waivers: Sequence[str], names: Iterable[str]) -> set[str]:
    searches = [search_for(each) for each in waivers]
    return {name for name in names if any(each.search(name) for each in searches)}


def _expected(
    made: Draft, waivers: Sequence[str], *, has_misfits: bool, mode: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    """Yield the results that a test configuration can have.

    In the first result, no item is missing. For each waiver, there is a result in which the items that it accepts are
    missing. A global waiver adds a result in which any other item is missing.

    Args:
        made: The draft check.
        waivers: What section 3 accepts.
        has_misfits: True if the values are made not to match their patterns.
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
