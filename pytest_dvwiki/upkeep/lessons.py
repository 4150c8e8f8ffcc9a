"""Checks the lessons on topic and pattern pages: their ids, and the links between a lesson and its replacement."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_dvwiki.upkeep.findings import Finding
from pytest_dvwiki.wiki.kinds import topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_dvwiki.upkeep.page import PageText


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
                yield Finding(path, 0, "schema", problem, "add the line, or remove the other one")
