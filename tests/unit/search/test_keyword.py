"""A page is found by terms of hardware engineers, and only by words that it has."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_dvwiki.search.relevance import rank
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
    "missing_timescale": Counter(tokens("`timescale missing_timescale is missing in a file")),
    "fifo": Counter(tokens("back_pressure on the FIFO: expected 0x12 got 0x13 in axi_fifo")),
    "timeout": Counter(tokens("SimTimeoutError waiting for the FIFO")),
}


def names(query: str) -> list[str]:
    return [name for name, _ in rank(query, PAGES.items())]


@pytest.mark.parametrize(
    ("query", "best"),
    [("timescale", "missing_timescale"), ("back pressure", "fifo"), ("sim timeout", "timeout"), ("0x13", "fifo")],
)
def test_the_best_page_comes_first(query: str, best: str) -> None:
    assert names(query)[0] == best


def test_a_rare_word_counts_more() -> None:
    assert names("fifo SimTimeoutError") == ["timeout", "fifo"]


def test_a_word_of_weight_counts_more() -> None:
    assert [name for name, _ in rank("word", [("a", {"word": 1, "x": 2}), ("b", {"word": 3})])] == ["b", "a"]


@pytest.mark.parametrize("query", ["licence", "", "the of", "!!!"])
def test_no_match_is_no_hit(query: str) -> None:
    assert names(query) == []


def test_equals_come_by_name() -> None:
    assert [name for name, _ in rank("word", [("b", {"word": 1}), ("a", {"word": 1})])] == ["a", "b"]
