"""A snippet shows the matching part of a text, with the words marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_dvwiki.search.snippet import MARK, snippet
from pytest_dvwiki.search.tokenizer import tokens

FAR = "nothing " * 40


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("a fifo lost a word", "fifo", "a **fifo** lost a word"),
        ("the axi_burst was late", "burst", "the **axi_burst** was late"),
        ("Fifo and FIFO", "fifo", "**Fifo** and **FIFO**"),
        ("nothing of the kind", "fifo", "nothing of the kind"),
        ("", "fifo", ""),
    ],
)
def test_the_words_are_marked(text: str, query: str, shown: str) -> None:
    assert snippet(text, set(tokens(query)), 80) == shown


def test_it_is_cut_to_where_most_of_the_words_stand() -> None:
    text = f"one fifo {FAR}a fifo that lost a credit {FAR}"
    shown = snippet(text, {"fifo", "credit"}, 80)
    assert "a **fifo** that lost a **credit**" in shown
    assert shown.startswith("… nothing ")
    assert shown.endswith(" …")


def test_the_first_of_equal_places_is_shown() -> None:
    assert snippet(f"first fifo {FAR}second fifo", {"fifo"}, 80).startswith("first **fifo** nothing")


@given(
    st.lists(st.sampled_from(["fifo", "axi_burst", "x" * 30, "é中", "**", "`a|b`", "credit"]), max_size=60).map(
        " ".join
    ),
    st.sets(st.sampled_from(["fifo", "burst", "credit", "zebra"])),
    st.integers(60, 200),
)
def test_it_is_a_part_of_the_text_no_longer_than_asked_for(text: str, wanted: set[str], limit: int) -> None:
    shown = snippet(text, wanted, limit)
    plain = shown.removeprefix("… ").removesuffix(" …")
    words = [word for word in ("fifo", "axi_burst", "credit") if wanted & set(tokens(word))]
    for word in words:
        plain = plain.replace(f"{MARK}{word}{MARK}", word)
    assert plain in text
    assert len(plain) <= limit
    if any(word in text for word in words):
        assert any(f"{MARK}{word}{MARK}" in shown for word in words)
