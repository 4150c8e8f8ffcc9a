"""Kinds of lines: which lines repeat one another."""

from __future__ import annotations

import pytest

from pytest_dvwiki.patterns.kinds import ENOUGH, MOST, KindCounts, kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("beat 1: data=0x1f", "beat 77: data=0xfa"),
        ("exp=5 act=5", "exp=17 act=17"),
        ("exp=5 act=6", "exp=17 act=3"),
        ("errors: 3", "errors: 12"),
    ],
)
def test_lines_that_differ_in_numbers_only_are_of_one_kind(one: str, other: str) -> None:
    assert kind(one) == kind(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("exp=5 act=5", "exp=5 act=6"),
        ("exp=0x1f act=0x1f", "exp=0x1f act=0xfa"),
        ("exp=0x05 act=5", "exp=0x06 act=5"),
        ("exp=32'h5 act=00000005", "exp=32'h5 act=00000006"),
        ("errors: 0", "errors: 3"),
        ("read 5 words", "read 5 bytes"),
        ("got xx", "got 12"),
    ],
)
def test_zero_and_equal_numbers_make_another_kind(one: str, other: str) -> None:
    assert kind(one) != kind(other)


def test_a_search_gives_enough_lines_of_a_kind() -> None:
    found, every = KindCounts(ENOUGH), KindCounts(None)
    for _ in range(ENOUGH):
        assert not found.enough("k")
        found.note("k")
        every.note("k")
    assert found.enough("k")
    assert not every.enough("k")
    found.forget()
    assert not found.enough("k")


def test_the_memory_of_kinds_is_bounded() -> None:
    found = KindCounts(1)
    for name in ("k", *map(str, range(MOST))):
        found.note(name)
    assert not found.enough("k")
