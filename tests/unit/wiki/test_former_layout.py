"""Pages with a region for each section are converted to one region, and people's text is neither lost nor doubled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.records import git_conflicts
from pytest_dvwiki.wiki.text import former, pages
from pytest_dvwiki.wiki.writing.build import archive, build

from ..samples import CAUSE, git, layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout

ORDER = ("Evidence", "Classification Rationale", "Related Patterns", "Reproduce", "Occurrences", "Fixes")
REGION = {words: name for name, words in former._HEADINGS.items()}
OWNED_BEGIN = tuple(f"# dvwiki: line {number} before the tool's keys" for number in range(4))
OWNED_END = tuple(f"# dvwiki: line {number} after the tool's keys" for number in range(4))
MARKER = "<!-- dvwiki:{} {}\nTwo lines of text without the id\nof the page.\n-->"
EDITS = {
    "title": ("# UVM_ERROR", "# SEEN UVM_ERROR"),
    "value": ("owner: null", "owner: SEEN"),
    "symptom": ("\n## Evidence\n", "\nSEEN\n\n## Evidence\n"),
    "resolution": (" has a workaround", " SEEN has a workaround"),
    "further": (" has a workaround\n", " has a workaround\n\nSEEN\n"),
    "own section": ("\n## Reproduce\n", "\n## Our bench\n\n  SEEN  \n\n## Reproduce\n"),
    "changed": ("The bench was cold.", "SEEN the bench was cold."),
    **{f"above {words}": (f"\n## {words}\n", f"\nSEEN\n\n## {words}\n") for words in (*ORDER[1:], "Citation")},
    **{f"below {words}": (f"\n## {words}\n", f"\n## {words}\n\nSEEN\n") for words in (*ORDER, "Citation")},
    "end": (None, "\nSEEN\n"),
}


def as_it_was(data: bytes) -> bytes:
    """Return a page with a region for each section, and a person's line below its fixes."""
    head, _, rest = data.decode().partition(f"\n## {former.NOTES}\n")
    told = dict(re.findall(r"^## ([A-Z][\w ]+)\n(.*?)(?=^## |\n<!-- dvwiki:end)", rest, re.MULTILINE | re.DOTALL))
    people, _, resolution = head.partition("\n## Resolution\n")
    page = pages.read(data).metadata["id"]
    for new, old in zip(pages.comments(page), (OWNED_BEGIN, OWNED_END), strict=True):
        people = people.replace("\n".join(new), "\n".join(old))

    def section(words: str) -> str:
        begin, end = (MARKER.format(kind, REGION[words]) for kind in ("begin", "end"))
        return f"\n## {words}\n\n{begin}\n\n{told[words].strip()}\n\n{end}\n"

    sections = "".join(map(section, ORDER))
    return f"{people}{sections}\nThe bench was cold.\n\n## Resolution\n{resolution}{section('Citation')}".encode()


def edited(text: str, name: str, word: str) -> str:
    old, new = EDITS[name]
    assert old is None or old in text, name
    new = new.replace("SEEN", word)
    return text + new if old is None else text.replace(old, new, 1)


@pytest.fixture
def old(tmp_path: Path) -> Layout:
    """Return a wiki with one page in the former layout, in a repository."""
    place = layout(tmp_path)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    archive(place, record(1, occurrence()))
    page = bug_page(place)
    page.write_bytes(as_it_was(page.read_bytes()))
    commit(place, "base")
    return place


def bug_page(place: Layout) -> Path:
    return next((place.wiki / "bugs").glob("RTL_*.md"))


def commit(place: Layout, message: str) -> None:
    git(place.root, "add", "--all")
    git(place.root, "commit", "--quiet", "--message", message)


def test_a_build_converts_a_page_and_keeps_what_people_wrote(old: Layout) -> None:
    page = bug_page(old)
    text = page.read_text()
    for number, name in enumerate(name for name in EDITS if name != "changed"):
        if name not in {"further", "resolution"}:
            text = edited(text, name, f"word-{number}-")
    page.write_text(text)
    assert build(old).refused == []
    after = page.read_text()
    for number, name in enumerate(name for name in EDITS if name != "changed"):
        if name not in {"further", "resolution"}:
            assert after.count(f"word-{number}-") == 1, name
    assert pages.region_names(after.encode()) == [former.RECORDS]
    headings = re.findall(r"^## (.*)$", re.sub(r"(?s)-->\n## Evidence.*?<!-- dvwiki:end", "", after), re.MULTILINE)
    assert headings == ["Symptom", "Our bench", "Resolution", "Notes"]
    assert "\n### Fixes\n\nThe bench was cold.\n" in after
    assert "\n## Our bench\n\n  word-" in after
    assert build(old).changed == []


def test_line_ends_and_pages_that_cannot_be_read_stay_as_they_are(old: Layout) -> None:
    data = bug_page(old).read_bytes()
    found = former.converted(data.replace(b"\n", b"\r\n"), "RTL_1")
    assert isinstance(found, bytes)
    assert found.count(b"\n") == found.count(b"\r\n")
    assert found.replace(b"\r\n", b"\n") == former.converted(data, "RTL_1")
    assert former.converted(found, "RTL_1") == found
    assert isinstance(former.converted(data.replace(b"<!-- dvwiki:end fixes", b""), "RTL_1"), pages.Refused)


@pytest.mark.parametrize("both", [False, True], ids=["one side converted", "both sides converted"])
@pytest.mark.parametrize("direction", ["ours", "theirs"])
def test_branches_of_both_layouts_merge(old: Layout, direction: str, *, both: bool) -> None:
    """A person edits one branch in every place, a run converts the page on the other; a page for each place."""
    page = bug_page(old)
    base = page.read_text()
    build(old)
    regions = pages.regions(page.read_bytes())
    assert isinstance(regions, dict)
    page.write_text(base)
    copies = {name: page.with_name(f"{page.stem}_{number}.md") for number, name in enumerate(EDITS)}
    for copy in copies.values():
        copy.write_text(base)
    commit(old, "copies")
    git(old.root, "checkout", "--quiet", "-b", "converted")
    for copy in copies.values():
        copy.write_bytes(converted(copy, regions))
    commit(old, "converted")
    git(old.root, "checkout", "--quiet", "-b", "edited", "main")
    for name, copy in copies.items():
        copy.write_text(edited(base, name, "SEEN"))
        if both:
            copy.write_bytes(
                converted(copy, {former.RECORDS: regions[former.RECORDS].replace("Seen in 1", "Seen in 7")})
            )
    commit(old, "edited")
    ours, theirs = ("converted", "edited") if direction == "ours" else ("edited", "converted")
    git(old.root, "checkout", "--quiet", ours)
    git(old.root, "merge", "--quiet", theirs, check=False)
    result = build(old)
    assert [path for path, _ in result.refused] == []
    for name, copy in copies.items():
        text = copy.read_text()
        assert not any(isinstance(part, git_conflicts.Hunk) for part in git_conflicts.split(text)), name
        found = converted(copy, regions).decode()
        assert found.count("SEEN") == 1, name
        assert found.count("he bench was cold.") == 1, name
        assert found.count("- [") == 3 + found.count("- [scoreboard"), name
        outside = re.sub(r"(?s)<!-- dvwiki:begin records.*?<!-- dvwiki:end", "", found)
        assert "SEEN" in outside, name
        assert "RTL_BUG with confidence" not in outside, name


def converted(page: Path, regions: dict[str, str]) -> bytes:
    """Return a page with one region, with other content."""
    data = former.converted(page.read_bytes(), page.stem)
    assert isinstance(data, bytes)
    found = pages.edit(data, {"hit_count": 2}, regions)
    assert isinstance(found, bytes)
    return found


def test_a_build_names_a_page_that_git_took_for_another_one(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(
        place,
        record(1, occurrence(), occurrence("b" * 12, primary="UVM_ERROR arb.sv(1) @ 2ns: reporter [ARB] no grant")),
    )
    one, other = sorted((place.wiki / "bugs").glob("RTL_*.md"))
    text = one.read_text()
    one.write_text(text.replace(f"<!-- dvwiki:end records of {one.stem}", f"<!-- dvwiki:end records of {other.stem}"))
    ((path, reason),) = build(place).refused
    assert path == f"bugs/{one.name}"
    assert reason.startswith(f"its `dvwiki` comments name another page, {other.stem}; ")
    one.write_text(text.replace(f"# {one.stem}: below", f"# {other.stem}: below"))
    assert [path for path, _ in build(place).refused] == [f"bugs/{one.name}"]
    one.write_text(text)
    assert build(place).refused == []


def test_a_page_that_a_person_renamed_keeps_its_former_name_as_an_alias(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    page = bug_page(place)
    renamed = page.rename(page.with_name("fifo_overflow.md"))
    assert build(place).refused == []
    keys = pages.read(renamed.read_bytes()).metadata
    assert (keys["id"], keys["aliases"]) == ("fifo_overflow", [page.stem])
    assert build(place).changed == []
    assert archive(place, record(2, occurrence())).page_of == {CAUSE: "bugs/fifo_overflow.md"}
