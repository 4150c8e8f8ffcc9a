"""An expression split at its gaps finds the same as `re`, and reads a line once."""

from __future__ import annotations

import random
import re

import pytest

from pytest_dvwiki.patterns import expression
from pytest_dvwiki.patterns.registry import load_registry
from pytest_dvwiki.patterns.search import Search, compiled

from ..effort import seconds


@pytest.mark.parametrize(
    "source",
    [
        r"\bUVM_(?:ERROR|FATAL)\b.*(?:@|\[)",
        r"(?i)\berror\b.{0,40}\bport\b",
        r"abc.{3,20}def.*ghi",
        r"abc.+def",
        r"(?:abc|abcd).{0,16}(?P<name>\w+) end",
        r"a.*b|c.*d",
        r"abc.*",
        r"x\w+.*y",
        r"a[.*]b.*c\.*d",
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "UVM_ERROR UVM_FATAL at [7]",
        "no Error here: the PORT is far",
        "error " + "x" * 60 + " error port",
        "abcdef abc 12 def ghi",
        "abcdefdef",
        "abcd word end",
        "c d a b",
        "abc",
        "xyz y x1 y",
        "a*b..c...d",
        "",
    ],
)
def test_it_finds_what_re_finds(source: str, text: str) -> None:
    found = re.search(source, text, re.ASCII)

    ours = compiled(source).search(text)

    assert (ours and ours.start) == (found and found.start())


def test_a_later_head_counts_where_the_first_stands_too_far_away() -> None:
    found = compiled(r"head.{0,20}rest").search("head " + "x" * 30 + " head rest")

    assert found is not None
    assert found.start == 36


def test_the_groups_of_all_parts_come_together() -> None:
    found = compiled(r"exp (?P<expected>\d) .*act (?P<actual>\d)(?P<more>!)?").search("exp 1 xx act 2")

    assert found is not None
    assert found.groups == {"expected": "1", "actual": "2"}


@pytest.mark.parametrize("gap", [".*", ".*?", ".{0,40}", ".{0,40}?", ".+", ".+?"])
@pytest.mark.parametrize("rest", [r"id=(?P<id>\d)", r"(?P<at>\d+) .+ id=(?P<id>\d)", r"id=(?P<id>\d)|never"])
def test_a_gap_ends_at_the_first_place_where_the_rest_fits(gap: str, rest: str) -> None:
    found = compiled(f"got{gap}{rest}").search("got 7 at id=1 id=2 id=3")

    assert found is not None
    assert found.groups["id"] == "1"


def test_a_gap_written_short_or_long_changes_groups_alone() -> None:
    rng = random.Random(7)
    heads, words = ["ab", "a", "x:", r"\bab\b", "[ab]c"], ["a", "b", "c", " ", "ab", "got ", "1", "22", "x:", "x"]
    gaps = [".*", ".{0,20}", ".{2,40}", ".+"]
    rests = [r"(?P<g>\d+)", r"(?P<g>[ab]+)", r"c(?P<g>\w*)", r"got (?P<g>\S+)", r"(?P<g>a|ab)c", "b", r"(?P<g>c)?a"]
    for _ in range(3000):
        head, first, second = rng.choice(heads), rng.choice(gaps), rng.choice(gaps)
        rest, end = rng.choice(rests), rng.choice([r"(?P<k>\d)", r"(?P<k>[bc]+)x?", "a"])
        text = "".join(rng.choice(words) for _ in range(rng.randint(0, 40)))
        long = re.search(f"{head}{first}{rest}{second}{end}", text, re.ASCII)
        short = re.search(f"{head}{first}?{rest}{second}?{end}", text, re.ASCII)

        ours = compiled(f"{head}{first}{rest}{second}{end}").search(text)

        assert (ours and ours.start) == (long and long.start())
        assert (ours and ours.groups) == (short and {k: v for k, v in short.groupdict().items() if v is not None})


SHORT = 1024
"""Number of characters, more than the widest gaps of an expression."""
LONG = 4096
"""Number of characters of a line that are read."""
STEEPEST = 9
"""Allowed growth from the short line to the long one: 4 is linear, 16 quadratic."""
NOISE = 0.0004
"""Times below this number of seconds are too short to compare."""


def _hostile(source: str, length: int) -> list[str]:
    """Return lines of a length that are slow for an expression: repeated text, for example of its literals."""
    own = [literals[0] for literals in expression.check(source, needs_literal=False)]
    fills = ["a", "a.", "/", "1", ": ", "_", "'", "x ", *own, " ".join((*own, "")), " ".join((*own[::-1], ""))]
    runs = [fill * (length // len(fill)) for fill in fills if fill]
    ends = " ".join(own)
    return [text for run in runs for text in (run, run.upper(), f"{run} {ends}", f"{ends} {run}")]


def _seconds(search: Search, line: str) -> float:
    return seconds(lambda: search.search(line))


def _growth(source: str) -> float:
    """Return the greatest ratio of search times on a long and a short line."""
    search = compiled(source)
    steepest = 0.0
    for short, long in zip(_hostile(source, SHORT), _hostile(source, LONG), strict=True):
        # A successful search ends early, however long the line is.
        if _seconds(search, long) < NOISE or search.search(short) is not None or search.search(long) is not None:
            continue
        growth = _seconds(search, long) / _seconds(search, short)
        if growth > STEEPEST:
            # A busy machine may slow one measurement, not all.
            growth = min(_seconds(search, long) / _seconds(search, short) for _ in range(5))
        steepest = max(steepest, growth)
    return steepest


def test_no_expression_of_the_built_in_patterns_takes_more_than_linear_time() -> None:
    steep = {
        f"{entry.pattern.id}: {source}": round(growth, 1)
        for entry in load_registry().entries
        for source in (*entry.pattern.match, *entry.pattern.unless, *entry.pattern.together_with)
        if (growth := _growth(source)) > STEEPEST
    }

    assert steep == {}
