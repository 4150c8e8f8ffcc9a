"""A bug page: its initial content, and the parts derived from records.

The text that people may edit (title, Symptom, Resolution) is at first the same wherever the page is created. If two
branches create the page independently, git merges both pages without a conflict.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from pytest_dvwiki.causes.cause import Cause, PageFacts
from pytest_dvwiki.causes.statements import passes_since
from pytest_dvwiki.causes.words import short
from pytest_dvwiki.model.sentences import is_own
from pytest_dvwiki.records.name_parts import check_of
from pytest_dvwiki.wiki.kinds.bug_region import one_region, own_words, why
from pytest_dvwiki.wiki.text import former, pages
from pytest_dvwiki.wiki.text.markdown import code, escape, in_words, one_line
from pytest_dvwiki.wiki.text.names import bug_origin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_dvwiki.model import Occurrence, OriginType
    from pytest_dvwiki.records.aggregate import CauseHistory
    from pytest_dvwiki.wiki.page_summary import PageSummary

PEOPLE = (
    "type",
    "status",
    "spec_section",
    "owner",
    "link",
    "confirmed_by",
    "confirmed_on",
    "supersedes",
    "superseded_by",
    "superseded_reason",
)
OWNED = (
    "id",
    "error_class",
    "failure_subtype",
    "fingerprint",
    "cause",
    "fingerprint_aliases",
    "aliases",
    "type_at_creation",
    "origin",
    "confidence",
    "first_seen",
    "last_updated",
    "task_ids",
    "hit_count",
    "occurrence_count",
    "corroborations",
    "seeds",
    "ip_type",
    "came_with",
    "passes_since",
    "regressed",
    "stale",
    "stale_reason",
)
_KEY = 100
_TITLE = 160
_WORDLESS = re.compile(r"AssertionError(?::(?:\W|\d|\b(?:assert|not|and|or|in|is|None|True|False|X|Z)\b)*)?")
"""Matches an assertion without a message; many different checks produce the same string."""
_SAME_CAUSE = "same fingerprint"
_REPLACED = "superseded by "
ORIGINS = {"RTL_BUG": "RTL bug", "TB_BUG": "Testbench bug", "UNKNOWN": "Failure of unknown origin"}
STATUSES = ("open", "confirmed", "closed", "wont_fix")
_TYPES = frozenset({*ORIGINS, "TOOL"})
_DECIDED = frozenset({"confirmed", "closed"})
_RESOLUTION = (
    "- [ ] {page} is confirmed (`status: confirmed`)",
    "- [ ] {page} is fixed, with commit or ticket (`status: closed`)",
    "- [ ] {page} has a workaround",
)
UNTOUCHED = re.compile("|".join(re.escape(line).replace(re.escape("{page}"), r"[\w.-]+") for line in _RESOLUTION))
"""Matches an unedited check box under Resolution."""


def has_page(occurrence: Occurrence) -> bool:
    """Return whether the cause of an occurrence gets a page.

    There is no page if an HDL tool may be at fault, or if there is neither a failing test nor a reason for the origin.
    """
    origin = occurrence.origin
    if origin.type == "TOOL" or (origin.type == "UNKNOWN" and occurrence.error_class == "tool_error"):
        return False
    return bool(occurrence.tests or origin.reasons)


def is_decided(page: PageSummary) -> bool:
    """Return whether people decided a page's type, by changing it or by confirming or closing the page.

    Confirming or closing a page decides nothing while its type is still UNKNOWN, as dvwiki set it.
    """
    kind, made_as = page.text("type"), type_at_creation(page)
    if kind == made_as == "UNKNOWN" or not kind:
        return False
    return page.text("status") in _DECIDED or (made_as is not None and kind != made_as)


def type_at_creation(page: PageSummary) -> str | None:
    """Return the type that dvwiki first gave a page; None if people made the page."""
    return page.text("type_at_creation") or bug_origin(page.name)


def effective_type(page: PageSummary, origin: str = "") -> str:
    """Return the type to show for a page's cause: people's type if they decided it, else dvwiki's current type.

    Args:
        page: The page.
        origin: dvwiki's current type, if it is newer than the page's key `origin`.
    """
    kind = page.text("type")
    return kind if is_decided(page) else origin or page.text("origin") or kind


def facts(page: PageSummary) -> PageFacts:
    """Return what outputs show of a bug page: path, status, type, owner, specification section and links."""
    return PageFacts(
        path=page.path,
        status=page.text("status"),
        type=cast("OriginType", kind) if (kind := effective_type(page)) in _TYPES else None,
        is_decided=is_decided(page),
        owner=one_line(page.text("owner")),
        spec_section=one_line(page.text("spec_section"), _KEY),
        links=links(page),
    )


def links(page: PageSummary) -> tuple[str, ...]:
    """Return the URLs under a page's key `link`, whose value is one URL or a list."""
    value = page.metadata.get("link")
    given = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(one_line(str(each)) for each in given if each))


def with_keys(data: bytes, keys: Mapping[str, Any]) -> bytes | pages.Refused:
    """Return a page with new values for some of the keys that people own; new keys go below the existing keys.

    Returns:
        The page's new bytes, or why the page cannot be edited.

    Raises:
        YamlError: The page's frontmatter cannot be read.
    """
    metadata = pages.read(data).metadata
    present = {key: metadata[key] for key in PEOPLE if isinstance(metadata.get(key, ...), str | None)}
    return pages.edit(data, present | dict(keys), {})


def new(name: str, origin: str, occurrence: Occurrence, description: str) -> pages.PageDraft:
    """Return a new bug page, with empty owned keys and an empty region.

    Args:
        name: The page's name; comments and check boxes repeat it.
        origin: RTL_BUG, TB_BUG or UNKNOWN; it is left out of the title, because it may change later.
        occurrence: An occurrence of the cause; only what all occurrences of the cause have in common is used.
        description: What the subtype means; empty if nothing is known about it.
    """
    words = in_words(occurrence.primary) or f"{occurrence.error_class} {occurrence.failure_subtype}"
    title = one_line(occurrence.title or "", _TITLE) or words
    if occurrence.place is not None and occurrence.place.function and _WORDLESS.fullmatch(title):
        title = f"{title} in {one_line(occurrence.place.function, _KEY)}"
    label = f"`{occurrence.error_class}` / `{occurrence.failure_subtype}`"
    message = in_words(occurrence.primary, 400)
    shown = own_words(message) if is_own(occurrence.primary) else code(message or words, 400)
    # The symptom is on one line: to compare files, git splits lines into pieces of at most 64 bytes. As the first words
    # of two symptoms differ, so do all their pieces, and git does not take two pages with the same description for one
    # renamed page.
    symptom = f"{shown} ({label}){f': {description}' if description else ''}"
    people = {"type": origin, "status": "open", "spec_section": None, "owner": None}
    people |= {key: one_line(value, _KEY) for key in ("spec_section", "owner") if (value := getattr(occurrence, key))}
    allowed = {"type": f"{name}: {', '.join(ORIGINS)}", "status": f"{name}: {', '.join(STATUSES)}"}
    resolution = "\n".join(line.format(page=name) for line in _RESOLUTION)
    sections = (("Symptom", symptom), ("Resolution", resolution), (former.NOTES, ""))
    ending = pages.region(former.RECORDS, name)
    return pages.draft(people, OWNED, escape(title), sections, page=name, ending=ending, notes=allowed)


def keys(
    page: str,
    history: CauseHistory,
    identities: Sequence[str],
    aliases: Sequence[str],
    stale: str | None = None,
    *,
    made_as: str | None,
) -> dict[str, Any]:
    """Return the owned keys of a bug page with their values.

    Args:
        page: The page's name.
        history: The history of the cause, from the records.
        identities: All names of the cause; its current name comes first.
        aliases: Names of this cause's other and former pages.
        stale: Why the page is stale; None if it is not stale.
        made_as: The type that dvwiki first gave the page; None if people made the page.
    """
    newest = history.newest
    fixed = passes_since(Cause.on_record(identities[0], history))
    return {
        "id": page,
        "error_class": one_line(newest.error_class, _KEY),
        "failure_subtype": one_line(newest.failure_subtype, _KEY),
        "fingerprint": check_of(identities[0]),
        "cause": identities[0],
        "fingerprint_aliases": sorted(identities[1:]),
        "aliases": list(aliases),
        "type_at_creation": made_as,
        "origin": history.origin.type,
        "confidence": round(history.origin.confidence, 2),
        "first_seen": history.first_seen[:10],
        "last_updated": history.last_seen[:10],
        "task_ids": list(history.task_ids),
        "hit_count": history.runs,
        "occurrence_count": history.tests,
        "corroborations": history.runs - 1,
        "seeds": [one_line(seed, _KEY) for seed in history.seeds],
        "ip_type": one_line(newest.ip_type, _KEY) if newest.ip_type else None,
        "came_with": _came_with(history),
        "passes_since": fixed[:10] or None,
        "regressed": history.regressed[0][:10] if history.regressed else None,
        "stale": stale is not None,
        "stale_reason": stale,
    }


def _came_with(history: CauseHistory) -> str | None:
    """Return the commit that introduced a cause, with its subject, or the range `GOOD..BAD`; None if uncertain."""
    found = history.first_bad
    if found is None or not found.is_certain:
        return None
    return one_line(found.only_commit, _KEY) or f"{short(found.good)}..{short(found.bad)}"


def pointer_keys(page: PageSummary, keeper: PageSummary) -> dict[str, Any]:
    """Return the owned keys of a page that only points to another page; the counts are 0."""
    metadata = page.metadata
    kept = {"id": page.name} | {key: metadata.get(key) for key in ("fingerprint", "cause", "first_seen")}
    kept["type_at_creation"] = type_at_creation(page)
    empty: dict[str, Any] = dict.fromkeys(OWNED)
    empty |= {"fingerprint_aliases": [], "aliases": [], "task_ids": [], "seeds": [], "stale": True}
    reason = f"{_REPLACED}{keeper.name}" if page.leads_to else _SAME_CAUSE
    return empty | kept | {"hit_count": 0, "occurrence_count": 0, "corroborations": 0, "stale_reason": reason}


def is_pointer(page: PageSummary) -> bool:
    """Return whether a page only points to the page where its cause is now recorded."""
    reason = page.text("stale_reason")
    return reason == _SAME_CAUSE or (reason.startswith(_REPLACED) and page.leads_to != "")


def pointer_regions(page: PageSummary, keeper: PageSummary) -> dict[str, str]:
    """Return the region of a page that only points to the page where its cause is now recorded."""
    link = f"[{keeper.name}]({keeper.place}.md)"
    if page.leads_to:
        reason = f" ({why(page)})" if why(page) else ""
        text = f"This page was merged into {link}{reason}, which shows the runs of both. What people wrote here stays."
    else:
        text = f"This cause is on record at {link}, which shows its runs. What people wrote here stays."
    return one_region(("Evidence", text))
