"""Pages are found by terms of hardware engineers, with bm25s and without; the index is never trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.model import Origin
from pytest_dvwiki.search import bm25
from pytest_dvwiki.wiki.finding.search import Filters, WikiSearchIndex
from pytest_dvwiki.wiki.text import pages
from pytest_dvwiki.wiki.writing.build import archive

from ...samples import layout, occurrence, record

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
    with_library, without = (found(wiki, query, backend) for backend in ("bm25", "keyword"))
    assert with_library == without
    assert with_library[0].startswith(PROBES[query])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("query", ["licence", "", "the of", "!!!", "dvwiki begin"])
def test_no_match_is_no_hit(wiki: Path, backend: str, query: str) -> None:
    assert found(wiki, query, backend) == []


def test_search_that_is_off_finds_nothing(wiki: Path) -> None:
    assert found(wiki, "timescale", "none") == []


def test_an_unknown_search_is_a_mistake(wiki: Path) -> None:
    with pytest.raises(ValueError, match="search_backend: expected one of bm25, keyword, none, got 'qmd'"):
        WikiSearchIndex.create("qmd", wiki)


def test_without_the_library_words_are_searched(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "is_installed", lambda: False)
    assert found(wiki, "missing_timescale")[0] == "patterns/missing_timescale.md"
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


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_page_that_was_changed_added_or_removed_is_seen(wiki: Path, backend: str) -> None:
    page = wiki / "specs" / "reset_clarification.md"
    index = WikiSearchIndex.create(backend, wiki)
    assert index.search("zebra") == []
    page.write_text(page.read_text() + "A zebra.\n")
    assert [result.page_path for result in index.search("zebra")] == ["specs/reset_clarification.md"]
    (wiki / "specs" / "more.md").write_text("# More zebra\n")
    assert found(wiki, "zebra", backend) == ["specs/more.md", "specs/reset_clarification.md"]
    page.unlink()
    assert found(wiki, "zebra", backend) == ["specs/more.md"]


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
    assert found(wiki, "gnu", backend) == []


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


FILTERS: dict[str, tuple[Filters, set[str]]] = {
    "category": (Filters(category="patterns"), {"patterns/timeout.md"}),
    "status": (Filters(status="closed"), {"bugs/TB"}),
    "class": (Filters(label="sim_error"), {"bugs/TB", "patterns/timeout.md"}),
    "subtype": (Filters(label="timeout"), {"bugs/RTL", "bugs/TB", "patterns/timeout.md"}),
    "label": (Filters(label="sim_error / timeout"), {"bugs/TB", "patterns/timeout.md"}),
    "another label": (Filters(label="sim_error / scoreboard_fail"), set()),
    "ip_type": (Filters(ip_type="axi"), {"bugs/RTL"}),
    "since": (Filters(since="2026-11-22"), {"bugs/TB", "patterns/timeout.md"}),
    "until": (Filters(until="2026-11-21"), {"bugs/RTL", "patterns/timeout.md"}),
    "a day of neither": (Filters(since="2026-11-23"), set()),
    "two": (Filters(category="bugs", until="2026-11-21"), {"bugs/RTL"}),
    "none": (Filters(), {"bugs/RTL", "bugs/TB", "patterns/timeout.md", "specs/timeout_clarification.md"}),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FILTERS)
def test_filters_take_the_pages_that_have_what_they_ask_for(tmp_path: Path, backend: str, name: str) -> None:
    place = layout(tmp_path)
    late = Origin(type="TB_BUG", confidence=0.7)
    archive(place, record(1, occurrence("a" * 12, failure_subtype="timeout", ip_type="axi")))
    archive(place, record(30, occurrence("b" * 12, failure_subtype="timeout", error_class="sim_error", origin=late)))
    archive(place, record(31, occurrence("b" * 12, failure_subtype="timeout", error_class="sim_error", origin=late)))
    (place.wiki / "specs" / "timeout_clarification.md").write_text("---\ntype: spec\n---\n# Timeout\n")
    (page,) = (place.wiki / "bugs").glob("TB*")
    page.write_text(page.read_text().replace("status: open", "status: closed"))
    filters, expected = FILTERS[name]
    results = WikiSearchIndex.create(backend, place.wiki).search("timeout", filters=filters)
    assert {result.page_path.partition("_2")[0] for result in results} == expected


@pytest.mark.parametrize("day", ["soon", "2026-13-01", "20261121", "2026-11-21T10:00:00"])
def test_a_day_that_is_none_is_a_mistake(day: str) -> None:
    with pytest.raises(ValueError, match=f"since '{day}': expected a day, YYYY-MM-DD"):
        Filters(since=day)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_result_shows_where_the_page_answers(wiki: Path, backend: str) -> None:
    (result, *_) = WikiSearchIndex.create(backend, wiki).search("waiting bvalid", category="bugs")
    assert "**waiting** for RisingEdge(**bvalid**)" in result.snippet
    assert "\n" not in result.snippet


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_page_is_read_beyond_those_that_are_asked_for(
    wiki: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = WikiSearchIndex.create(backend, wiki)
    read: list[str] = []
    index.search("uvm_error")

    def page(path: str) -> pages.Page:
        read.append(path)
        return pages.Page({}, "")

    monkeypatch.setattr(index, "page", page)
    assert len(index.search("uvm_error", 2)) == len(read) == 2
