"""A page is found by the words of hardware people, and by none that it does not have."""

from __future__ import annotations

import pytest

from pytest_dvwiki.search.keyword import rank
from pytest_dvwiki.search.tokenizer import tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("missing_timescale", {"missing_timescale", "missing", "timescale"}),
        ("axiBurstLen", {"axiburstlen", "axi", "burst", "len"}),
        ("AXISlave", {"axislave", "axi", "slave"}),
        ("fifo_32x8", {"fifo_32x8", "fifo", "32x8", "32", "x", "8"}),
        ("0x1F00", {"0x1f00"}),
        ("9b1f03c2a7d4", {"9b1f03c2a7d4"}),
        ("sb.sv(210)", {"sb.sv", "sb", "sv", "210"}),
        ("the FIFO is full", {"fifo", "full"}),
        ("Prüfung", {"prüfung", "pr", "ü", "fung"}),
        ("x" * 100, set()),
    ],
)
def test_an_identifier_gives_itself_and_its_parts(text: str, words: set[str]) -> None:
    assert set(tokens(text)) == words


PAGES = {
    "missing_timescale": [("missing_timescale", 3.0), ("`timescale is missing in a file", 1.0)],
    "fifo": [("back_pressure on the FIFO", 3.0), ("expected 0x12 got 0x13 in axi_fifo", 1.0)],
    "timeout": [("SimTimeoutError", 3.0), ("waiting for the FIFO", 1.0)],
}


@pytest.mark.parametrize(
    ("query", "best"),
    [("timescale", "missing_timescale"), ("back pressure", "fifo"), ("sim timeout", "timeout"), ("0x13", "fifo")],
)
def test_the_best_page_comes_first(query: str, best: str) -> None:
    assert rank(query, PAGES)[0][0] == best


def test_a_rare_word_and_a_title_count_more() -> None:
    found = rank("fifo SimTimeoutError", PAGES)
    assert [name for name, _ in found] == ["timeout", "fifo"]


@pytest.mark.parametrize("query", ["licence", "", "the of", "!!!"])
def test_no_match_is_no_hit(query: str) -> None:
    assert rank(query, PAGES) == []


def test_equals_come_by_name() -> None:
    assert [name for name, _ in rank("word", {"b": [("word", 1.0)], "a": [("word", 1.0)]})] == ["a", "b"]
