from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_dvwiki.upkeep.lint import lint
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path


def test_pages_in_sub_folders_are_kept_where_people_put_them(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence()))
    (page,) = (place.wiki / "bugs").glob("RTL_*.md")
    moved = place.wiki / "bugs" / "fifo" / "old" / page.name
    moved.parent.mkdir(parents=True)
    page.rename(moved)
    (place.wiki / "specs" / "axi").mkdir()
    (place.wiki / "specs" / "axi" / "burst.md").write_text("---\ntype: spec\nfeature: qos\n---\n\n# Wrapping bursts\n")
    assert archive(place, record(2, occurrence())).pages_created == []
    index = (place.wiki / "index.md").read_text("utf-8")
    assert f"[fifo/old/{page.stem}](bugs/fifo/old/{page.name})" in index
    assert "[axi/burst](specs/axi/burst.md)" in index
    assert "Seen in 2 runs" in moved.read_text("utf-8")
    assert [each for each in lint(place, "full") if not each.is_warning] == []
    found = WikiSearchIndex.create("keyword", place.wiki).search("wrapping")
    assert [each.page_path for each in found] == ["specs/axi/burst.md"]
    moved.unlink()
    archive(place, record(3, occurrence()))
    assert f"bugs/fifo/old/{page.name}" not in (place.wiki / "index.md").read_text("utf-8")
