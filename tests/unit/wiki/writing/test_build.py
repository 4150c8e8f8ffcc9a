"""All derived files follow from records and pages, on any machine."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.records import refresh
from pytest_dvwiki.wiki import page_cache
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing import rebuild
from pytest_dvwiki.wiki.writing.build import archive, build

from ...samples import CAUSE, files, layout, occurrence, passing, record

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_dvwiki.settings import Layout


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    place = layout(tmp_path / "project")
    for run in (record(1, occurrence(), occurrence("b" * 12)), record(2, occurrence()), passing(3)):
        archive(place, run)
    return place


def test_building_again_changes_nothing(place: Layout) -> None:
    before = files(place.agent)
    assert build(place).changed == []
    assert files(place.agent) == before


def test_records_alone_give_the_same_bytes_on_another_machine(place: Layout, tmp_path: Path) -> None:
    other = layout(tmp_path / "other place")
    shutil.copytree(place.tasks, other.tasks)
    build(other)
    mine, theirs = files(place.wiki), files(other.wiki)
    assert mine.pop("log.md") != theirs.pop("log.md")
    assert theirs == mine


def test_the_order_of_arrival_does_not_matter(place: Layout, tmp_path: Path) -> None:
    other = layout(tmp_path / "other")
    for run in (passing(3), record(2, occurrence()), record(1, occurrence(), occurrence("b" * 12))):
        archive(other, run)
    build(other)
    mine, theirs = files(place.wiki), files(other.wiki)
    del mine["log.md"], theirs["log.md"]
    assert theirs == mine


def test_what_somebody_changed_in_the_tools_part_is_made_again(place: Layout) -> None:
    before = files(place.wiki)
    (page,) = (path for path in (place.wiki / "bugs").glob("RTL*") if CAUSE in path.read_text())
    text = page.read_text()
    page.write_text(text.replace("hit_count: 2", "hit_count: 99").replace("Seen in 2 runs", "Seen in no run"))
    (place.wiki / "index.md").write_text("garbage")
    (place.wiki / "patterns" / "_index.md").unlink()
    changed = [f"bugs/{page.name}", "index.md", "patterns/_index.md"]
    assert build(place, check=True).changed == changed
    assert page.read_text() != text
    assert build(place).changed == changed
    after = files(place.wiki)
    assert after.pop("log.md") == before.pop("log.md") + b"## [2026-11-21] build | - | 3 files rebuilt\n"
    assert after == before


def test_check_writes_nothing(place: Layout) -> None:
    shutil.rmtree(place.wiki / "bugs")
    (place.wiki / "index.md").unlink()
    before = files(place.agent)
    assert "index.md" in build(place, check=True).changed
    assert files(place.agent) == before


def test_a_deleted_page_comes_back_by_restore_alone(place: Layout) -> None:
    before = files(place.wiki)
    for page in (*(place.wiki / "bugs").glob("RTL*"), place.wiki / "patterns" / "scoreboard_fail.md"):
        page.unlink()
    build(place)
    assert list((place.wiki / "bugs").glob("RTL*")) == []
    build(place, restore=True)
    after = files(place.wiki)
    del before["log.md"], after["log.md"]
    assert after == before


def test_a_change_of_status_reaches_the_index(place: Layout) -> None:
    page = next((place.wiki / "bugs").glob("RTL*"))
    page.write_text(page.read_text().replace("status: open", "status: closed"))
    build(place)
    (line,) = [line for line in (place.wiki / "index.md").read_text().splitlines() if page.stem in line]
    assert "| closed |" in line
    archive(place, record(5, occurrence(), occurrence("b" * 12)))
    assert pages.read(page.read_bytes()).metadata["status"] == "closed"


def test_pages_of_people_are_listed_and_left(place: Layout) -> None:
    spec = place.wiki / "specs" / "burst_clarification.md"
    spec.write_text("---\ntype: spec\nfeature: AXI | burst\nclarification_type: ambiguous\n---\n# Burst\n")
    own = place.wiki / "bugs" / "our_own.md"
    own.write_text("no frontmatter at all\n")
    before = spec.read_bytes(), own.read_bytes()
    build(place)
    index = (place.wiki / "index.md").read_text()
    assert "| [burst_clarification](specs/burst_clarification.md) | AXI \\| burst | ambiguous |" in index
    assert "[our_own](bugs/our_own.md)" in index
    assert (spec.read_bytes(), own.read_bytes()) == before


def test_broken_records_and_pages_are_reported_and_left(place: Layout) -> None:
    (place.tasks / "2026" / "11" / "broken.yaml").write_text("schema: [")
    page = next((place.wiki / "bugs").glob("RTL*"))
    page.write_text(page.read_text().replace("status: open", "status: open\nstatus: closed"))
    before = page.read_bytes()
    result = build(place)
    assert [problem.split(":")[0] for problem in result.problems] == ["2026/11/broken.yaml"]
    assert [name for name, _ in result.refused] == [f"bugs/{page.name}"]
    assert page.read_bytes() == before


def test_what_a_killed_process_left_is_swept(place: Layout) -> None:
    left = place.wiki / "bugs" / ".RTL_20261121_000001.md.0123abcd.tmp"
    left.write_text("half")
    keep = place.wiki / "bugs" / ".notes.tmp"
    keep.write_text("mine")
    build(place)
    assert not left.exists()
    assert keep.exists()


def test_the_first_build_of_a_clone_shows_how_far_it_is(place: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(place.wiki / ".cache")
    for module in (refresh, page_cache, rebuild):
        monkeypatch.setattr(module, "_PROGRESS_EVERY", 1)
    told: list[tuple[str, int]] = []
    build(place, progress=lambda done, count: told.append((done, count)))
    # Three records; two bug pages and one of their subtype; two causes.
    assert told == [
        *(("records read", number) for number in (1, 2, 3)),
        *(("pages read", number) for number in (1, 2, 3)),
        *(("pages rebuilt", number) for number in (1, 2)),
    ]


def test_an_empty_project_builds_an_empty_wiki(tmp_path: Path) -> None:
    result = build(layout(tmp_path))
    assert result.refused == []
    assert "Last updated: never | Total pages: 0" in (tmp_path / ".agent" / "wiki" / "index.md").read_text()
    assert build(layout(tmp_path), check=True).changed == []
