"""The index of tantivy takes in what changed, and is never trusted."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from pytest_dvwiki.records.disk import WikiError
from pytest_dvwiki.wiki.finding import tantivy
from pytest_dvwiki.wiki.finding.search import Filters, WikiSearchIndex

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("tantivy")
_SEARCH = """
import sys
from pathlib import Path
from pytest_dvwiki.wiki.finding.search import WikiSearchIndex
assert WikiSearchIndex.create("tantivy", Path(sys.argv[1])).search(sys.argv[2])
"""


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    for number in range(20):
        status = "closed" if number % 2 else "open"
        text = f"---\ntype: spec\nstatus: {status}\n---\n# Page {number}\n\nfifo 0x{number:04x}\n"
        (tmp_path / "specs" / f"page_{number:02}.md").write_text(text)
    return tmp_path


def found(wiki: Path, query: str) -> list[str]:
    return [path for path, _ in WikiSearchIndex.create("tantivy", wiki).ranking(query)]


def home(wiki: Path) -> Path:
    (folder,) = (wiki / ".search_index").glob("tantivy-*")
    return folder


def state(wiki: Path) -> dict[str, int]:
    return {
        str(path): path.stat().st_mtime_ns for path in home(wiki).rglob("*") if path.is_file() and path.stat().st_size
    }


def test_all_hits_are_given_however_many(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tantivy, "_BATCH", 3)
    assert sorted(found(wiki, "fifo")) == [f"specs/page_{number:02}.md" for number in range(20)]
    assert found(wiki, "fifo 0x0007")[0] == "specs/page_07.md"


def test_an_index_on_disk_is_used(wiki: Path) -> None:
    found(wiki, "fifo")
    before = state(wiki)
    assert found(wiki, "0x0007") == ["specs/page_07.md"]
    assert state(wiki) == before


def test_a_checkout_that_changes_times_alone_indexes_nothing(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found(wiki, "fifo")
    for page in (wiki / "specs").iterdir():
        os.utime(page, ns=(1, 1_700_000_000_000_000_000))
    monkeypatch.setattr(tantivy, "words_of", None)
    assert found(wiki, "0x0007") == ["specs/page_07.md"]


def test_a_page_is_chosen_by_what_it_says_now(wiki: Path) -> None:
    closed = Filters(status="closed")
    index = WikiSearchIndex.create("tantivy", wiki)
    assert [hit.page_path for hit in index.search("0x0007", filters=closed)] == ["specs/page_07.md"]
    page = wiki / "specs" / "page_07.md"
    page.write_text(page.read_text().replace("closed", "open"))
    assert index.search("0x0007", filters=closed) == []


@pytest.mark.parametrize("damage", ["gone", "cut", "meta", "garbage", "table", "no table"])
def test_a_broken_index_is_made_again(wiki: Path, damage: str) -> None:
    expected = found(wiki, "fifo")
    (wiki / "specs" / "page_07.md").unlink()
    folder = home(wiki)
    segment = next((folder / "index").glob("*.idx"))
    match damage:
        case "gone":
            segment.unlink()
        case "cut":
            segment.write_bytes(segment.read_bytes()[:-1])
        case "meta":
            (folder / "index" / "meta.json").write_text("{")
        case "garbage":
            (folder / "pages.sqlite").write_text("garbage " * 100)
        case "table":
            with closing(sqlite3.connect(folder / "pages.sqlite")) as table, table:
                table.execute("DELETE FROM files")
        case _:
            (folder / "pages.sqlite").unlink()
    assert found(wiki, "0x0007") == []
    assert sorted(found(wiki, "fifo")) == sorted(set(expected) - {"specs/page_07.md"})


def test_an_index_of_another_tokeniser_is_made_again(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found(wiki, "fifo")
    before = state(wiki)
    monkeypatch.setattr(tantivy, "VERSION", 99)
    assert found(wiki, "0x0007") == ["specs/page_07.md"]
    assert not before.keys() & {path for path in state(wiki) if path.endswith(".idx")}


def test_who_waits_in_vain_for_another_process_is_told(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found(wiki, "fifo")
    monkeypatch.setattr(tantivy, "_WAIT_S", 0.01)
    with FileLock(home(wiki) / ".lock"), pytest.raises(WikiError, match="is being written by another process"):
        found(wiki, "fifo")


def test_an_index_that_cannot_be_written_stays_in_memory(wiki: Path) -> None:
    (wiki / ".search_index").write_text("a file")
    index = WikiSearchIndex.create("tantivy", wiki)
    assert [path for path, _ in index.ranking("0x0007")] == ["specs/page_07.md"]
    (wiki / "specs" / "page_07.md").write_text("# Zebra\n")
    assert list(index.ranking("0x0007")) == []
    assert [path for path, _ in index.ranking("zebra")] == ["specs/page_07.md"]


def test_what_another_process_indexed_is_found_at_once(wiki: Path) -> None:
    ours = WikiSearchIndex.create("tantivy", wiki)
    assert ours.search("zebra") == []
    page = wiki / "specs" / "page_03.md"
    for word in ("zebra", "okapi", "gnu"):
        page.write_text(f"{page.read_text()}\n{word}\n")
        subprocess.run([sys.executable, "-c", _SEARCH, str(wiki), word], check=True, timeout=120)
        assert [found.page_path for found in ours.search(word)] == ["specs/page_03.md"]


def test_build_makes_the_index_again(wiki: Path) -> None:
    index = WikiSearchIndex.create("tantivy", wiki)
    index.build()
    before = state(wiki)
    index.build(wiki)
    assert not before.keys() & {path for path in state(wiki) if path.endswith(".idx")}
    assert [path for path, _ in index.ranking("0x0007")] == ["specs/page_07.md"]
