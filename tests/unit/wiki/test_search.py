"""Pages are found by the words of hardware people, with bm25s and without; the index is never trusted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.search import bm25
from pytest_dvwiki.wiki.build import archive
from pytest_dvwiki.wiki.search import WikiSearchIndex

from ..samples import layout, occurrence, record

if TYPE_CHECKING:
    from pathlib import Path

BACKENDS = ("bm25", "keyword")
CAUSES = (
    occurrence(failure_subtype="scoreboard_fail"),
    occurrence("a" * 12, failure_subtype="timeout", primary="SimTimeoutError: waiting for RisingEdge(dut.bvalid)"),
    occurrence("b" * 12, failure_subtype="missing_timescale", primary="dut.v:1: error: `timescale missing", excerpt=""),
    occurrence("c" * 12, failure_subtype="protocol_violation", primary="AXI SLVERR on back_pressure of axiBurstLen"),
)
PROBES = {
    "timescale": "patterns/missing_timescale.md",
    "missing_timescale": "patterns/missing_timescale.md",
    "SLVERR boundary": "bugs/",
    "back pressure AXI": "bugs/",
    "burst len": "bugs/",
    "bvalid": "bugs/",
    "sim timeout": "bugs/",
    "scoreboard": "patterns/scoreboard_fail.md",
    "0x13": "bugs/",
    "cccccccccccc": "bugs/",
}


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    place = layout(tmp_path)
    archive(place, record(1, *CAUSES))
    (place.wiki / "specs" / "reset_clarification.md").write_text("---\ntype: spec\n---\n# Reset\n\nActive low.\n")
    return place.wiki


def found(wiki: Path, query: str, backend: str = "bm25") -> list[str]:
    return [result.page_path for result in WikiSearchIndex.create(backend, wiki).search(query)]


@pytest.mark.parametrize("query", PROBES)
def test_both_searches_give_the_same_pages(wiki: Path, query: str) -> None:
    with_library, without = (found(wiki, query, backend) for backend in BACKENDS)
    assert with_library == without
    assert with_library[0].startswith(PROBES[query])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("query", ["licence", "", "the of", "!!!", "dvwiki begin"])
def test_no_match_is_no_hit(wiki: Path, backend: str, query: str) -> None:
    assert found(wiki, query, backend) == []


def test_search_that_is_off_finds_nothing(wiki: Path) -> None:
    assert found(wiki, "timescale", "none") == []


def test_an_unknown_search_is_a_mistake(wiki: Path) -> None:
    with pytest.raises(ValueError, match="expected one of bm25, keyword, none, got 'qmd'"):
        WikiSearchIndex.create("qmd", wiki)


def test_without_the_library_words_are_searched(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "is_installed", lambda: False)
    assert found(wiki, "timescale")[0] == "patterns/missing_timescale.md"
    assert not (wiki / ".search_index").exists()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_result_says_what_the_page_is(wiki: Path, backend: str) -> None:
    (result, *_) = WikiSearchIndex.create(backend, wiki).search("bvalid", category="bugs")
    assert result.frontmatter["failure_subtype"] == "timeout"
    assert result.score > 0
    assert len(result.excerpt) <= 200
    assert "\n" not in result.excerpt


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_category_and_a_limit_hold(wiki: Path, backend: str) -> None:
    index = WikiSearchIndex.create(backend, wiki)
    assert [result.page_path for result in index.search("timeout", 1, category="patterns")] == ["patterns/timeout.md"]
    assert len(index.search("uvm_error", 3)) == 3
    assert index.search("timeout", category="specs") == []


def test_only_pages_are_indexed(wiki: Path) -> None:
    assert found(wiki, "protocol agents classify") == found(wiki, "protocol agents classify", "keyword")
    stored = json.loads((wiki / ".search_index" / "pages.json").read_bytes())
    names = {page[0] for page in stored["pages"]}
    assert len(names) == 9
    assert not {name for name in names if name.rsplit("/", 1)[-1] in {"WIKI.md", "log.md", "index.md", "_index.md"}}


def test_an_index_on_disk_is_used(wiki: Path) -> None:
    found(wiki, "reset")
    before = {path: path.stat().st_mtime_ns for path in (wiki / ".search_index").rglob("*")}
    assert found(wiki, "reset")[0] == "specs/reset_clarification.md"
    assert {path: path.stat().st_mtime_ns for path in (wiki / ".search_index").rglob("*")} == before


def test_a_page_that_was_changed_added_or_removed_is_seen(wiki: Path) -> None:
    page = wiki / "specs" / "reset_clarification.md"
    index = WikiSearchIndex.create("bm25", wiki)
    assert index.search("zebra") == []
    page.write_text(page.read_text() + "A zebra.\n")
    assert [result.page_path for result in index.search("zebra")] == ["specs/reset_clarification.md"]
    (wiki / "specs" / "more.md").write_text("# More zebra\n")
    assert found(wiki, "zebra") == ["specs/more.md", "specs/reset_clarification.md"]
    page.unlink()
    assert found(wiki, "zebra") == ["specs/more.md"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_update_takes_in_what_the_caller_says_until_the_file_changes(wiki: Path, backend: str) -> None:
    index = WikiSearchIndex.create(backend, wiki)
    for text in ("# One zebra\n", "# One gnu\n"):
        index.update(wiki / "specs" / "animal.md", text)
        assert [result.page_path for result in index.search(text.split()[-1])] == ["specs/animal.md"]
    assert index.search("zebra") == []
    (wiki / "specs" / "animal.md").write_text("# One okapi\n")
    assert [result.page_path for result in index.search("okapi")] == ["specs/animal.md"]
    assert index.search("gnu") == []
    assert found(wiki, "gnu") == []


@pytest.mark.parametrize("damage", ["garbage", "version", "tokenizer", "words", "array", "gone", "place"])
def test_a_broken_index_is_made_again(wiki: Path, damage: str) -> None:
    expected = found(wiki, "timescale")
    listing = wiki / ".search_index" / "pages.json"
    stored = json.loads(listing.read_bytes())
    folder = wiki / ".search_index" / stored["folder"]
    match damage:
        case "garbage":
            listing.write_bytes(b"\xff{")
        case "version":
            listing.write_text(json.dumps(stored | {"engine": "bm25s 0.0.1"}))
        case "tokenizer":
            listing.write_text(json.dumps(stored | {"tokenizer": 0}))
        case "words":
            (folder / "words.json").write_text('["zebra"]')
        case "array":
            (folder / "data.csc.index.npy").write_bytes(b"\x93NUMPY")
        case "gone":
            (folder / "vocab.index.json").unlink()
        case _:
            listing.write_text(json.dumps(stored | {"folder": "../../../secrets"}))
    assert found(wiki, "timescale") == expected
    assert found(wiki, "zebra") == []
    assert json.loads(listing.read_bytes())["folder"] != stored["folder"]
    assert len(list((wiki / ".search_index").iterdir())) == 2


def test_build_makes_the_index_again(wiki: Path) -> None:
    index = WikiSearchIndex.create("bm25", wiki)
    index.build()
    first = (wiki / ".search_index" / "pages.json").read_bytes()
    index.build(wiki)
    assert (wiki / ".search_index" / "pages.json").read_bytes() != first
    assert index.search("timescale")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_page_that_cannot_be_read_is_passed_over(wiki: Path, backend: str) -> None:
    (wiki / "specs" / "broken.md").write_text("---\na: [\n---\nzebra\n")
    assert found(wiki, "zebra", backend) == []
    assert found(wiki, "timescale", backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_empty_or_missing_wiki_has_nothing_and_is_not_made(tmp_path: Path, backend: str) -> None:
    index = WikiSearchIndex.create(backend, tmp_path / "wiki")
    assert index.search("timescale") == []
    index.build()
    assert list(tmp_path.iterdir()) == []


def test_an_index_that_cannot_be_written_stays_in_memory(wiki: Path) -> None:
    (wiki / ".search_index").write_text("a file")
    assert found(wiki, "timescale")[0] == "patterns/missing_timescale.md"
