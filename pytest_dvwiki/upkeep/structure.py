"""Checks that each page has the keys of its category, and that pages and lessons are consistent with each other."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_dvwiki.upkeep.findings import BUILD, Finding
from pytest_dvwiki.wiki import outside
from pytest_dvwiki.wiki.index import FILES, OWN
from pytest_dvwiki.wiki.kinds import topic
from pytest_dvwiki.wiki.kinds.bug import ORIGINS, STATUSES, is_pointer
from pytest_dvwiki.wiki.kinds.coverage import ACTIONS
from pytest_dvwiki.wiki.kinds.owned import OWNED
from pytest_dvwiki.wiki.likeness import alike, first_seen
from pytest_dvwiki.wiki.page_files import page_files
from pytest_dvwiki.wiki.page_summary import CATEGORIES, REQUIRED
from pytest_dvwiki.wiki.text import conflicts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.upkeep.page import PageText
    from pytest_dvwiki.wiki.page_cache import PageCache
    from pytest_dvwiki.wiki.page_summary import PageSummary

_FIELDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "bugs": {"type": tuple(ORIGINS), "status": STATUSES},
    "patterns": {"type": ("pattern",)},
    "coverage": {"type": ("coverage",), "action_class": ACTIONS},
    "specs": {"type": ("spec",)},
    "topics": {"type": ("topic",)},
}


def check_fields(page_cache: PageCache) -> Iterator[Finding]:
    """Yield keys with a missing or invalid value, and pages with unreadable frontmatter."""
    for category in CATEGORIES:
        for page in page_cache.all(category):
            place = page.path
            if page.problem:
                problem, _, remedy = page.problem.rpartition("; ")
                yield Finding(place, _line_of(page.problem), "unreadable", problem or page.problem, remedy)
                continue
            for key, text in _wrong_fields(page):
                yield Finding(place, 0, "schema", f"{key}: {text}")


def _wrong_fields(page: PageSummary) -> Iterator[tuple[str, str]]:
    for key in REQUIRED[page.category]:
        if not page.text(key):
            yield key, "has no value"
    for key, allowed in _FIELDS[page.category].items():
        value: Any = page.metadata.get(key)
        if page.text(key) and value not in allowed:
            yield key, f"{value!r} is not one of {', '.join(allowed)}"


def check_supersession(page_cache: PageCache) -> Iterator[Finding]:
    """Yield errors in the keys of merged pages: `supersedes`, `superseded_by` and `superseded_reason`.

    A page and its replacement must refer to each other. There must be a reason, and no cycle.
    """
    bugs = {page.name: page for page in page_cache.all("bugs")}
    for page in bugs.values():
        place = page.path
        for key, back in (("superseded_by", "supersedes"), ("supersedes", "superseded_by")):
            for other in _named(page, key):
                if other not in bugs:
                    yield Finding(place, 0, "schema", f"{key}: there is no page {other}")
                elif page.name not in _named(bugs[other], back):
                    yield Finding(place, 0, "schema", f"{key}: {other} lacks `{back}: {page.name}`")
        if _leads_back(page, bugs):
            yield Finding(
                place, 0, "schema", f"superseded_by: {page.leads_to} leads back to this page; remove one of the keys"
            )
        if page.text("superseded_by") and not page.text("superseded_reason"):
            yield Finding(place, 0, "schema", "superseded_reason: no value, but superseded_by has one")


def _leads_back(page: PageSummary, bugs: Mapping[str, PageSummary]) -> bool:
    """Return whether following the replacements of a page leads back to the page."""
    seen: set[str] = set()
    name = page.leads_to
    while name in bugs and name not in seen:
        seen.add(name)
        name = bugs[name].leads_to
    return page.name in seen


def _named(page: PageSummary, key: str) -> tuple[str, ...]:
    """Return the page names in the key `supersedes` or `superseded_by` of a page."""
    return page.replaces if key == "supersedes" else (page.leads_to,) if page.leads_to else ()


def check_causes(page_cache: PageCache) -> Iterator[Finding]:
    """Yield pages with a cause that already has another page."""
    for fingerprint in page_cache.causes.shared():
        keeper, *rest = page_cache.causes.pages_of(fingerprint)
        for page in (page for page in rest if not is_pointer(page)):
            yield Finding(page.path, 0, "duplicate_cause", f"{keeper.path} has the same cause, {fingerprint}")


def check_likeness(page_cache: PageCache, archive: Archive) -> Iterator[Finding]:
    """Yield a finding for each bug page whose cause resembles that of older pages; each names the oldest of these."""
    for page in list(page_cache.all("bugs")):
        if page.problem or is_pointer(page) or not page.fingerprints():
            continue
        kept = next(iter(alike(archive, page_cache, page.fingerprints())), None)
        if kept is not None and first_seen(archive, kept) < first_seen(archive, page):
            text = f"says nearly the same thing as {kept.path}: `dvwiki merge {kept.name} {page.name}`"
            yield Finding(page.path, 0, "near_duplicate", text)


def check_conflicts(wiki: Path) -> Iterator[Finding]:
    """Yield unresolved merge conflicts. `dvwiki build` resolves those in derived content."""
    files = [path.name for path in wiki.glob("*.md")]
    files += [OWN[name] for name in CATEGORIES] + [path for name in CATEGORIES for path, _ in page_files(wiki, name)]
    for place in sorted(files):
        try:
            data = outside.read(wiki, place)
        except OSError:
            continue
        for line, is_people_s in conflicts.markers(data, OWNED.get(place.partition("/")[0], ())):
            if is_people_s and place not in FILES:
                yield Finding(place, line, "conflict", "merge conflict in people's text")
            else:
                yield Finding(place, line, "conflict", "merge conflict in derived content", BUILD)


def check_lessons(text: PageText) -> Iterator[Finding]:
    """Yield ids used by several lessons, and links to lessons that do not exist or lack the link back."""
    if text.listed.category not in {"topics", "patterns"}:
        return
    found = topic.lessons(text.raw)
    lessons = {each.id: each for each in found}
    path = text.listed.path
    for name, times in Counter(each.id for each in found).items():
        if times > 1:
            yield Finding(
                path, 0, "schema", f"{times} lessons have the id {name}", "merge them, or remove the id of one"
            )
    for each in lessons.values():
        for other, back in ((each.superseded_by, "supersedes"), *((name, "superseded by") for name in each.supersedes)):
            if other and other not in lessons:
                problem = f"lesson {each.id} refers to lesson {other}, which does not exist"
                yield Finding(path, 0, "schema", problem, "correct the id")
            elif other and each.id not in {*lessons[other].supersedes, lessons[other].superseded_by}:
                problem = f"lesson {other} lacks `{back} {each.id}`"
                yield Finding(path, 0, "schema", problem, f"add this line, or remove {other} from lesson {each.id}")


def _line_of(problem: str) -> int:
    found = re.match(r"(\d+):", problem)
    return int(found[1]) if found else 0
