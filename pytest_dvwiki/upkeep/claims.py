"""Checks that people's claims on pages cite a source, and that the cited runs are on record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_dvwiki.model.sentences import shortened
from pytest_dvwiki.upkeep.findings import Finding
from pytest_dvwiki.upkeep.page import PageLine, without_code

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_dvwiki.records.archive import Archive
    from pytest_dvwiki.upkeep.page import PageText

_CLAIM = re.compile(
    r"\b(?:always|never|must|cannot|requires?|causes?|caused|guarantees?|is|are|was|were|does not|do not|did not)\b",
    re.IGNORECASE,
)
_CITED = re.compile(r"\(source: ")
_SOURCE = re.compile(r"\(source: tasks/([^|)\s]+?)\.ya?ml(?=[ |)])")
_NO_PROSE = re.compile(r"\s*(?:#{1,6} |\||<!--|-->|- \[[ xX]\] |\d+\. *$|[-*_]{3,}\s*$|>|cause: \"?[0-9a-f]{12}\b)")
_ONLY_CITED = re.compile(r"(?:[-*+] )?\(source: [^)]*\)\.?")
"""Matches a paragraph that consists of a citation only; it is the source for its whole section."""
_SHOWN = 60
"""Maximum number of characters that a finding quotes of a claim."""
_QUESTION = re.compile(r"\?\s*$")
_GUIDANCE = {
    "bugs": frozenset({"Symptom"}),
    "patterns": frozenset(
        {"Description", "Detection Signature", "Fix Template", "Code Generator Self-Review Checklist Update"}
    ),
    "coverage": frozenset({"Scenario"}),
    "specs": frozenset[str](),
    "topics": frozenset[str](),
}
"""Sections of each category that contain instructions, not claims about a run."""


def check_claims(text: PageText) -> Iterator[Finding]:
    """Yield people's claims without a source, either in the same paragraph or for the whole section."""
    paragraphs = list(_paragraphs(text))
    covered = {
        lines[0].section for lines in paragraphs if len(lines) == 1 and _ONLY_CITED.fullmatch(lines[0].text.strip())
    }
    covered |= _GUIDANCE[text.listed.category]
    for paragraph in paragraphs:
        if paragraph[0].section in covered or any(_CITED.search(line.text) for line in paragraph):
            continue
        claim = next((line for line in paragraph if _claims(line.text)), None)
        if claim is not None:
            words = shortened(claim.text.strip(), _SHOWN)
            yield Finding(text.listed.path, claim.number, "uncited", f"no source for {words!r}")


def check_sources(text: PageText, archive: Archive, tasks: Path) -> Iterator[Finding]:
    """Yield the citations of runs that are not on record."""
    for line in text.people:
        for task in _SOURCE.findall(line.text):
            if archive.record(task) is None and not _is_foreign_file(tasks, task):
                yield Finding(text.listed.path, line.number, "unknown_source", f"no run {task} is on record")


def _is_foreign_file(tasks: Path, name: str) -> bool:
    """Return whether another program's file of this name is in the folder of records; pages may cite it."""
    return any((tasks / f"{name}{ending}").is_file() for ending in (".yaml", ".yml")) if ".." not in name else False


def _paragraphs(text: PageText) -> Iterator[list[PageLine]]:
    """Yield the paragraphs of prose on a page; each list item is a separate paragraph."""
    found: list[PageLine] = []
    for line in text.people:
        prose = bool(line.text.strip()) and not _NO_PROSE.match(line.text)
        starts_item = re.match(r"\s*(?:[-*+]|\d+[.)]) ", line.text) is not None
        follows = bool(found) and line.number == found[-1].number + 1
        if found and (not prose or starts_item or not follows):
            yield found
            found = []
        if prose:
            found.append(line)
    if found:
        yield found


def _claims(text: str) -> bool:
    return not _QUESTION.search(text) and _CLAIM.search(without_code(text)) is not None
