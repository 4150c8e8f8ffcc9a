"""Names from outside become one safe file name each."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_dvwiki.wiki.text.names import bug_date, bug_name, bug_origin, file_name, is_file_name


@pytest.mark.parametrize("name", ["missing_timescale", "axi-burst.len", "A1"])
def test_a_safe_name_stays(name: str) -> None:
    assert file_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc", "..", "", "a\x00b", "con", "NUL.md", "bin[0:3]", "x" * 300, "_index", ".lock", "ä"],
)
def test_any_other_gets_a_hash_and_stays_inside(name: str) -> None:
    safe = file_name(name)
    assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*_[0-9a-f]{8}", safe)
    assert len(safe) <= 110


@given(st.text(), st.text())
def test_different_names_give_different_files(one: str, other: str) -> None:
    assert (file_name(one) == file_name(other)) == (one == other)


@given(st.text())
def test_a_name_that_was_given_is_known_as_one(name: str) -> None:
    assert is_file_name(file_name(name))
    assert is_file_name(file_name(name * 101))


@pytest.mark.parametrize("name", ["", "..", "a/b", "con", "x" * 101, f"{'x' * 100}_0123456g", f"{'x' * 99}_{'0' * 9}"])
def test_no_other_is(name: str) -> None:
    assert not is_file_name(name)


def test_a_bug_has_the_same_name_wherever_it_is_made() -> None:
    name = bug_name("RTL_BUG", "2026-11-21T20:27:30Z", "9b1f03c2a7d4", lambda _: False)
    assert re.fullmatch(r"RTL_20261121_\d{6}", name)
    assert name == bug_name("RTL_BUG", "2026-11-21", "9b1f03c2a7d4", lambda _: False)
    assert bug_name("TB_BUG", "2026-11-21", "x", lambda _: False).startswith("TB_20261121_")
    assert bug_name("UNKNOWN", "2026-11-21", "x", lambda _: False).startswith("UNK_20261121_")


def test_a_taken_name_gives_the_next_free_one() -> None:
    first = bug_name("RTL_BUG", "2026-11-21", "x", lambda _: False)
    second = bug_name("RTL_BUG", "2026-11-21", "x", lambda name: name == first)
    assert int(second[-6:]) == (int(first[-6:]) + 1) % 1_000_000


def test_the_date_of_a_name() -> None:
    assert bug_date("RTL_20261121_480127") == "20261121"
    assert bug_date("our own name") is None


@pytest.mark.parametrize(
    ("stem", "origin"),
    [
        ("RTL_20261121_480127", "RTL_BUG"),
        ("TB_20261121_480127", "TB_BUG"),
        ("UNK_20261121_480127", "UNKNOWN"),
        ("TB_notes", None),
        ("our_own", None),
    ],
)
def test_a_name_tells_the_origin_that_its_page_was_made_with(stem: str, origin: str | None) -> None:
    assert bug_origin(stem) == origin
