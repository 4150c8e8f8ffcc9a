"""Patterns match a part of a text, or as glob or expression; waivers match a whole text."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_dvwiki.checks.matching import LineWaiver, ValuePattern, search_for


@pytest.mark.parametrize(
    ("pattern", "value", "matches"),
    [
        ("2025", "built 2025-01-15", True),
        ("2024", "built 2025-01-15", False),
        ("*Genus*", "Cadence Genus 21", True),
        ("Genus*", "Cadence Genus 21", False),
        ("2?.1", "21.1", True),
        ("v[12]", "v[12]", True),
        ("v[12]", "v1", False),
        (r"regex:\d{4}", "in 2025", True),
        (r"regex:^\d{4}", "in 2025", False),
        ("2024|Genus", "Genus 21", True),
        ("2024 | Genus", "Genus 21", True),
        ("2024|*.1", "21.1", True),
        ("2024|Innovus", "Genus 21", False),
        ("regex:a|b", "b", True),
        ("regex:(a|b)c", "bc", True),
        ("x|regex:a|b$", "b", True),
        ("x|regex:a|b$", "b|", False),
        ("genus", "Genus", False),
    ],
)
def test_a_pattern_matches_a_value(pattern: str, value: str, *, matches: bool) -> None:
    assert ValuePattern(pattern).matches(value) is matches


@pytest.mark.parametrize(
    ("waiver", "text", "accepted"),
    [
        ("SPEF", "SPEF", True),
        ("SPEF", "SPEF version", False),
        ("*SPEF*", "the SPEF version", True),
        ("regex:SPEF", "SPEF version", True),
        ("regex:version", "SPEF version", False),
        ("regex:a|version", "SPEF version", False),
        ("regex:(?i)spef", "SPEF version", True),
        ("regex:.*version", "SPEF version", True),
    ],
)
def test_a_waiver_accepts_a_text(waiver: str, text: str, *, accepted: bool) -> None:
    assert LineWaiver(waiver, 1, search_for(waiver)).accepts([text]) is accepted


TEXTS = st.text("ab*?.[|", max_size=8)


@given(TEXTS.filter(lambda text: text and "[" not in text and "|" not in text), st.text("ab.", max_size=8))
def test_without_classes_and_alternatives_a_pattern_is_contained_or_matches_as_fnmatch_does(
    text: str, value: str
) -> None:
    is_glob = "*" in text or "?" in text
    assert ValuePattern(text).matches(value) == (fnmatch.fnmatchcase(value, text) if is_glob else text in value)


@given(st.lists(st.text("ab*?.[", min_size=1, max_size=4), min_size=1, max_size=4), st.text("ab.[", max_size=8))
def test_alternatives_match_as_one_of_them_does(parts: list[str], value: str) -> None:
    assert ValuePattern("|".join(parts)).matches(value) == any(ValuePattern(part).matches(value) for part in parts)
