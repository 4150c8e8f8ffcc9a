"""The index on disk is used if it agrees with the pages, includes a changed page at once, and is never trusted."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dvwiki.search.tokenizer import tokens
from pytest_dvwiki.wiki.finding import indexed
from pytest_dvwiki.wiki.finding.search import FOLDERS, Facets, Filters, WikiSearchIndex, words_of
from pytest_dvwiki.wiki.page_files import list_pages
from pytest_dvwiki.wiki.writing.build import archive

from ...samples import layout, occurrence, record

if TYPE_CHECKING:
    import subprocess

    from pytest_dvwiki.search.relevance import Words

WORDS = "fifo axi burst reset clock valid ready grant credit parity queue bridge late lost stuck overflow".split()  # noqa: SIM905


def text_of(number: int) -> str:
    """Return a page with its own words, each repeated another number of times."""
    words = " ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 4 + number % 9))
    return f"---\ntype: spec\n---\n# Page {number}\n\n{words} signal_{number} 0x{number:04x}\n"


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    for number in range(160):
        (tmp_path / "specs" / f"page_{number:03}.md").write_text(text_of(number))
    return tmp_path


def index_of(wiki: Path) -> WikiSearchIndex:
    return WikiSearchIndex.create("bm25", wiki)


def found(wiki: Path, query: str) -> list[str]:
    return [path for path, _ in index_of(wiki).ranking(query)]


def stored(wiki: Path, name: str = "pages.json") -> Any:
    digest, _, data = (wiki / ".search_index" / name).read_bytes().partition(b"\n")
    assert hashlib.sha256(data).hexdigest().encode() == digest
    return json.loads(data)


def store(wiki: Path, values: dict[str, Any]) -> None:
    data = json.dumps(values).encode()
    (wiki / ".search_index" / "pages.json").write_bytes(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)


def state(wiki: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in (wiki / ".search_index").rglob("*")}


def as_a_rebuild_ranks(wiki: Path, queries: list[str], *changed: str) -> None:
    """Return whether queries find the same pages as a new index, and a changed page at the same rank."""
    index = index_of(wiki)
    now = {query: [path for path, _ in index.ranking(query)] for query in queries}
    index.build()
    for query, paths in now.items():
        anew = [path for path, _ in index.ranking(query)]
        assert set(paths) == set(anew), query
        ranks = [(path, paths.index(path), anew.index(path)) for path in changed if path in anew]
        assert not [rank for rank in ranks if rank[1] != rank[2]], query


# An index that agrees


def test_only_pages_are_indexed(tmp_path: Path) -> None:
    place = layout(tmp_path)
    archive(place, record(1, occurrence(), occurrence("a" * 12, failure_subtype="timeout")))
    assert found(place.wiki, "protocol agents classify") == []
    names = [page[0] for page in stored(place.wiki)["pages"]]
    assert names == sorted(names)
    assert {name.split("_2")[0] for name in names} == {"bugs/RTL", "patterns/scoreboard_fail.md", "patterns/timeout.md"}


def test_an_index_on_disk_is_used(wiki: Path) -> None:
    found(wiki, "reset")
    before = state(wiki)
    assert found(wiki, "0x0007") == ["specs/page_007.md"]
    assert state(wiki) == before


def test_the_arrays_are_mapped_not_read(wiki: Path) -> None:
    found(wiki, "reset")
    index_of(wiki).search("0x0007")
    folder = stored(wiki)["folder"]
    index = index_of(wiki)
    index.search("0x0007")
    maps = Path("/proc/self/maps").read_text().splitlines()
    mapped = {line.rsplit("/", 1)[-1] for line in maps if f".search_index/{folder}/" in line}
    assert {"data.npy", "indices.npy", "indptr.npy", "names.npy"} <= mapped


def test_a_checkout_that_changes_times_alone_makes_no_new_index(wiki: Path) -> None:
    expected = found(wiki, "reset clock")
    folder = stored(wiki)["folder"]
    for page in (wiki / "specs").iterdir():
        os.utime(page, ns=(1, 1_700_000_000_000_000_000))
    assert found(wiki, "reset clock") == expected
    assert stored(wiki)["folder"] == folder
    before = state(wiki)
    assert found(wiki, "reset clock") == expected
    assert state(wiki) == before


# A page that changed


def test_a_changed_page_is_found_by_its_words_at_the_rank_of_a_rebuild(wiki: Path) -> None:
    found(wiki, "reset")
    folder = stored(wiki)["folder"]
    page = wiki / "specs" / "page_050.md"
    page.write_text(text_of(50).replace("# Page 50", "# Credit parity lost") + "fifo fifo zebra_crossing\n")
    assert found(wiki, "zebra") == ["specs/page_050.md"]
    assert stored(wiki)["folder"] == folder, "one page of 160 is taken in, not the index made again"
    words = [*dict.fromkeys(tokens(page.read_text()))]
    as_a_rebuild_ranks(wiki, [*words, *(f"{one} {two}" for one, two in itertools.pairwise(words))], "specs/page_050.md")


def test_a_page_that_came_and_one_that_went_rank_as_in_a_rebuild(wiki: Path) -> None:
    found(wiki, "reset")
    folder = stored(wiki)["folder"]
    (wiki / "specs" / "page_007.md").unlink()
    (wiki / "specs" / "new.md").write_text(text_of(7).replace("0x0007", "0x0900 quagga"))
    assert found(wiki, "0x0007") == []
    assert found(wiki, "quagga") == ["specs/new.md"]
    assert stored(wiki)["folder"] == folder
    as_a_rebuild_ranks(wiki, [*WORDS, "quagga reset", "signal 0x0900", "page"], "specs/new.md")


def test_what_one_process_took_in_the_next_one_knows(wiki: Path) -> None:
    found(wiki, "reset")
    page = wiki / "specs" / "page_050.md"
    page.write_text(page.read_text() + "zebra\n")
    assert found(wiki, "zebra") == ["specs/page_050.md"]
    before = state(wiki)
    assert found(wiki, "zebra") == ["specs/page_050.md"]
    assert state(wiki) == before


def test_a_page_that_is_as_it_was_again_is_no_change(wiki: Path) -> None:
    expected = found(wiki, "reset")
    page = wiki / "specs" / "page_050.md"
    page.write_text(page.read_text() + "zebra\n")
    assert found(wiki, "zebra") == ["specs/page_050.md"]
    page.write_text(text_of(50))
    assert found(wiki, "zebra") == []
    assert found(wiki, "reset") == expected
    assert stored(wiki, "changes.json")["changes"] == []


def test_a_page_is_chosen_by_what_it_says_now(wiki: Path) -> None:
    index = index_of(wiki)
    assert index.search("0x0032", filters=Filters(status="closed")) == []
    page = wiki / "specs" / "page_050.md"
    page.write_text(text_of(50).replace("type: spec", "type: spec\nstatus: closed"))
    assert [hit.page_path for hit in index.search("0x0032", filters=Filters(status="closed"))] == ["specs/page_050.md"]


def test_many_changes_make_a_new_index(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found(wiki, "reset")
    folders = [stored(wiki)["folder"]]
    for number in range(4):
        (wiki / "specs" / f"page_{number:03}.md").write_text(f"# Zebra {number}\n")
        assert len(found(wiki, "zebra")) == number + 1
        folders.append(stored(wiki)["folder"])
    # A fiftieth of 160 pages, rounded down, is three; changes count from the last index on.
    assert [one != two for one, two in itertools.pairwise(folders)] == [False, False, True, False]
    monkeypatch.setattr(indexed, "MOST_CHANGES", 1)
    (wiki / "specs" / "page_004.md").write_text("# Zebra 4\n")
    assert len(found(wiki, "zebra")) == 5
    assert stored(wiki)["folder"] != folders[-1]


def test_a_new_index_reads_only_the_pages_that_changed(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found(wiki, "reset")
    read: list[str] = []

    def reading(path: str, data: bytes) -> tuple[Words, Facets]:
        read.append(path)
        return words_of(path, data)

    monkeypatch.setattr(indexed, "words_of", reading)
    changed = [f"specs/page_{number:03}.md" for number in range(3)]
    for path in changed:
        (wiki / path).write_text("# Zebra\n")
    assert found(wiki, "zebra") == changed
    assert sorted(read) == changed
    as_a_rebuild_ranks(wiki, WORDS)


def test_updates_by_the_caller_alone_make_a_new_index_too(wiki: Path) -> None:
    index = index_of(wiki)
    index.search("reset")
    folder = stored(wiki)["folder"]
    for number in range(3):
        index.update(f"specs/page_{number:03}.md", f"# Zebra {number}\n")
    assert len(list(index.ranking("zebra"))) == 3
    assert stored(wiki)["folder"] != folder


# An index that does not


@pytest.mark.parametrize("damage", ["garbage", "digest", "version", "tokenizer", "format", "array", "gone", "place"])
def test_a_broken_index_is_made_again(wiki: Path, damage: str) -> None:
    expected = found(wiki, "reset clock")
    listing = wiki / ".search_index" / "pages.json"
    values = stored(wiki)
    folder = wiki / ".search_index" / values["folder"]
    match damage:
        case "garbage":
            listing.write_bytes(b"\xff{")
        case "digest":
            listing.write_bytes(listing.read_bytes().replace(b"page_050", b"page_051"))
        case "version":
            store(wiki, values | {"engine": "bm25s 0.0.1"})
        case "tokenizer":
            store(wiki, values | {"tokenizer": 0})
        case "format":
            store(wiki, values | {"format": 1})
        case "array":
            array = folder / "data.npy"
            array.write_bytes(array.read_bytes()[:-1] + b"\x7f")
        case "gone":
            (folder / "names.npy").unlink()
        case _:
            store(wiki, values | {"folder": "../../../secrets"})
    assert found(wiki, "reset clock") == expected
    assert stored(wiki)["folder"] != values["folder"]


@pytest.mark.parametrize("damage", ["garbage", "words", "folder"])
def test_broken_changes_are_made_again(wiki: Path, damage: str) -> None:
    found(wiki, "reset")
    page = wiki / "specs" / "page_050.md"
    page.write_text(page.read_text() + "zebra\n")
    found(wiki, "zebra")
    changes = wiki / ".search_index" / "changes.json"
    data = changes.read_bytes()
    match damage:
        case "garbage":
            changes.write_bytes(b"\xff{")
        case "words":
            changes.write_bytes(data.replace(b"zebra", b"horse"))
        case _:
            values = stored(wiki, "changes.json") | {"folder": "00000000"}
            text = json.dumps(values).replace("zebra", "horse").encode()
            changes.write_bytes(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
    assert found(wiki, "zebra") == ["specs/page_050.md"]
    assert found(wiki, "horse") == []


def test_words_that_broke_are_read_from_the_pages_again(wiki: Path) -> None:
    found(wiki, "reset")
    (words,) = (wiki / ".search_index").glob("*/word_ids.npy")
    data = bytearray(words.read_bytes())
    data[-40:] = data[-80:-40]
    words.write_bytes(data)
    for number in range(3):
        (wiki / "specs" / f"page_{number:03}.md").write_text("# Zebra\n")
    assert len(found(wiki, "zebra")) == 3
    as_a_rebuild_ranks(wiki, WORDS)


def test_build_makes_the_index_again(wiki: Path) -> None:
    index = index_of(wiki)
    index.build()
    first = stored(wiki)["folder"]
    index.build(wiki)
    assert stored(wiki)["folder"] != first
    assert list(index.ranking("0x0007")) == list(index_of(wiki).ranking("0x0007"))


def test_the_index_before_stays_for_who_has_it_mapped_and_no_other(wiki: Path) -> None:
    index = index_of(wiki)
    folders = []
    for _ in range(3):
        index.build()
        folders.append(stored(wiki)["folder"])
    kept = {path.name for path in (wiki / ".search_index").iterdir() if path.is_dir()}
    assert kept == set(folders[-2:])


def test_an_index_that_cannot_be_written_stays_in_memory(wiki: Path) -> None:
    (wiki / ".search_index").write_text("a file")
    index = index_of(wiki)
    assert [path for path, _ in index.ranking("0x0007")] == ["specs/page_007.md"]
    (wiki / "specs" / "page_007.md").write_text(text_of(8))
    assert list(index.ranking("0x0007")) == []
    assert (wiki / ".search_index").read_text() == "a file"


def test_queries_do_not_look_at_the_pages_where_something_else_does(wiki: Path) -> None:
    index = index_of(wiki)
    index.listing = list_pages(wiki, FOLDERS)
    index.refresh()
    page = wiki / "specs" / "page_007.md"
    page.write_text(f"{page.read_text()}\nzebrafish\n")
    (wiki / "specs" / "page_008.md").unlink()
    assert list(index.ranking("zebrafish")) == []
    index.listing = list_pages(wiki, FOLDERS)
    index.refresh()
    assert [path for path, _ in index.ranking("zebrafish")] == ["specs/page_007.md"]
    assert list(index.ranking("0x0008")) == []
    index.listing = None
    assert list(index_of(wiki).ranking("zebrafish")) == list(index.ranking("zebrafish"))


@pytest.mark.parametrize("fails", [False, True])
def test_a_large_index_answers_and_takes_in_changes_while_the_next_one_is_made(
    wiki: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr(indexed, "LARGE", 100)
    if fails:
        monkeypatch.setattr(indexed, "_REBUILD", "")
    index = index_of(wiki)
    assert isinstance(index, indexed._Bm25Index)

    def finds(*numbers: int) -> None:
        index.listing = list_pages(wiki, FOLDERS)
        index.refresh()
        assert sorted(path for path, _ in index.ranking("zebra")) == [f"specs/page_{each:03}.md" for each in numbers]

    def edit(number: int) -> None:
        (wiki / "specs" / f"page_{number:03}.md").write_text(f"# Zebra {number}\n")

    def rebuild() -> subprocess.Popen[bytes] | None:
        return index._rebuild

    finds()
    before = stored(wiki)["folder"]
    for number in range(3):
        edit(number)
    finds(0, 1, 2)
    assert rebuild() is not None
    edit(3)
    finds(0, 1, 2, 3)
    if (process := rebuild()) is not None:
        process.wait()
    edit(4)
    finds(0, 1, 2, 3, 4)
    assert rebuild() is None
    assert stored(wiki)["folder"] != before
    assert index._index is not None
    assert index._index.folder == wiki / ".search_index" / stored(wiki)["folder"]
    assert list(index.ranking("zebra 0x0009")) == list(index_of(wiki).ranking("zebra 0x0009"))
