"""A transcript is read as text; one that is too long is cut before a message, not inside one."""

from __future__ import annotations

import json

import pytest

from pytest_dvwiki.librarian.transcript import tail, text_of


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "user", "content": "fix it"}, "user: fix it"),
        ({"type": "assistant", "message": {"role": "assistant", "content": "ok"}}, "assistant: ok"),
        ({"role": "tool", "content": [{"type": "text", "text": "a"}, {"type": "x", "content": "b"}]}, "tool: a\nb"),
        ({"type": "meta", "id": 3}, ""),
    ],
)
def test_who_says_what_is_read_from_json_lines(message: object, text: str) -> None:
    assert text_of(json.dumps(message) + "\n\n") == text


@pytest.mark.parametrize("text", ["plain\n{}", "{broken\n", '{"a": 1}\nnot json', "[1]\n", ""])
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert text_of(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("User: one\nAssistant: two\nUser: three", "User: three"),
        ("## one\n\nlong text here\n## two\nend", "## two\nend"),
        ("one one one\n\ntwo two two two\n\nthree", "three"),
        ("a line that is long\nand the last", "and the last"),
        ("x" * 40, "x" * 20),
    ],
)
def test_a_long_one_begins_at_a_message(text: str, kept: str) -> None:
    assert tail(text, 20) == kept


def test_a_short_one_is_whole() -> None:
    assert tail("User: one\nUser: two", 1000) == "User: one\nUser: two"
